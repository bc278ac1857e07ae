"""Plays the selftest on several processes: a mutant is one piece of work, and each process loads the traces once."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Final

from forkproof.conformance.selftest import KillMatrix, MutantRow
from forkproof.conformance.selftest_bench import Bench
from forkproof.reference import mutants
from forkproof.reference.mutants import Mutant

__all__ = ["play_all"]

_benches: Final[list[Bench]] = []
"""The bench of this process, if it is one of the pool's."""


def play_all(
    files: Sequence[Path], chosen: Sequence[Mutant], jobs: int, tell: Callable[[MutantRow], None]
) -> KillMatrix:
    """The kill matrix of these traces and mutants; `tell` gets each row when it is there.

    Raises `ReferenceFails` if the reference does not pass, `TraceError` if a trace can't be loaded.
    """
    began, used = time.perf_counter(), time.process_time()
    with Bench(files) as bench:
        checks = bench.reference()
        traces = bench.traces
        rows: dict[str, MutantRow] = {}
        cpu = 0.0
        for row, spent in _rows(bench, files, chosen, jobs):
            rows[row.name] = row
            cpu += spent
            tell(row)
    cost = {
        "seconds": round(time.perf_counter() - began, 2),
        "cpu_seconds": round(cpu + time.process_time() - used, 2),
        "jobs": jobs,
    }
    return KillMatrix([rows[mutant.name] for mutant in chosen], traces, checks, cost)


def _rows(
    bench: Bench, files: Sequence[Path], chosen: Sequence[Mutant], jobs: int
) -> Iterator[tuple[MutantRow, float]]:
    """Each row, and the CPU seconds that another process spent on it."""
    if jobs == 1 or len(chosen) == 1:
        for mutant in chosen:
            yield bench.row(mutant), 0.0
        return
    # Processes that start anew, so that nothing of this one's loop or threads is carried over.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(chosen)), context, _begin, (tuple(map(str, files)),)) as pool:
        for done in as_completed([pool.submit(_row, mutant.name) for mutant in chosen]):
            yield done.result()


def _begin(files: tuple[str, ...]) -> None:
    _benches.append(Bench([Path(file) for file in files]).__enter__())


_spent: Final = [0.0]


def _row(name: str) -> tuple[MutantRow, float]:
    """One row by the mutant's name: functions of a mutant can't be sent to another process."""
    mutant = mutants.named(name)
    if mutant is None:
        raise LookupError(name)
    row = _benches[0].row(mutant)
    # Everything since this process began, its start and the loading included, is told with the next row.
    now = time.process_time()
    spent, _spent[0] = now - _spent[0], now
    return row, spent
