"""The checks of a trace: each expectation with its stable id and its place. Source: design section 3."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from forkproof.conformance.trace.load import LoadedTrace
from forkproof.conformance.trace.model import Expectation

__all__ = ["Check", "check_ids"]


@dataclass(frozen=True, slots=True)
class Check:
    """One expectation. `id` is `slug::CLAUSE`, with `#2` and so on for further ones of that clause in the trace.

    `step` is the step's index from 0; `line` and `column` (from 1) are where the clause stands in `file`.
    """

    id: str
    step: int
    clause: str
    expectation: Expectation
    file: str
    line: int
    column: int


def check_ids(loaded: LoadedTrace) -> tuple[Check, ...]:
    """Every check of a trace, in the order of the file."""
    seen: Counter[str] = Counter()
    checks = []
    for index, step in enumerate(loaded.trace.steps):
        for number, entry in enumerate(step.expect):
            for clause, expectation in entry.items():
                seen[clause] += 1
                place = loaded.positions.key(("steps", index, "expect", number, clause))
                checks.append(
                    Check(
                        id=f"{loaded.slug}::{clause}" + (f"#{seen[clause]}" if seen[clause] > 1 else ""),
                        step=index,
                        clause=clause,
                        expectation=expectation,
                        file=str(loaded.path),
                        line=place.line,
                        column=place.column,
                    )
                )
    return tuple(checks)
