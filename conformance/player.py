"""Plays one part of a trace (the trace itself, or a control run) on a started adapter, and writes down what it saw.

The player knows what a trace does, never what it expects. It waits for events; each operation has a deadline, so that a
harness that hangs ends as TIMEOUT and not as a hanging suite.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from forkproof.adapters.errors import HarnessHung, StartFailed
from forkproof.adapters.model.script import ScriptedModel
from forkproof.adapters.protocol import (
    Acknowledged,
    Adapter,
    Answer,
    Cancel,
    Compact,
    Deadlines,
    Description,
    Fork,
    Forked,
    Import,
    ImportedTurn,
    ModelReply,
    OpenSession,
    Operation,
    Refused,
    Say,
    SendPrompt,
    SessionOpened,
    TurnEnded,
    Unknown,
    Unsupported,
    World,
)
from forkproof.conformance.observation import PartSeen, StepSeen, TurnSeen
from forkproof.conformance.part import BlockedError, Part
from forkproof.conformance.stage import PROBE, name_of, own_counters, replies, session_of, unless
from forkproof.conformance.trace.model import (
    AwaitStep,
    CancelStep,
    CheckStep,
    CompactStep,
    ForkStep,
    ReleaseStep,
    SayStep,
    Trace,
    TurnStep,
)

__all__ = ["PartPlayer", "Stage"]

T = TypeVar("T")

# How long a fork of a busy source may take before it counts as waiting, where the harness declares that it waits.
PENDING_AFTER = 2.0


@dataclass(frozen=True, slots=True)
class Stage:
    """What a part is played on."""

    adapter: Adapter
    world: World
    description: Description
    deadlines: Deadlines


class PartPlayer:
    """Plays one part once. `seen()` may be asked at any time, also after an error: it holds all that was seen."""

    def __init__(self, stage: Stage, trace: Trace, script: ScriptedModel, kept: tuple[bool, ...], name: str) -> None:
        self._stage = stage
        self._trace = trace
        self._script = script
        self._kept = kept
        self._part = Part(name, script)
        self._running: dict[str, asyncio.Task[Answer]] = {}
        self._waiting_forks: dict[str, asyncio.Task[Answer]] = {}

    def seen(self) -> PartSeen:
        """Everything seen so far."""
        return self._part.seen()

    async def play(self, probed: tuple[str, ...]) -> None:
        """Play every kept step, then ask each probed session for its next prompt. Raises an `AdapterError`."""
        try:
            await self._open_main()
            for index, step in enumerate(self._trace.steps):
                self._script.step = index
                await self._step(index, step)
            self._script.step = len(self._trace.steps)
            await self._settle()
            for session in probed:
                await self._probe(session)
        finally:
            await self._drop_tasks()

    # --- opening and closing ---------------------------------------------------------------------------------------

    async def _open_main(self) -> None:
        part, imported = self._part, self._trace.import_
        directory = self._stage.world.create(f"{part.name}-main", self._trace.files)
        part.directories["main"], part.paths["main"] = directory, []
        importing = bool(imported) and "import" in self._stage.description.capabilities
        operation: Operation = OpenSession(directory)
        if importing:
            operation = Import(directory, tuple(self._imported(turn) for turn in imported))
        answer = await self._ask(operation)
        if not isinstance(answer, SessionOpened):
            raise StartFailed(f"no session could be opened: {answer}", "the harness's own messages are in run.jsonl")
        part.sessions["main"] = answer.session
        for index, turn in enumerate(imported):
            if importing:
                native = answer.turns[index] if index < len(answer.turns) else None
                part.turns[turn.turn] = TurnSeen("main", native, stop="end_turn")
                part.paths["main"].append(turn.turn)
                self._script.produced.update({f"{turn.turn}.user", f"{turn.turn}.say"})
            else:
                self._script.step = -1
                await self._turn_to_end(turn.turn, "main", turn.user, turn.say)

    def _imported(self, turn: Any) -> ImportedTurn:
        mark = self._script.markers.mark
        return ImportedTurn(turn.at, mark(turn.user, f"{turn.turn}.user"), mark(turn.say, f"{turn.turn}.say"))

    async def _settle(self) -> None:
        """End what still runs, as a person who closes the session would, so that probes meet idle sessions."""
        for label, task in list(self._running.items()):
            if not task.done():
                await self._ask(Cancel(self._part.session(label)))
            await self._end_turn(label)

    async def _drop_tasks(self) -> None:
        tasks = [*self._running.values(), *self._waiting_forks.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # --- steps -----------------------------------------------------------------------------------------------------

    async def _step(self, index: int, step: Any) -> None:
        key, name = name_of(step)
        label = session_of(step, self._trace)
        seen = StepSeen(index, key, name, label, "done")
        policy = unless(step, self._stage.description.policies)
        if not self._kept[index] or policy:
            self._part.steps.append(replace(seen, outcome="skipped", reason=policy or "control run"))
            return
        try:
            seen = await self._perform(step, seen)
        except BlockedError as blocked:
            seen = replace(seen, outcome="blocked", reason=str(blocked))
        source = getattr(step, "in_", None)
        directory = self._part.directory_of(label, source if isinstance(source, str) else "main")
        files = self._stage.world.read(directory) if directory else None
        self._part.steps.append(
            replace(seen, files=files, runs=own_counters(self._stage.world.runs(), self._script.markers))
        )

    async def _perform(self, step: Any, seen: StepSeen) -> StepSeen:
        match step:
            case TurnStep():
                return await self._turn(step, seen)
            case AwaitStep():
                if seen.session not in self._running:
                    raise BlockedError(f"turn {step.await_} is not running")
                return _ended(await self._end_turn(seen.session), seen)
            case ForkStep():
                return await self._fork(step, seen)
            case CancelStep():
                return await self._cancel(step, seen)
            case CompactStep():
                return await self._compact(step, seen)
            case ReleaseStep():
                self._stage.world.release(self._script.markers.call_id(step.release))
                return seen
            case CheckStep():
                await self._session(step.check)
                return seen
            case _:
                raise TypeError(step)

    async def _turn(self, step: TurnStep, seen: StepSeen) -> StepSeen:
        await self._session(step.in_)
        if step.in_ in self._running:
            raise BlockedError(f"a turn still runs in {step.in_}")
        self._begin_turn(step.turn, step.in_, step.user, replies(step.turn, step.model, self._script.markers))
        if step.until is None:
            return _ended(await self._end_turn(step.in_), seen)
        call = step.until.removesuffix(".started")
        if await self._started(call, self._running[step.in_]):
            return seen
        ended = _ended(await self._end_turn(step.in_), seen)
        return replace(ended, outcome="blocked", reason=f"the turn ended before call {call} had started")

    async def _started(self, call: str, turn: asyncio.Task[Answer]) -> bool:
        """Wait for the start of a call's command; False if the turn ended first."""
        started = asyncio.ensure_future(self._stage.world.started(self._script.markers.call_id(call)))
        try:
            first = asyncio.wait({started, turn}, return_when=asyncio.FIRST_COMPLETED)
            await self._within(first, f"the start of the command of call {call}")
            return started.done()
        finally:
            started.cancel()
            await asyncio.gather(started, return_exceptions=True)

    async def _fork(self, step: ForkStep, seen: StepSeen) -> StepSeen:
        known = isinstance(step.in_, str)
        source = await self._session(step.in_) if isinstance(step.in_, str) else step.in_.unknown
        label = step.in_ if isinstance(step.in_, str) else "main"
        directory = self._part.directories[label]
        if step.workspace == "isolated":
            directory = self._stage.world.reserve(f"{self._part.name}-{step.fork}")
        operation = Fork(source, self._part.cut(step, label), step.workspace, directory, exists=known)
        task = asyncio.ensure_future(self._ask(operation))
        if self._stage.description.policies.get("busy_source") == "wait" and label in self._running:
            done, _ = await asyncio.wait({task}, timeout=PENDING_AFTER)
            if not done:
                self._waiting_forks[step.fork] = task
                self._part.prepare_child(step, label, directory)
                return replace(seen, outcome="pending", reason="the source is busy")
        answer = await task
        if isinstance(answer, Forked):
            self._part.prepare_child(step, label, directory)
            self._part.adopt(step.fork, answer)
            return seen
        return _not_done(answer, seen)

    async def _cancel(self, step: CancelStep, seen: StepSeen) -> StepSeen:
        session = await self._session(step.cancel)
        if step.cancel not in self._running:
            raise BlockedError(f"no turn runs in {step.cancel}")
        answer = await self._ask(Cancel(session))
        if isinstance(answer, Refused | Unsupported | Unknown):
            return _not_done(answer, seen)
        return _ended(await self._end_turn(step.cancel), seen)

    async def _compact(self, step: CompactStep, seen: StepSeen) -> StepSeen:
        session, name = await self._session(step.in_), step.compact
        summary = self._script.markers.mark(step.model[0].say, f"{name}.summary")
        self._script.begin_summary(name, ModelReply((Say(summary),)))
        try:
            answer = await self._ask(Compact(session))
        finally:
            self._script.end_summary(name)
        if isinstance(answer, Refused | Unsupported | Unknown):
            return _not_done(answer, seen)
        if not any(r.kind == "summary" and r.turn == name for r in self._script.requests):
            return replace(seen, outcome="blocked", reason="the harness asked for no summary")
        if isinstance(answer, Acknowledged) and answer.native:
            self._part.compactions[name] = answer.native
        return seen

    # --- turns -----------------------------------------------------------------------------------------------------

    def _begin_turn(self, turn: str, label: str, user: str, answers: tuple[ModelReply, ...]) -> None:
        self._script.begin_turn(turn, answers)
        self._part.begin_turn(turn, label)
        prompt = SendPrompt(self._part.session(label), self._script.markers.mark(user, f"{turn}.user"))
        self._running[label] = asyncio.ensure_future(self._stage.adapter.perform(prompt))

    async def _end_turn(self, label: str) -> Answer:
        """Wait for the end of the session's turn."""
        turn = self._part.paths[label][-1]
        answer = await self._within(asyncio.shield(self._running[label]), f"the end of turn {turn}")
        del self._running[label]
        self._script.end_turn(turn)
        if isinstance(answer, TurnEnded):
            self._part.turns[turn] = TurnSeen(label, answer.native, answer.stop)
        return answer

    async def _turn_to_end(self, turn: str, label: str, user: str, say: str) -> Answer:
        self._begin_turn(turn, label, user, replies(turn, (SayStep(say=say),), self._script.markers))
        return await self._end_turn(label)

    async def _probe(self, label: str) -> None:
        if label in self._part.sessions:
            turn = f"{PROBE}{label}"
            self._part.probes[label] = turn
            await self._turn_to_end(turn, label, "And now?", "Nothing more.")

    # --- asking ----------------------------------------------------------------------------------------------------

    async def _session(self, label: str) -> str:
        """The harness's id of this session; a fork that was waiting is waited for."""
        waiting = self._waiting_forks.pop(label, None)
        if waiting is not None:
            answer = await self._within(waiting, f"the fork {label} that waited for its source")
            if isinstance(answer, Forked):
                self._part.adopt(label, answer)
        return self._part.session(label)

    async def _ask(self, operation: Operation) -> Answer:
        return await self._within(self._stage.adapter.perform(operation), type(operation).__name__)

    async def _within(self, awaitable: Awaitable[T], what: str) -> T:
        deadline = self._stage.deadlines.operation
        try:
            async with asyncio.timeout(deadline):
                return await awaitable
        except TimeoutError:
            raise HarnessHung(
                f"no answer within {deadline:g} s to {what}",
                "if the harness is only slow, give it more time with --deadline",
            ) from None


def _ended(answer: Answer, seen: StepSeen) -> StepSeen:
    if isinstance(answer, TurnEnded):
        return replace(seen, stop=answer.stop, detail=answer.detail)
    return _not_done(answer, seen)


def _not_done(answer: Answer, seen: StepSeen) -> StepSeen:
    match answer:
        case Refused(reason, message):
            return replace(seen, outcome="refused", reason=reason, detail=message)
        case Unsupported(what):
            return replace(seen, outcome="unsupported", reason=what)
        case Unknown(why):
            return replace(seen, outcome="unknown", reason=why)
        case _:
            return replace(seen, outcome="unknown", reason=f"an answer of another kind: {answer}")
