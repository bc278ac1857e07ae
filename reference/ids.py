"""Ids: new names for sessions, turns, entries and compactions. Injected; the default counts: equal runs are equal."""

from __future__ import annotations

from itertools import count
from typing import Protocol

__all__ = ["CountedIds", "Ids"]


class Ids(Protocol):
    """A source of names, each of which was never given out before (clauses REC-2, ATO-7)."""

    def session(self) -> str:
        """A new session's id."""
        ...

    def turn(self) -> str:
        """A new turn's id."""
        ...

    def entry(self) -> str:
        """A new entry's id."""
        ...

    def compaction(self) -> str:
        """The id of a new checkpoint entry."""
        ...


class CountedIds:
    """`session-1`, `turn-1`, ... each kind counted on its own."""

    def __init__(self) -> None:
        self._sessions = count(1)
        self._turns = count(1)
        self._entries = count(1)
        self._compactions = count(1)

    def session(self) -> str:
        """The next session's id."""
        return f"session-{next(self._sessions)}"

    def turn(self) -> str:
        """The next turn's id."""
        return f"turn-{next(self._turns)}"

    def entry(self) -> str:
        """The next entry's id."""
        return f"entry-{next(self._entries)}"

    def compaction(self) -> str:
        """The next compaction's id."""
        return f"compaction-{next(self._compactions)}"
