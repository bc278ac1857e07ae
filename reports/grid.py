"""The matrix drawn on a screen: clauses down, harnesses across, grouped by the contract's areas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest

from forkproof.reports.events import Verdict
from forkproof.reports.matrix import Cell, ClauseText, Column, Row, matrix
from forkproof.reports.screen import Screen, Words, style
from forkproof.reports.tally import Mood

__all__ = ["draw_matrix"]

_SHORT: dict[Verdict | None, str] = {"NOT_APPLICABLE": "n/a", None: "-"}
_MEANINGS: dict[Mood, str] = {
    "good": "pass",
    "bad": "fail",
    "broken": "not judged",
    "warn": "SHOULD not met",
    "known": "known failure",
}
_NARROWEST_TEXT = 16
_GAP = "  "


@dataclass(frozen=True, slots=True)
class _Layout:
    """Widths in columns: of ids, of clause texts (0: left out), and in each harness's column of word and whole cell."""

    ids: int
    text: int
    words: tuple[int, ...]
    cells: tuple[int, ...]


def draw_matrix(screen: Screen, columns: Sequence[Column], clauses: Mapping[str, ClauseText]) -> None:
    """Print it; clause texts get what the columns leave of the width. Prints nothing if no check was made."""
    rows = matrix(columns, clauses)
    if not rows:
        return
    headings = [[c.heading] if len(columns) == 1 else c.heading.split(" ") for c in columns]
    layout = _layout(screen, headings, rows)
    blank = " " * (2 + layout.ids + (len(_GAP) + layout.text if layout.text else 0))
    for line in zip_longest(*headings, fillvalue=""):
        shown = "".join(_GAP + word.ljust(width) for word, width in zip(line, layout.cells, strict=True))
        screen.line((blank + shown.rstrip(), "bold"))
    for area, group in groupby(rows, key=lambda row: row.clause.area):
        screen.line((area, "bold"))
        for row in group:
            _draw_row(screen, row, layout)
    _draw_legend(screen, rows)


def _layout(screen: Screen, headings: Sequence[Sequence[str]], rows: Sequence[Row]) -> _Layout:
    words = tuple(max(len(_word(row.cells[n])) for row in rows) for n in range(len(headings)))
    marks = [max(len(_marks(screen, row.cells[n])) for row in rows) for n in range(len(headings))]
    cells = tuple(max(w + m, *map(len, h)) for w, m, h in zip(words, marks, headings, strict=True))
    ids = max(len(row.clause.id) for row in rows)
    room = screen.width - 2 - ids - len(_GAP) - sum(len(_GAP) + width for width in cells)
    return _Layout(ids, room if room >= _NARROWEST_TEXT else 0, words, cells)


def _draw_row(screen: Screen, row: Row, layout: _Layout) -> None:
    line: list[Words] = [f"  {row.clause.id:<{layout.ids}}"]
    if layout.text:
        text = screen.cut(row.clause.text, layout.text)
        line.append(_GAP + text + " " * (layout.text - screen.columns(text)))
    space = ""
    for cell, word, width in zip(row.cells, layout.words, layout.cells, strict=True):
        marks = _marks(screen, cell)
        said = _word(cell).ljust(word) if marks else _word(cell)
        line += [space + _GAP, (said, style(cell.verdict) if cell.verdict else ""), marks]
        space = " " * (width - len(said + marks))
    screen.line(*line)


def _word(cell: Cell) -> str:
    return _SHORT.get(cell.verdict) or str(cell.verdict)


def _marks(screen: Screen, cell: Cell) -> str:
    moods = cell.moods
    return "".join(f" {moods[m]}{sign}" for m, sign in screen.marks.moods.items() if m in moods)


def _draw_legend(screen: Screen, rows: Sequence[Row]) -> None:
    used = {mood for row in rows for cell in row.cells for mood in cell.moods}
    if used - {"good"}:
        legend = (f"{sign} {_MEANINGS[mood]}" for mood, sign in screen.marks.moods.items() if mood in used)
        screen.line(("   ".join(legend), "dim"))
