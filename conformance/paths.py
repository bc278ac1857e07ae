"""The turns on a session's path, as the trace means it, while it is moved, rewound and forked.

Pure. Source: clauses NAV-2, NAV-3, CUT-6, RD-4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from forkproof.conformance.trace.base import UnknownName
from forkproof.conformance.trace.model import ImportedTurn

__all__ = ["imported_order", "imported_paths", "moved", "rewound"]


def moved(item: str, marks: Mapping[str, Sequence[str]], turn_of_call: Mapping[str, str]) -> list[str]:
    """The path of a session that was moved to this item.

    `marks` holds, by turn, compaction or branch, the path that it stood at the end of. Behind a user message's parent
    it is gone on, else behind the item itself.
    """
    owner, _, kind = item.partition(".")
    path = list(marks.get(turn_of_call.get(owner, owner), ()))
    return path[:-1] if kind.startswith("user") else path


def rewound(turn: str, marks: Mapping[str, Sequence[str]]) -> list[str]:
    """The path of a session that was rewound to before this turn."""
    return list(marks.get(turn, ()))[:-1]


def imported_paths(turns: Sequence[ImportedTurn]) -> dict[str, list[str]]:
    """The path of each imported turn, itself included; the last one is the path where the session then stands.

    A chain that is broken begins with its orphan; one that goes in a circle begins with its turn that is stored first.
    """
    if not turns:
        return {}
    behind: dict[str, str | None] = {}
    for number, turn in enumerate(turns):
        before = turns[number - 1].turn if number else None
        behind[turn.turn] = None if isinstance(turn.behind, UnknownName) else turn.behind or before
    places = {turn: number for number, turn in enumerate(behind)}
    paths = {turn: _path(turn, behind, places) for turn in behind}
    inner = {path[-2] for path in paths.values() if len(path) > 1}
    ends = [turn for turn in behind if turn not in inner]
    return {**{turn: path for turn, path in paths.items() if turn != ends[-1]}, ends[-1]: paths[ends[-1]]}


def imported_order(turns: Sequence[ImportedTurn]) -> list[str]:
    """The imported turns, each behind the one that it goes on from."""
    paths = imported_paths(turns)
    return sorted((turn.turn for turn in turns), key=lambda turn: len(paths[turn]))


def _path(turn: str, behind: Mapping[str, str | None], places: Mapping[str, int]) -> list[str]:
    path: list[str] = []
    at: str | None = turn
    while at is not None and at not in path:
        path.append(at)
        at = behind[at]
    if at is not None:
        first = min(path[path.index(at) :], key=places.__getitem__)
        path = path[: path.index(first) + 1]
    return path[::-1]
