"""Thousands of long random programs on the two references: `tox -e deep`.

    python -m tests.deep.deep_programs [SEED]

FORKPROOF_DEEP is how many programs are played, in batches, each with a seed of its own; a batch can be played again by
its seed. Prints how many programs and steps there were. A disagreement is printed as a trace, and the exit code is 1.
"""

from __future__ import annotations

import os
import secrets
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import Final, NamedTuple

from hypothesis import HealthCheck, given, seed, settings

from tests.deep.duel import play
from tests.deep.play import Disagreement
from tests.deep.program import Program, programs

PROGRAMS: Final = 40_000
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
    return Batch(number, len(played), sum(played), trouble)


def main() -> int:
    """Play all batches on every core."""
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
