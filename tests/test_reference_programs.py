"""Random programs of turns, cancels, compactions and forks: the reference against a few lines that copy lists."""

import asyncio
from dataclasses import dataclass, field
from typing import Literal

from hypothesis import given
from hypothesis import strategies as st

from forkproof.reference.cut import Point
from forkproof.reference.fork import ForkRequest
from forkproof.reference.harness import Compacted, Harness
from forkproof.reference.model import Reply
from forkproof.reference.prompt import Prompt
from forkproof.reference.record import Record
from forkproof.reference.semantics import Semantics
from forkproof.reference.session import Session
from forkproof.reference.turn import Ended
from tests.reference_models import Script, call, items, say

Kind = Literal["before", "after", "head"]

which = st.integers(0, 7)
programs = st.lists(
    st.one_of(
        st.tuples(st.just("turn"), which, st.integers(0, 2)),
        st.tuples(st.just("cancel"), which, st.integers(0, 2)),
        st.tuples(st.just("compact"), which, st.just(0)),
        st.tuples(st.sampled_from(["before", "after", "head"]), which, which),
    ),
    max_size=14,
)


@dataclass
class Copied:
    """A session as plain lists: the turns in its context under a summary, and that state around each past turn."""

    summary: str = ""
    turns: list[list[str]] = field(default_factory=list)
    past: list[tuple[str, "Copied", "Copied"]] = field(default_factory=list)

    def copy(self) -> "Copied":
        return Copied(self.summary, [list(turn) for turn in self.turns], list(self.past))

    def items(self) -> list[str]:
        return [*([self.summary] if self.summary else []), *(item for turn in self.turns for item in turn)]

    def add(self, turn: str, shown: list[str]) -> None:
        before = self.copy()
        self.turns.append(shown)
        after = self.copy()
        self.past.append((turn, before, after))
        # A cut after this turn leaves the turn itself a cut point of the child.
        after.past.append((turn, before, after))

    def compact(self, summary: str, retained: int) -> None:
        kept = min(retained, len(self.turns) - 1)
        self.turns = self.turns[len(self.turns) - kept :]
        self.summary = summary

    def fork(self, kind: Kind, number: int) -> "Copied":
        if kind == "head":
            return self.copy()
        _, before, after = self.past[number]
        return (before if kind == "before" else after).copy()


class Program:
    """Runs one program on both, and compares each request that the reference makes."""

    def __init__(self, retained: int) -> None:
        self.retained = retained
        self.model = Script()
        self.harness = Harness(self.model, semantics=Semantics(retained_turns=retained))
        self.harness.machine.create("/main", {})
        first = self.harness.open("/main")
        assert isinstance(first, Session)
        self.sessions: dict[str, Copied] = {first.header.id: Copied()}
        self.said = 0

    async def run(self, program: list[tuple[str, int, int]]) -> None:
        for operation, session, number in program:
            id_ = list(self.sessions)[session % len(self.sessions)]
            match operation:
                case "turn":
                    await self.turn(id_, number, cancelled=False)
                case "cancel":
                    await self.turn(id_, number, cancelled=True)
                case "compact":
                    await self.compact(id_)
                case "before" | "after" | "head":
                    await self.fork(id_, operation, number)
        for id_ in list(self.sessions):
            await self.turn(id_, 0, cancelled=False)

    async def turn(self, id_: str, calls: int, *, cancelled: bool) -> None:
        self.said += 1
        user, names = f"u{self.said}", [f"{self.said}-{n}" for n in range(calls)]
        uses = [call(name, "count", "n") for name in names]
        last = [call(f"{self.said}-wait", "wait", "forever")] if cancelled else []
        answers = [Reply(tuple(uses)), Reply(tuple(last)), say("ok")]
        self.model.answers[user] = [answer for answer in answers if answer.parts]
        seen = len(self.model.prompts)
        task = asyncio.ensure_future(self.harness.prompt(id_, user))
        if cancelled:
            await self.harness.machine.started(f"id-{self.said}-wait")
            await self.harness.cancel(id_)
        ended = await task
        assert isinstance(ended, Ended)
        copied = self.sessions[id_]
        assert self._shown(self.model.prompts[seen]) == [*copied.items(), user]
        shown = [user, *(f"call id-{n}" for n in names), *(f"done id-{n}" for n in names)]
        shown += [f"call id-{self.said}-wait", f"unknown id-{self.said}-wait", "(marker)"] if cancelled else ["ok"]
        copied.add(ended.turn, shown)

    async def compact(self, id_: str) -> None:
        copied = self.sessions[id_]
        answer = await self.harness.compact(id_)
        assert isinstance(answer, Compacted) is bool(copied.turns)
        if copied.turns:
            copied.compact("(summary)", self.retained)

    async def fork(self, id_: str, kind: Kind, number: int) -> None:
        copied = self.sessions[id_]
        points = self.harness.fork_points(id_)
        assert [point.turn for point in points] == [turn for turn, _, _ in copied.past]
        if kind != "head" and not points:
            return
        number = number % len(points) if points else 0
        point = Point(kind) if kind == "head" else Point(kind, points[number].turn)
        record = await self.harness.fork(id_, point, ForkRequest("/main"))
        assert isinstance(record, Record)
        self.sessions[record.session] = copied.fork(kind, number)

    def _shown(self, prompt: Prompt) -> list[str]:
        short = {"<turn": "(marker)", "Summa": "(summary)"}
        return [short.get(item[:5], item) for item in items(prompt)]


@given(programs, st.integers(0, 2))
def test_the_reference_agrees_with_copied_lists(program: list[tuple[str, int, int]], retained: int) -> None:
    """CUT-1, CMP-2 to CMP-4, ISO-1, ISO-2, ISO-6, TRE-3: each request holds what plain copies say, in every session."""
    asyncio.run(Program(retained).run(program))
