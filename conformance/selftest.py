"""The selftest: every trace is played on every mutant of the reference; what came of it is the kill matrix.

A mutant is killed for the right reason only by a check that carries the clause that the mutant breaks, and that fails:
a crash, a time-out or an untestable check says that something is wrong, not what. Source: design section 9.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

__all__ = ["Cell", "KillMatrix", "MutantRow", "Outcome", "as_json"]

Outcome: TypeAlias = Literal["right", "wrong", "unclear", "survived"]
"""What one trace made of one mutant. right: a check of the mutant's clause fails; wrong: only checks of other clauses
do; unclear: no check fails, and one could not be carried out (time-out, crash, untestable); survived: none of it."""

SCHEMA = "forkproof.selftest/1"


@dataclass(frozen=True, slots=True)
class Cell:
    """One trace on one mutant: the outcome, and the ids of the checks that failed or could not be carried out."""

    outcome: Outcome
    checks: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class MutantRow:
    """One mutant: what it is, and what every trace made of it, by slug."""

    name: str
    clause: str
    kind: str | None
    summary: str
    cells: Mapping[str, Cell]

    @property
    def outcome(self) -> Outcome:
        """The best that any trace made of it."""
        best: tuple[Outcome, ...] = ("right", "wrong", "unclear")
        outcomes = {cell.outcome for cell in self.cells.values()}
        return next((outcome for outcome in best if outcome in outcomes), "survived")

    def killers(self, outcome: Outcome) -> list[str]:
        """The traces with this outcome."""
        return [slug for slug, cell in self.cells.items() if cell.outcome == outcome]


@dataclass(frozen=True, slots=True)
class KillMatrix:
    """All mutants against all traces. `checks` holds the ids of every check that was judged."""

    rows: Sequence[MutantRow]
    traces: Sequence[str]
    checks: Sequence[str] = ()
    cost: Mapping[str, float] = field(default_factory=dict)

    @property
    def survivors(self) -> list[str]:
        """Mutants that no check fails on; a crash or a time-out alone proves nothing."""
        return [row.name for row in self.rows if row.outcome in {"survived", "unclear"}]

    @property
    def wrong_reason(self) -> list[str]:
        """Mutants on which checks fail, and none of them is of the clause that is broken."""
        return [row.name for row in self.rows if row.outcome == "wrong"]

    @property
    def idle_traces(self) -> list[str]:
        """Traces that kill no mutant for the right reason: nothing shows that they can fail for what they prove."""
        busy = {slug for row in self.rows for slug in row.killers("right")}
        return [slug for slug in self.traces if slug not in busy]

    @property
    def idle_checks(self) -> list[str]:
        """Checks that fail on no mutant: to be told, not an error, since a trace may set its stage with one."""
        failed = {id_ for row in self.rows for c in row.cells.values() if c.outcome != "unclear" for id_ in c.checks}
        return [id_ for id_ in self.checks if id_ not in failed]

    def faults(self, *, all_mutants: bool = True, all_traces: bool = True) -> list[str]:
        """What is wrong with the suite, one line each.

        Without all mutants a trace may kill nothing, and without all traces a mutant may survive.
        """
        said: list[str] = []
        if all_traces:
            said += [f"{name} survives every trace" for name in self.survivors]
            said += [f"{name} is killed for the wrong reason only" for name in self.wrong_reason]
        if all_mutants:
            said += [f"{slug} kills no mutant for the right reason" for slug in self.idle_traces]
        return said


def as_json(matrix: KillMatrix) -> dict[str, Any]:
    """The matrix as JSON data; cells of traces that a mutant survived are left out."""
    right = [row for row in matrix.rows if row.outcome == "right"]
    wrong = [row for row in matrix.rows if row.outcome == "wrong"]
    return {
        "schema": SCHEMA,
        "mutants": len(matrix.rows),
        "killed": len(right) + len(wrong),
        "right_reason": len(right),
        "survivors": matrix.survivors,
        "wrong_reason": matrix.wrong_reason,
        "traces": len(matrix.traces),
        "idle_traces": matrix.idle_traces,
        "checks": len(matrix.checks),
        "idle_checks": matrix.idle_checks,
        "matrix": {row.name: _row(row) for row in matrix.rows},
        "volatile": dict(matrix.cost),
    }


def _row(row: MutantRow) -> dict[str, Any]:
    cells = {slug: cell for slug, cell in row.cells.items() if cell.outcome != "survived"}
    return {
        "clause": row.clause,
        "kind": row.kind,
        "summary": row.summary,
        "outcome": row.outcome,
        "traces": {
            slug: {"outcome": cell.outcome, "checks": list(cell.checks)}
            | ({"reason": cell.reason} if cell.reason else {})
            for slug, cell in cells.items()
        },
    }
