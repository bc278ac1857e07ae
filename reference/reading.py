"""Reading a session from outside: its listing, its tree, its history, and the points that it can be cut at.

Pure, and each a function of the session as it stands. Source: clauses RD-1 to RD-6, TRE-1, TRE-3; seed 003, "Reading
the tree from outside".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from forkproof.reference.entries import Entry, UserSaid
from forkproof.reference.labels import Label
from forkproof.reference.project import full_path
from forkproof.reference.refusal import Refusal
from forkproof.reference.session import Session

__all__ = ["Node", "behind", "forest", "history", "listing", "points", "standing"]


class Node(NamedTuple):
    """One entry in the tree reading: `under` is the id of the node that it hangs below, None for a root."""

    entry: Entry
    under: str | None
    label: str = ""
    labelled_at: int | None = None


def listing(session: Session) -> list[Entry]:
    """Every entry in append order: first what a fork began with, then all that was recorded in the session (RD-1).

    What a compaction covers and what was left by navigation is part of it; the header is no entry.
    """
    return [*full_path(session.base), *session.written]


def behind(entries: Sequence[Entry], cursor: str) -> list[Entry] | Refusal:
    """The entries strictly later than the one with this id; a cursor that is none of them is an error (RD-2)."""
    for number, entry in enumerate(entries):
        if entry.id == cursor:
            return list(entries[number + 1 :])
    return Refusal("unknown-cut", f"no entry has the id {cursor!r}")


def standing(session: Session) -> str | None:
    """The id of the entry where the session stands; None where it stands before everything (RD-3)."""
    return None if session.leaf is None else session.leaf.id


def forest(entries: Sequence[Entry], labels: Mapping[str, Label]) -> list[Node]:
    """Every entry with the one that it hangs below; one whose parent is not among them is a root (RD-4)."""
    known = {entry.id for entry in entries}
    return [_node(entry, known, labels.get(entry.id)) for entry in entries]


def _node(entry: Entry, known: set[str], label: Label | None) -> Node:
    parent = entry.parent
    under = parent.id if parent is not None and parent.id in known else None
    return Node(entry, under) if label is None else Node(entry, under, label.text, label.at)


def history(_session: Session, context: Sequence[Entry]) -> list[Entry]:
    """What a reader is shown of the conversation: what the model's next request will hold (RD-5, TRE-3)."""
    return [entry for entry in context if entry.message is not None]


def points(session: Session) -> list[Entry]:
    """The user messages on the session's path, oldest first: where it can be cut (RD-6, TRE-3)."""
    return [entry for entry in full_path(session.leaf) if isinstance(entry.body, UserSaid)]
