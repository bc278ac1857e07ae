"""Plays one part of a trace (the trace itself, or a control run) on a started adapter, and writes down what it saw.

The player knows what a trace does, never what it expects. It waits for events; each operation has a deadline, so that a
harness that hangs ends as TIMEOUT and not as a hanging suite. What each kind of step does stands in `moves`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from forkproof.adapters.errors import HarnessHung, StartFailed
from forkproof.adapters.model.script import ScriptedModel
from forkproof.adapters.protocol import (
    Adapter,
    Answer,
    Cancel,
    Deadlines,
    Description,
    Forked,
    Import,
    ImportedTurn,
    ModelReply,
    OpenSession,
    Operation,
    SendPrompt,
    SessionOpened,
    TurnEnded,
    Unsupported,
    World,
)
from forkproof.conformance.moves import move
from forkproof.conformance.moves.delegation import read_state
from forkproof.conformance.moves.durable import wake
from forkproof.conformance.moves.reading import read
from forkproof.conformance.observation import PartSeen, StepSeen, TurnSeen
from forkproof.conformance.part import BlockedError, Part
from forkproof.conformance.paths import imported_paths
from forkproof.conformance.person import CurrentPerson, ScriptedPerson
from forkproof.conformance.readings import wanted_readings
from forkproof.conformance.stage import PROBE, name_of, own_counters, replies, session_of, unless
from forkproof.conformance.trace.model import SayStep, Trace, UnknownName
from forkproof.conformance.trace.settings import chosen

__all__ = ["PartPlayer", "Stage"]

T = TypeVar("T")

LAST_WORD = 1.5
"""Seconds in which an adapter whose own deadline has passed ends the harness and tells what it was doing."""


@dataclass(frozen=True, slots=True)
class Stage:
    """What a part is played on."""

    adapter: Adapter
    world: World
    description: Description
    deadlines: Deadlines
    person: CurrentPerson


class PartPlayer:
    """Plays one part once. `seen()` may be asked at any time, also after an error: it holds all that was seen.

    `settled` tells, after `play`, whether nothing of the part still runs.

    `running` holds the turn under way in each session, `waiting` forks that have not answered yet,
    `errands` the names of the child agents' turns that a turn starts, `roles` who
    answers a turn where that is not the agent itself, `current` the name of the turn in each session,
    `queued` the messages that wait with their tickets, `compacting` the compactions under way with their sessions;
    moves use them.
    """

    def __init__(self, stage: Stage, trace: Trace, script: ScriptedModel, kept: tuple[bool, ...], name: str) -> None:
        self.stage = stage
        self.trace = trace
        self.script = script
        self.part = Part(name, script)
        self.person = ScriptedPerson(script.markers, trace.hooks)
        self.running: dict[str, asyncio.Task[Answer]] = {}
        self.waiting: dict[str, asyncio.Task[Answer]] = {}
        self.current: dict[str, str] = {}
        self.queued: dict[str, str | None] = {}
        self.compacting: dict[str, tuple[str, asyncio.Task[Answer]]] = {}
        self.errands: dict[str, tuple[str, ...]] = {}
        self.roles: dict[str, str] = {}
        self.settled = False
        self._kept = kept
        self._wanted = wanted_readings(trace)

    def seen(self) -> PartSeen:
        """Everything seen so far."""
        return self.part.seen()

    async def play(self, probed: tuple[str, ...]) -> None:
        """Play every kept step, then ask each probed session for its next prompt. Raises an `AdapterError`."""
        self.stage.person.person = self.person
        try:
            await self._open_main()
            for index, step in enumerate(self.trace.steps):
                self.script.step = index
                await self._step(index, step)
            self.script.step = len(self.trace.steps)
            await self._settle()
            for session in probed:
                await self._probe(session)
        finally:
            await self._drop_tasks()

    # --- opening and closing ---------------------------------------------------------------------------------------

    async def _open_main(self) -> None:
        part, imported = self.part, self.trace.import_
        directory = self.stage.world.create(f"{part.name}-main", self.trace.files)
        part.directories["main"], part.paths["main"] = directory, []
        importing = bool(imported) and "import" in self.stage.description.capabilities
        settings = chosen(self.trace.settings)
        operation: Operation = OpenSession(directory, settings)
        if importing:
            operation = Import(directory, tuple(self._imported(turn) for turn in imported), settings)
        answer = await self.ask(operation)
        if importing and isinstance(answer, Unsupported):
            # This history can't be imported as it is (times out of order, say): it is played live instead.
            importing, answer = False, await self.ask(OpenSession(directory, settings))
        if not isinstance(answer, SessionOpened):
            raise StartFailed(f"no session could be opened: {answer}", "the harness's own messages are in run.jsonl")
        part.sessions["main"] = answer.session
        if importing:
            for name, path in imported_paths(imported).items():
                part.move("main", name, path)
        for index, turn in enumerate(imported):
            if importing:
                native = answer.turns[index] if index < len(answer.turns) else None
                part.turns[turn.turn] = TurnSeen("main", native, stop="end_turn")
                self.script.produced.update({f"{turn.turn}.user", f"{turn.turn}.say"})
            else:
                self.script.step = -1
                await self._turn_to_end(turn.turn, "main", turn.user, turn.say)

    def _imported(self, turn: Any) -> ImportedTurn:
        mark = self.script.markers.mark
        user, say = mark(turn.user, f"{turn.turn}.user"), mark(turn.say, f"{turn.turn}.say")
        behind = turn.behind.unknown if isinstance(turn.behind, UnknownName) else turn.behind
        return ImportedTurn(turn.at, user, say, turn.turn, behind, turn.id)

    async def _settle(self) -> None:
        """End what still runs, as a person who closes the session would, so that probes meet idle sessions."""
        for label, task in list(self.running.items()):
            if not task.done():
                await self.ask(Cancel(self.part.session(label)))
            await self.end_turn(label)
        for turn in list(self.queued):
            await self.ask(Cancel(self.part.session(self.part.turns[turn].session)))
        for label, task in list(self.compacting.values()):
            if not task.done():
                await self.ask(Cancel(self.part.session(label)))

    def compacting_in(self) -> frozenset[str]:
        """The sessions in which a compaction is under way."""
        return frozenset(label for label, _ in self.compacting.values())

    async def _drop_tasks(self) -> None:
        tasks = [*self.running.values(), *self.waiting.values(), *(task for _, task in self.compacting.values())]
        self.settled = all(task.done() for task in tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # --- steps -----------------------------------------------------------------------------------------------------

    async def _step(self, index: int, step: Any) -> None:
        key, name = name_of(step)
        label = session_of(step, self.trace)
        seen = StepSeen(index, key, name, label, "done")
        policy = unless(step, self.stage.description.policies)
        if not self._kept[index] or policy:
            self.part.steps.append(replace(seen, outcome="skipped", reason=policy or "control run"))
            return
        try:
            seen = await move(self, step, seen)
        except BlockedError as blocked:
            seen = replace(seen, outcome="blocked", reason=str(blocked))
        source = getattr(step, "in_", None)
        directory = self.part.directory_of(label, source if isinstance(source, str) else "main")
        world, person = self.stage.world, self.person
        seen = replace(
            seen,
            files=world.read(directory) if directory else None,
            runs=own_counters(world.runs(), self.script.markers),
            asked=tuple(person.asked),
            hooks=tuple(person.hook_runs),
            unanswered=person.unanswered(),
            state=await read_state(self, index, label),
            readings=await read(self, label, self._wanted[index]),
            processes=self._processes(index),
        )
        self.part.steps.append(seen)

    def _processes(self, index: int) -> Mapping[str, int]:
        """How many background processes of each name run, where the step looks at them."""
        wanted = any(e.processes is not None for entry in self.trace.steps[index].expect for e in entry.values())
        return own_counters(self.stage.world.processes(), self.script.markers) if wanted else {}

    # --- turns -----------------------------------------------------------------------------------------------------

    def begin_turn(
        self,
        turn: str,
        label: str,
        user: str,
        answers: tuple[ModelReply, ...],
        attachments: Mapping[str, str] | None = None,
    ) -> None:
        """Give the session a message, with files where there are any; its turn is then in `running`."""
        self.current[label] = turn
        self.script.begin_turn(turn, answers)
        self.part.begin_turn(turn, label)
        for text in (attachments or {}).values():
            self.script.produced.update(self.script.markers.find(text))
        said = self.script.markers.mark(user, f"{turn}.user")
        prompt = SendPrompt(self.part.session(label), said, attachments or {}, self.roles.get(turn, ""))
        self.running[label] = asyncio.ensure_future(self.stage.adapter.perform(prompt))

    async def end_turn(self, label: str) -> Answer:
        """Wait for the end of the session's turn."""
        turn = self.current.pop(label)
        answer = await self.within(asyncio.shield(self.running[label]), f"the end of turn {turn}")
        del self.running[label]
        for name in (turn, *self.errands.get(turn, ())):
            self.script.end_turn(name)
        if isinstance(answer, TurnEnded):
            self.part.turns[turn] = TurnSeen(label, answer.native, answer.stop)
        return answer

    async def _turn_to_end(self, turn: str, label: str, user: str, say: str) -> Answer:
        self.begin_turn(turn, label, user, replies(turn, (SayStep(say=say),), self.script.markers))
        return await self.end_turn(label)

    async def _probe(self, label: str) -> None:
        if label in self.part.sessions:
            turn = f"{PROBE}{label}"
            self.part.probes[label] = turn
            await wake(self, label)
            await self._turn_to_end(turn, label, "And now?", "Nothing more.")

    # --- asking ----------------------------------------------------------------------------------------------------

    async def session(self, label: str) -> str:
        """The harness's id of this session; a fork that was waiting is waited for. Raises `BlockedError`."""
        waiting = self.waiting.pop(label, None)
        if waiting is not None:
            answer = await self.within(waiting, f"the fork {label} that waited for its source")
            if isinstance(answer, Forked):
                self.part.adopt(label, answer)
        return self.part.session(label)

    async def ask(self, operation: Operation) -> Answer:
        """Let the adapter carry out one operation, within its deadline.

        The adapter keeps the same deadline, and can tell what the harness was doing: it is let speak first.
        """
        return await self.within(self.stage.adapter.perform(operation), type(operation).__name__, LAST_WORD)

    async def within(self, awaitable: Awaitable[T], what: str, more: float = 0.0) -> T:
        """Wait for something of the harness, within the deadline and so many seconds more. Raises `HarnessHung`."""
        deadline = self.stage.deadlines.operation
        try:
            async with asyncio.timeout(deadline + more):
                return await awaitable
        except TimeoutError:
            raise HarnessHung(
                f"no answer within {deadline:g} s to {what}{_doing()}",
                "if the harness is only slow, give it more time with --deadline",
            ) from None


def _doing() -> str:
    """What the harness's process does just now, where it has one."""
    from forkproof.adapters.supervisor import doing

    said = doing()
    return f"; {said}" if said else ""
