"""Checks that no mutant can fail: they pass on the reference and on each of its faults, so they prove nothing yet.

This is the one rule of the linter that plays traces (`forkproof lint --mutants`). Source: design section 9.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from forkproof.conformance.selftest_pool import play_all
from forkproof.conformance.trace.checks import check_ids
from forkproof.conformance.trace.load import load
from forkproof.conformance.trace.problem import Problem
from forkproof.reference.mutants import every

__all__ = ["CODE", "unfailable"]

CODE = "FPL045"


def unfailable(files: Sequence[Path], jobs: int = 2) -> list[Problem]:
    """A problem for each expectation of these traces that passes on the reference and fails on no mutant.

    Invariants, which are not written in a trace, are left out. Raises `ReferenceFails` if the reference does not pass,
    `TraceError` if a trace can't be loaded.
    """
    mutants = every()
    idle = set(play_all(files, mutants, jobs, lambda _: None).idle_checks)
    said = f"no mutant can fail this check; {len(mutants)} were tried"
    return [
        Problem(check.file, check.line, check.column, CODE, f"{check.clause}: {said}")
        for file in files
        for check in check_ids(load(file))
        if check.id in idle
    ]
