"""Sessions: an id, a leaf and a header. Source: design section 10; clauses REC-3, REC-4."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from forkproof.reference.cut import Applied
from forkproof.reference.entries import Entry
from forkproof.reference.inherit import Value
from forkproof.reference.labels import Label

__all__ = ["Begun", "Header", "Lineage", "Session", "revision_of"]

Edge: TypeAlias = Literal["fork", "delegate"]


class Lineage(NamedTuple):
    """Where a session came from: its immediate source, the source's revision at that moment, and the cut applied.

    `number` counts the sessions that were made from the same source, from 1.
    """

    source: str
    revision: str
    cut: Applied
    edge: Edge = "fork"
    number: int = 0


class Begun(NamedTuple):
    """Where a fork's settings come from: its source's header, the last entry it inherited, what was given or pinned."""

    source: Header
    leaf: Entry | None
    given: Mapping[str, Value]


class Header(NamedTuple):
    """What is fixed when a session is made. `lineage` is None for a session that was not forked.

    `settings` are those that it began with, `begun` tells how a fork came to them. `family` is the id of the session
    that all of its line began with, empty for that one itself.
    """

    id: str
    directory: str
    settings: Mapping[str, Value]
    lineage: Lineage | None = None
    family: str = ""
    begun: Begun | None = None


@dataclass(slots=True, eq=False)
class Session:
    """One session: an entry where it stands, and what was recorded in it.

    `leaf` is the active position: the next entry goes behind it. It is mostly a leaf of the tree, but navigation may
    have moved it back to an entry that has others behind it, or before all (None). `base` is where a fork began;
    `written` holds what was recorded in this session since, in append order, whatever branch it is on. `labels` are
    those that stand, by the id of the entry that bears them. `context` is what the start hooks said at its newest
    start. `children` counts the sessions made from this one. `moved` holds the user messages of turns that were written
    anew in this session, by the turn.
    """

    header: Header
    leaf: Entry | None = field(default=None, repr=False)
    written: list[Entry] = field(default_factory=list, repr=False)
    labels: dict[str, Label] = field(default_factory=dict, repr=False)
    context: tuple[str, ...] = ()
    children: int = 0
    moved: dict[str, Entry] = field(default_factory=dict, repr=False)
    base: Entry | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """A session begins where its leaf is."""
        self.base = self.leaf


def revision_of(leaf: Entry | None) -> str:
    """The name of a session's state: its leaf's id, which fixes the whole path, or "empty" (clause REC-9)."""
    return "empty" if leaf is None else leaf.id
