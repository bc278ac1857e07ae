"""Links: from rows of a stored history, in any order and with any parents, to a forest without cycles.

Source: clauses RD-4, TRE-1; seed 003: orphaned entries with broken parent chains appear as roots.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Row", "linked"]


class Row(NamedTuple):
    """A stored thing and the one that it says it is behind: None for a first one."""

    key: str
    behind: str | None


def linked(rows: Sequence[Row]) -> list[tuple[int, int | None]]:
    """The numbers of the rows, parents before children, each with the number of its parent (None: a root).

    A row whose parent is not there is a root. Of a cycle, the row that is stored first is a root, so that no row is
    lost and no reader hangs.
    """
    number = {row.key: index for index, row in enumerate(rows)}
    parents = [None if row.behind is None else number.get(row.behind) for row in rows]
    placed: dict[int, int | None] = {}
    for start in range(len(rows)):
        chain: dict[int, None] = {}
        at: int | None = start
        while at is not None and at not in placed and at not in chain:
            chain[at] = None
            at = parents[at]
        if at is not None and at in chain:
            # A cycle: it is cut at the row that is stored first, and read on from there.
            walked = list(chain)
            parents[min(walked[walked.index(at) :])] = None
            chain = _up(start, parents)
        for each in reversed(chain):
            placed[each] = parents[each]
    return list(placed.items())


def _up(start: int, parents: Sequence[int | None]) -> dict[int, None]:
    """The rows from `start` up to its root, in that order."""
    chain: dict[int, None] = {}
    at: int | None = start
    while at is not None:
        chain[at] = None
        at = parents[at]
    return chain
