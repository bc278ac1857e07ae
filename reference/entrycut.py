"""Cuts at an entry: the place behind it, and what becomes of a place between a call and its result.

Source: clauses CUT-2, CUT-5, TOOL-1, TOOL-7, REC-6; seed 000, "these boundaries deserve care around tool pairs".
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from forkproof.reference.cut import Place
from forkproof.reference.entries import Answered, Entry, ToolEnded, TurnEnded
from forkproof.reference.refusal import Refusal

__all__ = ["CallGroup", "cut_at", "pair_safe"]

CallGroup: TypeAlias = Literal["refuse", "before", "after", "repair"]
"""What a cut does that lies between the calls of one answer and their results (clause TOOL-7)."""


def cut_at(leaf: Entry | None, id_: str) -> Place | Refusal:
    """The place right behind the entry `id_` on the path that ends at `leaf`; the entry is in the child.

    The end of a turn goes with its last entry, so that a turn which is whole is known to be. O(n).
    """
    entry, behind = leaf, None
    while entry is not None and entry.id != id_:
        entry, behind = entry.parent, entry
    if entry is None:
        return Refusal("unknown-cut", f"the history of this session holds no entry {id_!r}")
    return _behind(entry, behind)


def _behind(entry: Entry, following: Entry | None) -> Place:
    applied = {"at": entry.id}
    if following is not None and isinstance(following.body, TurnEnded):
        return Place(following, applied)
    whole = isinstance(entry.body, TurnEnded) or not entry.turn
    return Place(entry, applied, open_turn="" if whole else entry.turn)


def pair_safe(place: Place, leaf: Entry | None, choice: CallGroup) -> Place | Refusal:
    """The same place, or where it lies between calls and their results, what `choice` makes of it.

    The place that is taken in its stead says so in the record (REC-6).
    """
    answer = _unanswered(place.leaf)
    if answer is None or choice == "repair":
        return place
    if choice == "before" and answer.parent is not None:
        return _behind(answer.parent, None)
    last = _group_end(answer, leaf) if choice == "after" else None
    if last is not None:
        return last
    return Refusal("unknown-cut", "this entry lies between tool calls and their results")


def _unanswered(leaf: Entry | None) -> Entry | None:
    """The answer of the model whose calls have not all ended at this leaf."""
    ended: set[str] = set()
    entry = leaf
    while entry is not None and (isinstance(entry.body, ToolEnded) or entry.message is None):
        if isinstance(entry.body, TurnEnded):
            return None
        if isinstance(entry.body, ToolEnded):
            ended.add(entry.body.call)
        entry = entry.parent
    if entry is None or not isinstance(entry.body, Answered) or ended.issuperset(entry.body.calls):
        return None
    return entry


def _group_end(answer: Entry, leaf: Entry | None) -> Place | None:
    """The place behind the last result of this answer's calls, on the path to `leaf`; None if one is not there yet.

    Where the turn ended before all had come, nothing more will come, so it is the place behind that end.
    """
    path: list[Entry] = []
    entry = leaf
    while entry is not None and entry is not answer:
        path.append(entry)
        entry = entry.parent
    last = answer
    due = set(answer.body.calls) if isinstance(answer.body, Answered) else set()
    while path:
        entry = path.pop()
        if not isinstance(entry.body, ToolEnded):
            if isinstance(entry.body, TurnEnded):
                return _behind(last, entry)
            if entry.message is not None:
                return None
            continue
        last = entry
        due.discard(entry.body.call)
        if not due:
            return _behind(entry, path[-1] if path else None)
    return None
