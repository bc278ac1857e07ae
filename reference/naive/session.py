"""Sessions and what is under way in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from forkproof.reference.naive.answers import No, Use
from forkproof.reference.naive.files import Files
from forkproof.reference.naive.items import Item

__all__ = ["Fork", "Session", "Under"]


@dataclass
class Fork:
    """A fork that was asked for. `record` is None while it waits for the source's turn."""

    record: dict[str, Any] | No | None = None


@dataclass
class Under:
    """A turn or a compaction under way. `stop` says how it ended, and is None until then.

    waiting: the calls that have not ended. forks: what to do when it is over.
    """

    id: str
    kind: str
    stop: str | No | None = None
    waiting: list[Use] = field(default_factory=list)
    forks: list[Any] = field(default_factory=list)


@dataclass
class Session:
    """A session: everything in it is its own, apart from shared files."""

    id: str
    directory: str
    files: Files
    settings: dict[str, str]
    items: list[Item] = field(default_factory=list)
    lineage: dict[str, Any] | None = None
    under: Under | None = None
