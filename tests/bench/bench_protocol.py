"""What the open protocol costs a step: the reference served over it, against the reference in process.

Run it as a module from the root of the checkout: `python -m tests.bench.bench_protocol [--rounds N] [--every N]`. A
step of a trace is one operation with all that comes with it: the requests to the model, the questions to the person,
and the looks at files and counters. It prints p50 and p95 over all steps: for the CPU of suite and adapter together,
for the CPU of the suite alone (the adapter's language and library are its author's), and for wall time. The bar is
1 ms a step, p95 (design section 11). Each step's cost is the least over the rounds, so that a busy machine counts
little; nothing here asserts.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Self

from forkproof.adapters.inprocess import create
from forkproof.adapters.protocol import Adapter, Deadlines
from forkproof.conformance.player import PartPlayer
from forkproof.conformance.trace.load import LoadedTrace, discover, load
from forkproof.conformance.trial import observe
from tests.stdio.both_ways import SEED, Kept, served

BAR_MS = 1.0
_SCHEDULER_CLOCK = 2


class Cost(NamedTuple):
    """Seconds of CPU of both, of CPU of the suite alone, and of wall time."""

    both: float
    suite: float
    wall: float


class Meter:
    """Times every step that is played while it is open."""

    def __init__(self, other: Callable[[], float]) -> None:
        """`other` gives the CPU seconds of the adapter's process, if it has one."""
        self.other = other
        self.least: dict[tuple[str, str, int], Cost] = {}
        self.slug = ""
        self._step: Any = PartPlayer._step

    def now(self) -> Cost:
        """All clocks."""
        suite = time.process_time()
        return Cost(suite + self.other(), suite, time.perf_counter())

    def __enter__(self) -> Self:
        meter, step = self, self._step

        async def timed(player: PartPlayer, index: int, each: Any) -> None:
            begun = meter.now()
            await step(player, index, each)
            spent = Cost(*(b - a for a, b in zip(begun, meter.now(), strict=True)))
            key = (meter.slug, player.part.name, index)
            meter.least[key] = Cost(*map(min, spent, meter.least.get(key, spent)))

        PartPlayer._step = timed  # type: ignore[method-assign]  # a bench looks inside
        return self

    def __exit__(self, *_: object) -> None:
        PartPlayer._step = self._step  # type: ignore[method-assign]  # as above


def cpu_of(pid: int) -> float:
    """CPU seconds of another process so far (Linux's clock of a process)."""
    return time.clock_gettime((~pid << 3) | _SCHEDULER_CLOCK)


def play(
    runner: asyncio.Runner, traces: list[LoadedTrace], adapter: Callable[[], Adapter], meter: Meter, rounds: int
) -> None:
    """Play every trace so many times."""
    with meter:
        for _ in range(rounds):
            for loaded in traces:
                meter.slug = loaded.slug
                runner.run(observe(adapter(), loaded.trace, loaded.slug, SEED, Deadlines(600, 600, 30)))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each Nth trace")
    asked = parser.parse_args()
    rounds, traces = asked.rounds, [load(path) for path in discover()][:: asked.every]
    with asyncio.Runner() as runner, tempfile.TemporaryDirectory() as folder:
        within = Meter(lambda: 0.0)
        play(runner, traces, create, within, rounds)
        kept = Kept(served(Path(folder)))

        over = Meter(lambda: cpu_of(kept.talk.process.pid) if kept.talk else 0.0)
        try:
            play(runner, traces, lambda: kept, over, rounds)
        finally:
            runner.run(kept.end())
    print(f"{len(over.least)} steps, the least of {rounds} rounds each, in ms")
    for name in Cost._fields:
        here = [1000 * getattr(cost, name) for cost in within.least.values()]
        there = [1000 * getattr(cost, name) for cost in over.least.values()]
        more = [1000 * (getattr(over.least[key], name) - getattr(within.least[key], name)) for key in over.least]
        print(f"  {name:5}  in process {_spread(here)}   over the protocol {_spread(there)}   overhead {_spread(more)}")
    print(f"the bar is {BAR_MS:g} ms of overhead a step, p95")


def _spread(values: list[float]) -> str:
    ordered = sorted(values)
    return f"p50 {ordered[len(ordered) // 2]:.3f} p95 {ordered[int(len(ordered) * 0.95)]:.3f}"


if __name__ == "__main__":
    main()
