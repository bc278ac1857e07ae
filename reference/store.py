"""The store: an append-only log of rows, of which a process that dies keeps what was flushed.

Sources: clauses ATO-3, ATO-4, REC-3, SNAP-2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from forkproof.reference.entries import Answered, Body, Entry
from forkproof.reference.record import Record
from forkproof.reference.session import Header

__all__ = ["CrashPoint", "Died", "Made", "Moved", "Rebased", "Removed", "Row", "Store", "Wrote", "flushed_at_once"]


class Made(NamedTuple):
    """A session was made. A fork has its whole beginning in this one row, so that it is there or it is not.

    `leaf` is where it starts. `record` is the fork's, and `request` names who asked for it (empty: nobody will again).
    """

    header: Header
    leaf: Entry | None
    record: Record | None = None
    request: str = ""


class Wrote(NamedTuple):
    """An entry was written in a session, which stands there now. An entry names its parent, and never changes."""

    session: str
    entry: Entry


class Moved(NamedTuple):
    """A session's leaf was put elsewhere without anything being written."""

    session: str
    leaf: Entry | None


class Rebased(NamedTuple):
    """What a session holds behind this entry (None: all of it) was taken out of it; what is kept is written again."""

    session: str
    leaf: Entry | None


class Removed(NamedTuple):
    """A session was deleted."""

    session: str


CrashPoint: TypeAlias = Literal["before-commit", "during-commit", "after-commit"]
"""Where a fork's process dies: before it wrote anything, before what it wrote is safe, or before it could answer."""


class Died(Exception):
    """The process died while it carried something out; nobody hears of the outcome."""


Row: TypeAlias = Made | Wrote | Moved | Rebased | Removed


class Store:
    """Rows in the order in which they came to be. `rows` are safe; what is not yet flushed goes with the process."""

    def __init__(self, rows: Sequence[Row] = ()) -> None:
        self._rows: list[Row] = list(rows)
        self._waiting: list[Row] = []
        self._closed = False

    def rows(self) -> Sequence[Row]:
        """What a new process would find."""
        return tuple(self._rows)

    def write(self, row: Row) -> None:
        """Keep a row until the next flush."""
        self._waiting.append(row)

    def flush(self) -> None:
        """Make everything that was written safe, all at once."""
        if not self._closed:
            self._rows += self._waiting
        self._waiting.clear()

    def close(self) -> None:
        """The process is gone: what it did not flush is lost, and it writes nothing any more."""
        self._closed = True
        self._waiting.clear()

    def open_again(self) -> None:
        """Another process took over."""
        self._closed = False


def flushed_at_once(body: Body) -> bool:
    """Whether an entry is flushed when it is written.

    Everything is that a person or a tool can have seen, but for the model's last words, which go with the turn's end.
    """
    return not (isinstance(body, Answered) and not body.calls)
