"""Navigation: where a session stands after an earlier entry was selected, and what it leaves behind.

Source: clauses NAV-1 to NAV-8; seed 003, "Inside /tree" and "What leaving a branch costs you".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from forkproof.reference.entries import BranchLeft, Entry, UserSaid, ancestor_at
from forkproof.reference.refusal import Refusal

__all__ = ["Selected", "farewell", "left_behind", "movable", "select", "summarizes"]


class Selected(NamedTuple):
    """Where the session goes on (None: before everything), and the text that is put back for editing."""

    position: Entry | None
    editor: str = ""


def select(entry: Entry) -> Selected:
    """A person's message is taken back for editing, so it goes on before it; anything else is gone on from."""
    body = entry.body
    return Selected(entry.parent, body.text) if isinstance(body, UserSaid) else Selected(entry)


def movable(id_: str, *, busy: bool) -> Refusal | None:
    """A session can't be moved while something is under way in it (clause NAV-7)."""
    return Refusal("busy", f"session {id_} is busy, so it stays where it is") if busy else None


def left_behind(old: Entry | None, new: Entry | None) -> list[Entry]:
    """The entries from the common ancestor of both positions (excluded) to the old one, oldest first (NAV-8)."""
    common = _common_ancestor(old, new)
    left: list[Entry] = []
    entry = old
    while entry is not common and entry is not None:
        left.append(entry)
        entry = entry.parent
    left.reverse()
    return left


def _common_ancestor(one: Entry | None, other: Entry | None) -> Entry | None:
    if one is None or other is None:
        return None
    depth = min(one.depth, other.depth)
    first, second = ancestor_at(one, depth), ancestor_at(other, depth)
    while first is not second and first is not None and second is not None:
        first, second = first.parent, second.parent
    return first if first is second else None


def summarizes(left: Sequence[Entry], *, accepted: bool) -> bool:
    """Whether a summary is made: where the person accepts one and something was said there (clause NAV-6)."""
    return accepted and any(entry.message is not None for entry in left)


def farewell(session: str, old: Entry, summary: str) -> BranchLeft:
    """The summary of what was left. It names the leaf that was left; its parent will be where one went on (NAV-5)."""
    return BranchLeft(summary, session, old.id)
