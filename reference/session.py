"""Sessions: an id, a leaf and a header. Source: design section 10; clauses REC-3, REC-4."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from forkproof.reference.cut import Applied
from forkproof.reference.entries import Entry

__all__ = ["Header", "Lineage", "Session", "revision_of"]

Edge: TypeAlias = Literal["fork"]


@dataclass(frozen=True, slots=True)
class Lineage:
    """Where a session came from: its immediate source, the source's revision at that moment, and the cut applied."""

    source: str
    revision: str
    cut: Applied
    edge: Edge = "fork"


@dataclass(frozen=True, slots=True)
class Header:
    """What is fixed when a session is made. `lineage` is None for a session that was not forked."""

    id: str
    directory: str
    settings: Mapping[str, str]
    lineage: Lineage | None = None


@dataclass(slots=True, eq=False)
class Session:
    """One session: only its leaf ever moves."""

    header: Header
    leaf: Entry | None = field(default=None, repr=False)


def revision_of(leaf: Entry | None) -> str:
    """The name of a session's state: its leaf's id, which fixes the whole path, or "empty" (clause REC-9)."""
    return "empty" if leaf is None else leaf.id
