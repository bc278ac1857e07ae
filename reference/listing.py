"""The list of sessions, as a person finds them. Sources: clauses REC-3, REC-4, REC-5, ISO-8."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from forkproof.reference.session import Header, Session

__all__ = ["Line", "lines", "title"]


class Line(NamedTuple):
    """One line of the list. `source` and `edge` are empty for a session that was not made from another."""

    session: str
    title: str
    source: str = ""
    edge: str = ""


def lines(sessions: Mapping[str, Session]) -> list[Line]:
    """All sessions, oldest first; a session is never hidden by one that was made from it (clause ISO-8)."""
    return [_line(session.header, sessions) for session in sessions.values()]


def _line(header: Header, sessions: Mapping[str, Session]) -> Line:
    lineage = header.lineage
    shown = title(header, sessions)
    return Line(header.id, shown) if lineage is None else Line(header.id, shown, lineage.source, lineage.edge)


def title(header: Header, sessions: Mapping[str, Session]) -> str:
    """Names the whole line: `conversation, fork 2, fork 1` is the first fork of the second one (clause REC-5).

    A source that was deleted is named by its id, and so is one that a damaged store names in a circle.
    """
    told: list[str] = []
    seen = {header.id}
    lineage = header.lineage
    while lineage is not None:
        told.append(f"{lineage.edge} {lineage.number}")
        source = sessions.get(lineage.source)
        if source is None or source.header.id in seen:
            told.append(lineage.source)
            return ", ".join(reversed(told))
        header = source.header
        seen.add(header.id)
        lineage = header.lineage
    return ", ".join((f"conversation {header.id}", *reversed(told)))
