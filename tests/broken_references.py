"""Harnesses that are broken in one way each: the reference behind an adapter that lies, forgets, dies or hangs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import cast

from forkproof.adapters.choice import Choice
from forkproof.adapters.errors import Garbage, HarnessDied, StartFailed
from forkproof.adapters.inprocess import MemoryWorld, ReferenceAdapter
from forkproof.adapters.prompt import Message, Prompt, Text
from forkproof.adapters.protocol import (
    Acknowledged,
    Adapter,
    Answer,
    Compact,
    Cut,
    Deadlines,
    Description,
    Field,
    Fork,
    Forked,
    ModelRequest,
    OpenSession,
    Operation,
    Refused,
    SendPrompt,
    Trial,
    Unknown,
    Unsupported,
)
from forkproof.adapters.registry import Entry as Known
from forkproof.conformance.contract import load_contract
from forkproof.conformance.engine import Engine, Played
from forkproof.conformance.trace.load import load_bytes
from forkproof.reference.entries import Entry
from forkproof.reference.repair import pair
from forkproof.reference.rules import RULES

SEED = 7


class Broken(ReferenceAdapter):
    """Keeps the trial's model, so that a fault can send requests of its own."""

    trial: Trial

    async def start(self, trial: Trial) -> MemoryWorld:
        self.trial = trial
        self.world = await super().start(trial)
        return self.world


class ForksTheHead(Broken):
    """Ignores the cut: every fork holds everything."""

    async def perform(self, operation: Operation) -> Answer:
        if isinstance(operation, Fork) and operation.cut.turn is not None and operation.cut.turn.exists:
            operation = replace(operation, cut=Cut("head"))
        return await super().perform(operation)


class CutsOneTooEarly(Broken):
    """Leaves out the whole prefix."""

    async def perform(self, operation: Operation) -> Answer:
        if isinstance(operation, Fork) and operation.cut.kind == "before":
            answer = await super().perform(OpenSession(operation.directory))
            session = getattr(answer, "session")  # noqa: B009  # whatever the reference calls it
            made = await super().perform(operation)
            assert isinstance(made, Forked)
            return Forked(replace(made.record, session=Field(session, "reported")))
        return await super().perform(operation)


class RollsBackFiles(Broken):
    """Takes a fork for a rollback of the world: the workspace loses what the source wrote."""

    async def perform(self, operation: Operation) -> Answer:
        answer = await super().perform(operation)
        if isinstance(operation, Fork):
            machine = self.world._machine
            for path in list(self.world.read(operation.directory)):
                machine.workspace(operation.directory).remove(path)
        return answer


class RunsAtTheFork(Broken):
    """Submits a prompt of its own when a fork is made."""

    async def perform(self, operation: Operation) -> Answer:
        answer = await super().perform(operation)
        if isinstance(operation, Fork):
            await self.trial.model.respond(ModelRequest(Prompt((Message("user", (Text("Name this chat."),)),))))
        return answer

    def classify(self, prompt: Prompt) -> None:
        return None


class AsksTwice(Broken):
    """Repeats a finished turn's request after the turn has ended."""

    async def perform(self, operation: Operation) -> Answer:
        answer = await super().perform(operation)
        if isinstance(operation, SendPrompt):
            self.text = operation.text
        if isinstance(operation, Fork):
            await self.trial.model.respond(ModelRequest(Prompt((Message("user", (Text(self.text),)),))))
        return answer


class DerivesItsRecord(Broken):
    """Reports nothing itself: its adapter works the record out."""

    async def perform(self, operation: Operation) -> Answer:
        answer = await super().perform(operation)
        if not isinstance(answer, Forked):
            return answer
        return Forked(replace(answer.record, cut=replace(answer.record.cut, origin="derived"), source=Field()))


class ShowsNoRecord(DerivesItsRecord):
    """As before, but its route has no channel for it, and says so."""

    def describe(self) -> Description:
        return replace(super().describe(), unobservable=frozenset({"record.cut", "record.source"}))


class Answers(Broken):
    """Gives one answer to every fork."""

    answer: Answer

    async def perform(self, operation: Operation) -> Answer:
        return self.answer if isinstance(operation, Fork) else await super().perform(operation)


class RefusesForks(Answers):
    """Refuses what it declares."""

    answer = Refused("other", "not today")


class CannotFork(Answers):
    """Declares forks and has none."""

    answer = Unsupported("forks")


class LosesTheAnswer(Answers):
    """Nobody knows whether the fork was made."""

    answer = Unknown("the pipe broke")


class AcceptsUnknownCuts(Broken):
    """Takes an unknown cut for the head."""

    async def perform(self, operation: Operation) -> Answer:
        if isinstance(operation, Fork):
            operation = replace(operation, cut=Cut("head"))
        return await super().perform(operation)


class DiesAtStart(Broken):
    """Its program does not come up."""

    async def start(self, trial: Trial) -> MemoryWorld:
        raise StartFailed("exit code 127", "reinstall it")


class DeclaresNothing(DiesAtStart):
    """Can do nothing, and says so; a process would not come up."""

    def describe(self) -> Description:
        return replace(super().describe(), capabilities=frozenset())


class DiesAtTheFork(Broken):
    """Ends in the middle of the trace."""

    async def perform(self, operation: Operation) -> Answer:
        if isinstance(operation, Fork):
            raise HarnessDied("killed by SIGSEGV")
        return await super().perform(operation)


class TalksGarbage(Broken):
    """Writes what no protocol allows."""

    async def perform(self, operation: Operation) -> Answer:
        if isinstance(operation, Fork):
            raise Garbage("not JSON: 'Segmentation fault'")
        return await super().perform(operation)


class HangsAtTheFork(Broken):
    """Never answers."""

    async def perform(self, operation: Operation) -> Answer:
        if isinstance(operation, Fork):
            await asyncio.Event().wait()
        return await super().perform(operation)


class CompactsWithoutAsking(Broken):
    """Says that it compacted, and asked nobody for a summary."""

    async def perform(self, operation: Operation) -> Answer:
        if isinstance(operation, Compact):
            return Acknowledged()
        return await super().perform(operation)


def without_results(entries: Iterable[Entry]) -> list[Message]:
    """The pairing rule of a harness that forgets what came of its calls, once the turn is over."""
    messages = pair(entries)
    last = max((i for i, m in enumerate(messages) if m.role == "user"), default=0)
    return [m for i, m in enumerate(messages) if m.role != "tool" or i > last]


class DropsResults(Broken):
    """Sends the calls of past turns without their results."""

    def __init__(self) -> None:
        super().__init__(rules=replace(RULES, pair=without_results))


class BreaksOurCode(Broken):
    """Raises what no adapter may raise: a fault of the suite."""

    async def perform(self, operation: Operation) -> Answer:
        if isinstance(operation, Fork):
            raise KeyError("oops")
        return await super().perform(operation)


@dataclass(frozen=True, slots=True)
class Made(Known):
    """A registry entry whose adapter is made by a callable."""

    factory: Callable[[], Adapter] | None = None

    def create(self) -> Adapter:
        assert self.factory is not None
        return self.factory()


def made(factory: Callable[[], Adapter]) -> Known:
    return cast("Known", Made("", "", Choice("broken"), factory=factory))


def play(factory: Callable[[], Adapter], trace: str, *, slug: str = "area/story", deadline: float = 30.0) -> Played:
    """Play a trace, given as YAML, on a fresh harness of this kind."""
    with Engine(made(factory), load_contract(), SEED, Deadlines(operation=deadline)) as engine:
        return engine.play(load_bytes(trace.encode(), slug=slug))
