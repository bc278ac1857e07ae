"""Sessions and what is under way in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from forkproof.reference.naive.answers import No, Use
from forkproof.reference.naive.files import Files
from forkproof.reference.naive.items import Item

__all__ = ["Fork", "Held", "Label", "Session", "Under"]


@dataclass
class Fork:
    """A fork that was asked for. `record` is None while it waits for the source's turn."""

    record: dict[str, Any] | No | None = None


@dataclass
class Held:
    """A message that waits until nothing is under way. `turn` is its turn, once it began."""

    text: str
    turn: Under | No | None = None


@dataclass
class Under:
    """A turn, a compaction or a summary of a branch under way. `stop` says how it ended, and is None until then.

    waiting: the calls that have not ended. heard: what was said into the turn. forks: those that wait for its end.
    """

    id: str
    kind: str
    stop: Any = None
    waiting: list[Use] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)
    forks: list[Any] = field(default_factory=list)


@dataclass
class Label:
    """A name of an item: who set it, and when."""

    text: str
    at: str
    setter: str


@dataclass
class Session:
    """A session: everything in it is its own, apart from shared files.

    path: where it stands, as all that led there. log: everything that was recorded, in that order. ways: for each item
    the path that ends with it. source, begun, given: of a fork, the session that it was made from, the last item it
    began with, and the settings that are its own wherever it stands.
    """

    id: str
    directory: str
    files: Files
    settings: dict[str, str]
    path: list[Item] = field(default_factory=list)
    log: list[Item] = field(default_factory=list)
    ways: dict[str, list[Item]] = field(default_factory=dict)
    labels: dict[str, Label] = field(default_factory=dict)
    lineage: dict[str, Any] | None = None
    source: Session | None = None
    begun: str = ""
    given: dict[str, str] = field(default_factory=dict)
    under: Under | None = None
    queue: list[Held] = field(default_factory=list)

    def add(self, item: Item) -> None:
        """Record something where the session stands."""
        self.path = [*self.path, item]
        self.log.append(item)
        self.ways[item.id] = self.path

    def begin_with(self, items: list[Item]) -> None:
        """Start with a copy of these."""
        for item in items:
            self.add(item)
