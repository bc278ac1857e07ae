"""Thousands of long random programs on the two references: `tox -e deep`.

    python -m tests.deep.deep_programs [SEED]

First every fault of `faults.py` must be found. FORKPROOF_DEEP is how many programs are then played, in batches, each
with a seed of its own; a batch can be played again by its seed. Prints how many programs it took to find each fault,
and how many programs and steps were played. A disagreement is printed as a trace, and the exit code is 1.
"""

from __future__ import annotations

import os
import secrets
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import Final, NamedTuple

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.deep.duel import play
from tests.deep.faults import FAULTS
from tests.deep.play import Disagreement
from tests.deep.program import Program, programs

PROGRAMS: Final = 20_000
BATCH: Final = 500
CHAPTERS: Final = 12


class Batch(NamedTuple):
    """What came of one batch; `trouble` is the first disagreement, shrunk, as a trace."""

    seed: int
    programs: int
    steps: int
    trouble: str


def batch(number: int) -> Batch:
    """Play the programs of this seed."""
    played: list[int] = []

    @seed(number)
    @settings(
        max_examples=BATCH,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(programs(CHAPTERS))
    def all_programs(program: Program) -> None:
        played.append(play(program))

    trouble = ""
    try:
        all_programs()
    except Disagreement as disagreement:
        trouble = str(disagreement)
    except Exception as error:  # noqa: BLE001  # a fault of a reference or of the driver: told with its seed, the rest goes on
        trouble = f"{type(error).__name__}: {error}"
    return Batch(number, len(played), sum(played), trouble)


class Found(NamedTuple):
    """How many programs it took until a faulty reference disagreed; None if none of them did."""

    fault: str
    programs: int | None


def find(fault: str) -> Found:
    """Look for a fault, in programs that are the same each time."""
    rules, harness = FAULTS[fault]
    tried = 0

    @settings(
        max_examples=10 * BATCH,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(programs(CHAPTERS))
    def all_programs(program: Program) -> None:
        nonlocal tried
        tried += 1
        play(program, rules, harness)

    try:
        all_programs()
    except Disagreement:
        return Found(fault, tried)
    return Found(fault, None)


def main() -> int:
    """Look for all faults, then play all batches, on every core; with a seed, its batch alone."""
    if len(sys.argv) > 1:
        return run()
    with ProcessPoolExecutor() as pool:
        found = list(pool.map(find, FAULTS))
    for fault, tried in found:
        print(f"{'never' if tried is None else tried:>6}  {fault}", flush=True)
    missed = [fault for fault, tried in found if tried is None]
    return 1 if run() or missed else 0


def run() -> int:
    """Play all batches."""
    wanted = int(os.environ.get("FORKPROOF_DEEP", PROGRAMS))
    first = secrets.randbelow(10**9)
    seeds = [int(sys.argv[1])] if len(sys.argv) > 1 else [first + n for n in range(max(1, wanted // BATCH))]
    done: list[Batch] = []
    with ProcessPoolExecutor() as pool:
        for result in pool.map(batch, seeds):
            done.append(result)
            if result.trouble:
                print(f"seed {result.seed}\n{result.trouble}", flush=True)
            if len(done) % 10 == 0 or len(done) == len(seeds):
                print(f"{sum(b.programs for b in done)} programs, {sum(b.steps for b in done)} steps", flush=True)
    troubles = [result for result in done if result.trouble]
    print(f"{len(troubles)} of {len(seeds)} batches disagree: {[result.seed for result in troubles]}")
    return 1 if troubles else 0


if __name__ == "__main__":
    sys.exit(main())
