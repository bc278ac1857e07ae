"""The matrix of a run: one row a clause, one column a harness. Pure data; console and pages draw it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from forkproof.reports.events import Checked, Verdict
from forkproof.reports.tally import Mood, counts, mood, worst

__all__ = ["Cell", "ClauseText", "Column", "Row", "matrix"]


@dataclass(frozen=True, slots=True)
class ClauseText:
    """What a report says about a clause: its area's title and its own text. The suite passes these in."""

    id: str
    area: str
    text: str


@dataclass(frozen=True, slots=True)
class Column:
    """One harness: its heading, and its checks."""

    heading: str
    checks: Sequence[Checked]


@dataclass(frozen=True, slots=True)
class Cell:
    """What one harness makes of one clause. An empty tally: no check of this clause was made."""

    tally: Mapping[Verdict, int]

    @property
    def verdict(self) -> Verdict | None:
        """The worst verdict."""
        return worst(self.tally)

    @property
    def moods(self) -> Mapping[Mood, int]:
        """How many checks of each mood; what is not applicable or not observable is left out."""
        found: Counter[Mood] = Counter()
        for verdict, number in self.tally.items():
            found[mood(verdict)] += number
        del found["quiet"]
        return found


@dataclass(frozen=True, slots=True)
class Row:
    """One clause, with a cell for each column."""

    clause: ClauseText
    cells: tuple[Cell, ...]


def matrix(columns: Sequence[Column], clauses: Mapping[str, ClauseText]) -> tuple[Row, ...]:
    """A row for each clause that any column has checks of, in the contract's order; unknown clauses last, by id."""
    by_clause = [_by_clause(column.checks) for column in columns]
    judged = {clause for column in by_clause for clause in column}
    order = [c for c in clauses if c in judged] + sorted(judged - clauses.keys())
    return tuple(
        Row(
            clauses.get(clause) or ClauseText(clause, "Not in the contract", ""),
            tuple(Cell(counts(column.get(clause, ()))) for column in by_clause),
        )
        for clause in order
    )


def _by_clause(checks: Iterable[Checked]) -> dict[str, list[Checked]]:
    found: dict[str, list[Checked]] = {}
    for check in checks:
        found.setdefault(check.clause, []).append(check)
    return found
