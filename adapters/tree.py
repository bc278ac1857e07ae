"""What the suite asks of a harness about the tree of a session: to move in it, to name and edit entries, to read it.

Source: design sections 3 and 5; clauses NAV-1 to NAV-10, LBL-1 to LBL-3, RD-1 to RD-6, OPS-3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

__all__ = [
    "Branch",
    "Clone",
    "EditContext",
    "EntryRef",
    "ListSessions",
    "ReadCutPoints",
    "ReadEntries",
    "ReadHistory",
    "ReadTree",
    "Rewind",
    "SetLabel",
    "TreeOperation",
]


@dataclass(frozen=True, slots=True)
class EntryRef:
    """An entry that was made before, as a place in a session's tree.

    `item` is its name in the trace, `marker` text that stands in it and nowhere else: a marker, or a call's id on the
    wire. `native` is the harness's id of it, where its listing gave one. An entry with `exists=False` never was: the
    adapter makes up a plausible id.
    """

    item: str
    marker: str
    native: str | None = None
    exists: bool = True


@dataclass(frozen=True, slots=True)
class Branch:
    """Go on from an earlier entry of this session (capability `branch`); `summary`: summarize the branch that is left.

    Answered by `Moved`.
    """

    session: str
    to: EntryRef
    summary: bool = False


@dataclass(frozen=True, slots=True)
class Rewind:
    """Take the last turns off a session, from the one with this user message on (capability `rewind`).

    `turns` counts them; `marker` stands in that user message, `native` is the turn's id where the harness gave one.
    Answered by `Moved`.
    """

    session: str
    turns: int
    marker: str
    native: str | None = None


@dataclass(frozen=True, slots=True)
class Clone:
    """Copy the active path at the session's position to a new session in its directory (capability `clone`).

    Answered by `Forked`.
    """

    session: str
    directory: str


@dataclass(frozen=True, slots=True)
class SetLabel:
    """Name an entry (capability `label`); None takes the name away. Answered by `Acknowledged`."""

    session: str
    entry: EntryRef
    text: str | None


@dataclass(frozen=True, slots=True)
class EditContext:
    """From the session's position on, show the model this text in place of what an entry says.

    Capability `edit-context`; answered by `Acknowledged`.
    """

    session: str
    entry: EntryRef
    text: str


@dataclass(frozen=True, slots=True)
class ReadEntries:
    """All entries of a session, or those strictly later than the one with the id `since` (capability `entries`).

    Answered by `EntriesRead`, or `Refused` for a cursor that the harness does not know.
    """

    session: str
    since: str | None = None


@dataclass(frozen=True, slots=True)
class ReadTree:
    """All entries of a session as a forest (capability `tree`). Answered by `TreeRead`."""

    session: str


@dataclass(frozen=True, slots=True)
class ReadHistory:
    """The conversation that a session shows (capability `history`). Answered by `HistoryRead`."""

    session: str


@dataclass(frozen=True, slots=True)
class ReadCutPoints:
    """The points that the harness offers to fork this session at (capability `fork.points`).

    Answered by `CutPointsRead`.
    """

    session: str


@dataclass(frozen=True, slots=True)
class ListSessions:
    """The sessions that a person can open (capability `sessions`). Answered by `SessionsRead`."""


TreeOperation: TypeAlias = (
    Branch
    | Rewind
    | Clone
    | SetLabel
    | EditContext
    | ReadEntries
    | ReadTree
    | ReadHistory
    | ReadCutPoints
    | ListSessions
)
