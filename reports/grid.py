"""The matrix drawn on a screen: clauses down, harnesses across, grouped by the contract's areas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from forkproof.reports.events import Verdict
from forkproof.reports.matrix import Cell, ClauseText, Column, Row, matrix
from forkproof.reports.screen import Screen, Words, style

__all__ = ["draw_matrix"]

_SHORT: dict[Verdict, str] = {"NOT_APPLICABLE": "n/a"}
_NARROWEST_TEXT = 16
_GAP = 2


@dataclass(frozen=True, slots=True)
class _Layout:
    """Widths in columns: of the clause ids, of the clause texts, and of each harness's cells."""

    ids: int
    text: int
    cells: tuple[int, ...]


def draw_matrix(screen: Screen, columns: Sequence[Column], clauses: Mapping[str, ClauseText]) -> None:
    """Print it; clause texts get what the columns leave of the width. Prints nothing if no check was made."""
    rows = matrix(columns, clauses)
    if not rows:
        return
    layout = _layout(screen, columns, rows)
    headings = zip(columns, layout.cells, strict=True)
    blank = " " * (2 + layout.ids + _GAP + layout.text)
    screen.line(blank, *((" " * _GAP + c.heading.ljust(w), "bold") for c, w in headings))
    for area, group in groupby(rows, key=lambda row: row.clause.area):
        screen.line((area, "bold"))
        for row in group:
            _draw_row(screen, row, layout)
    screen.line((_legend(screen, rows), "dim"))


def _layout(screen: Screen, columns: Sequence[Column], rows: Sequence[Row]) -> _Layout:
    widths = tuple(
        max(len(column.heading), *(len(_joined(_words(screen, row.cells[n]))) for row in rows))
        for n, column in enumerate(columns)
    )
    ids = max(len(row.clause.id) for row in rows)
    room = screen.width - 2 - ids - _GAP - sum(width + _GAP for width in widths)
    return _Layout(ids, max(_NARROWEST_TEXT, room), widths)


def _draw_row(screen: Screen, row: Row, layout: _Layout) -> None:
    text = screen.cut(row.clause.text, layout.text)
    padding = " " * (layout.text - screen.columns(text))
    line: list[Words] = [f"  {row.clause.id:<{layout.ids}}{' ' * _GAP}{text}{padding}"]
    for cell, width in zip(row.cells, layout.cells, strict=True):
        words = _words(screen, cell)
        line += [" " * _GAP, *words, " " * (width - len(_joined(words)))]
    screen.line(*line)


def _words(screen: Screen, cell: Cell) -> tuple[Words, ...]:
    verdict = cell.verdict
    if verdict is None:
        return ("-",)
    marks = " ".join(f"{cell.moods[m]}{sign}" for m, sign in screen.marks.moods.items() if m in cell.moods)
    word = _SHORT.get(verdict, verdict)
    return ((f"{word:<5}" if marks else word, style(verdict)), f" {marks}" if marks else "")


def _joined(words: Sequence[Words]) -> str:
    return "".join(w if isinstance(w, str) else w[0] for w in words)


def _legend(screen: Screen, rows: Sequence[Row]) -> str:
    meanings = {
        "good": "pass",
        "bad": "fail",
        "broken": "not judged",
        "warn": "SHOULD not met",
        "known": "known failure",
    }
    used = {m for row in rows for cell in row.cells for m in cell.moods}
    return "   ".join(f"{sign} {meanings[m]}" for m, sign in screen.marks.moods.items() if m in used)
