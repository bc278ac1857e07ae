"""What a harness shows of a session when it is read from outside, in its own ids. Source: clauses RD-1 to RD-6."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from forkproof.adapters.prompt import Message

__all__ = [
    "CutPoint",
    "CutPointsRead",
    "EntriesRead",
    "Entry",
    "HistoryRead",
    "Moved",
    "Reading",
    "SessionLine",
    "SessionsRead",
    "TreeNode",
    "TreeRead",
]


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry as the harness stores it.

    `parent` is the id of the entry that it is behind, None for a first one; `message` what it says in the canonical
    form, None for entries that say nothing (labels, settings, headers of turns). `left` is the id of the leaf that was
    left, for a branch summary. `at` is the time in seconds since the epoch, None where there is none.
    """

    id: str
    parent: str | None
    message: Message | None = None
    left: str | None = None
    at: float | None = None


@dataclass(frozen=True, slots=True)
class EntriesRead:
    """Entries in the harness's order, and the id of the one where the session stands (None: before all)."""

    entries: tuple[Entry, ...]
    leaf: str | None


@dataclass(frozen=True, slots=True)
class TreeNode:
    """One node: the entry, and the id of the node that the harness shows it under (None: it is a root).

    `label` is the entry's label, None without one; `labelled_at` the time at which it was set, in seconds.
    """

    entry: Entry
    under: str | None
    label: str | None = None
    labelled_at: float | None = None


@dataclass(frozen=True, slots=True)
class TreeRead:
    """Every node of the forest, in any order."""

    nodes: tuple[TreeNode, ...]


@dataclass(frozen=True, slots=True)
class HistoryRead:
    """The messages that the session shows, in order."""

    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class CutPoint:
    """One point that is offered: the id of its entry and the user message's text."""

    entry: str
    text: str


@dataclass(frozen=True, slots=True)
class CutPointsRead:
    """The points that are offered, in order."""

    points: tuple[CutPoint, ...]


@dataclass(frozen=True, slots=True)
class SessionLine:
    """What the list says of one session; None is what it does not say.

    `source` is the id of the immediate source, empty for a session that was not made from another (clause REC-3).
    """

    session: str
    title: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class SessionsRead:
    """The ids of the sessions that are listed, and what the list says of each, where it says more."""

    sessions: tuple[str, ...]
    lines: tuple[SessionLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Moved:
    """The session stands elsewhere: the text that is put back for editing, empty for none.

    `summary` is the id of the entry that tells of the branch that was left, where one was written.
    """

    editor: str = ""
    summary: str | None = None


Reading: TypeAlias = EntriesRead | TreeRead | HistoryRead | CutPointsRead | SessionsRead
