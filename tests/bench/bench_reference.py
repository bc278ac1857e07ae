"""What the reference costs: forks, projections, and a whole session. Run as a script; it prints CPU times and ratios.

    python tests/bench/bench_reference.py

Bars (issue 3, speed; design section 11): a fork at most 10 microseconds and the same within 2x at 10 and at 100,000
entries; a projection at most 0.2 microseconds an entry, linear. Times are process CPU, the best of several rounds, so
that other programs on the machine matter little. The exit code is 1 if a bar is missed.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from forkproof.adapters.inprocess import ReferenceAdapter
from forkproof.adapters.protocol import (
    Cut,
    Fork,
    Forked,
    ModelReply,
    ModelRequest,
    OpenSession,
    Say,
    SendPrompt,
    SessionOpened,
    ToolUse,
    Trial,
    TurnEnded,
    TurnRef,
)
from forkproof.reference.cut import Point
from forkproof.reference.entries import Answered, Body, Entry, Stamp, ToolEnded, UserSaid, append
from forkproof.reference.entries import TurnEnded as End
from forkproof.reference.fork import ForkRequest
from forkproof.reference.harness import Harness, PastTurn
from forkproof.reference.model import Reply
from forkproof.reference.project import active, prompt_of
from forkproof.reference.prompt import Prompt, Text, ToolCall
from forkproof.reference.record import Record
from forkproof.reference.repair import pair
from forkproof.reference.session import Header, Session

ROUNDS: Final = 7
FORK_BAR: Final = 10.0
RATIO_BAR: Final = 2.0
ENTRY_BAR: Final = 0.2
SESSION_BAR: Final = 1500.0

Row = tuple[str, float, float]
"""What was measured, the value, and the bar that it must not pass."""


async def silent(prompt: Prompt) -> Reply:
    """A model that is never asked."""
    raise AssertionError(prompt)


def best(work: Callable[[], None], times: int) -> float:
    """The CPU microseconds of one call of `work`, in the best of several rounds of so many calls."""
    lowest = float("inf")
    for _ in range(ROUNDS):
        gc.collect()
        begun = time.process_time()
        for _ in range(times):
            work()
        lowest = min(lowest, (time.process_time() - begun) / times)
    return lowest * 1e6


def fork_cost(entries: int, kind: str, where: float) -> float:
    """The cost of one fork of a history of so many entries, at a place from 0 (its beginning) to 1 (its end)."""
    harness = Harness(silent)
    harness.machine.create("/main", {})
    session = harness.import_history("/main", [PastTurn(0, "u", "s") for _ in range(max(1, entries // 3))])
    assert isinstance(session, Session)
    id_ = session.header.id
    points = harness.fork_points(id_)
    turn = points[int((len(points) - 1) * where)].turn
    point = {"head": Point("head"), "before": Point("before", turn), "after": Point("after", turn)}[kind]
    request = ForkRequest("/main")

    def fork() -> None:
        try:
            harness.fork(id_, point, request).send(None)
        except StopIteration as answered:
            if isinstance(answered.value, Record):
                return
        raise AssertionError("the fork was not made at once")

    return best(fork, 1000)


def history(turns: int, *, calls: bool) -> Entry | None:
    """A history of so many turns, each with a call and its result or without."""
    leaf: Entry | None = None
    stamp = Stamp("e", "s", "t", 0)
    call: list[Body] = [Answered((Text("I look."), ToolCall("c", "read", "f")), ("c",)), ToolEnded("c", "output")]
    for _ in range(turns):
        for body in (UserSaid("u"), *(call if calls else ()), Answered((Text("s"),), ()), End("end_turn")):
            leaf = append(leaf, body, stamp)
    return leaf


def projection_cost(entries: int, *, calls: bool) -> float:
    """The CPU microseconds an entry of one prompt of a history of so many entries."""
    leaf = history(entries // (5 if calls else 3), calls=calls)
    assert leaf is not None
    header = Header("s", "/main", {"model": "m", "effort": "low"})
    return best(lambda: _keep(prompt_of(header, active(leaf), pair)), max(1, 20_000 // entries)) / leaf.depth


def _keep(prompt: Prompt) -> None:
    assert prompt.messages


class _Scripted:
    """Writes a file in each turn, then says so; a protocol model."""

    def __init__(self) -> None:
        self.asked = 0

    async def respond(self, _request: ModelRequest) -> ModelReply:
        self.asked += 1
        if self.asked % 2 == 0:
            return ModelReply((Say("Written. [fp.say]"),))
        name = f"c{self.asked}"
        files = {f"file{self.asked}.py": "v1\n", "shared.py": f"v{self.asked}\n"}
        return ModelReply((ToolUse(f"call_{name}", name, "write", files, f"[fp.{name}.start]", f"[fp.{name}.end]"),))

    async def released(self, stall: str) -> None:
        raise AssertionError(stall)


async def one_session() -> None:
    """Three turns in the source, an isolated fork, one turn in the child; each turn writes two files, all are read."""
    adapter = ReferenceAdapter()
    world = await adapter.start(Trial(Path("unused"), _Scripted()))
    directory = world.create("main", {"notes.md": "draft\n"})
    opened = await adapter.perform(OpenSession(directory))
    assert isinstance(opened, SessionOpened)
    turns = []
    for text in ("one", "two", "three"):
        ended = await adapter.perform(SendPrompt(opened.session, text))
        assert isinstance(ended, TurnEnded)
        turns.append(ended)
        world.read(directory)
    cut = Cut("before", TurnRef("two", "two", 1, turns[1].native))
    target = world.reserve("alt")
    forked = await adapter.perform(Fork(opened.session, cut, "isolated", target))
    assert isinstance(forked, Forked)
    assert isinstance(forked.record.session.value, str)
    await adapter.perform(SendPrompt(forked.record.session.value, "again"))
    assert world.read(target) != world.read(directory)
    await adapter.stop()


async def session_cost() -> float:
    """The CPU microseconds of one whole session through the adapter."""
    lowest = float("inf")
    for _ in range(ROUNDS):
        begun = time.process_time()
        for _ in range(100):
            await one_session()
        lowest = min(lowest, (time.process_time() - begun) / 100)
    return lowest * 1e6


def rows() -> list[Row]:
    """Everything, measured."""
    found: list[Row] = []
    for kind, where in (("head", 1.0), ("before", 0.0), ("before", 0.5), ("after", 0.5), ("before", 1.0)):
        small, large = fork_cost(10, kind, where), fork_cost(100_000, kind, where)
        place = kind if kind == "head" else f"{kind}, at {where:.0%}"
        found.append((f"fork {place}: us, 10 entries", small, FORK_BAR))
        found.append((f"fork {place}: us, 100,000 entries", large, FORK_BAR))
        found.append((f"fork {place}: ratio", large / small, RATIO_BAR))
    for calls in (False, True):
        kind = "with calls" if calls else "words only"
        found.extend(
            (f"projection, {kind}: us an entry, {entries:,} entries", projection_cost(entries, calls=calls), ENTRY_BAR)
            for entries in (1_000, 10_000, 100_000)
        )
    found.append(("one session of four turns, a fork and files: us", asyncio.run(session_cost()), SESSION_BAR))
    return found


def main() -> int:
    """Print all rows; 1 if a bar was missed."""
    missed = False
    for what, value, bar in rows():
        over = value > bar
        missed = missed or over
        sys.stdout.write(f"{what:<60} {value:9.2f}   bar {bar:g}{'   MISSED' if over else ''}\n")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
