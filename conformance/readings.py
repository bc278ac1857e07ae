"""What was read of a session after a step, and what has to be read for a trace's expectations.

The player reads, the judge looks; entries go by the items that they hold. Source: design section 3; clauses RD-1 to
RD-6.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from forkproof.adapters.model.items import items_of
from forkproof.adapters.model.markers import Markers
from forkproof.adapters.prompt import Message, Prompt
from forkproof.adapters.protocol import Answer
from forkproof.conformance.trace.model import Expectation, Trace

__all__ = ["NOTHING", "Readings", "Wanted", "names_in", "wanted_readings"]

_WORD_OF: Final[Mapping[str, str]] = {
    **dict.fromkeys(("entries", "entries_have", "entry", "leaf"), "entries"),
    **dict.fromkeys(("paths", "labels"), "tree"),
    **dict.fromkeys(("history", "shown_as_sent"), "history"),
    "cut_points": "points",
    **dict.fromkeys(("sessions", "lineage", "titles_differ"), "sessions"),
}
_LABEL: Final = ".label"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to read after a step: kinds of readings, listings since these items, and one since an unknown entry."""

    words: frozenset[str] = frozenset()
    since: tuple[str, ...] = ()
    unknown: bool = False


@dataclass(frozen=True, slots=True)
class Readings:
    """The answers to what was read of the step's session; `since` by the item that was the cursor."""

    read: Mapping[str, Answer] = field(default_factory=dict)
    since: Mapping[str, Answer] = field(default_factory=dict)
    unknown: Answer | None = None


NOTHING: Final = Readings()


def wanted_readings(trace: Trace) -> list[Wanted]:
    """What each step has to read.

    Where a cursor is used anywhere, every step reads the listing, so that the cursor's id is one from before.
    """
    expected = [[e for entry in step.expect for e in entry.values()] for step in trace.steps]
    cursors = any(e.entries_since for step in expected for e in step)
    return [_wanted(step, cursors=cursors) for step in expected]


def _wanted(expected: list[Expectation], *, cursors: bool) -> Wanted:
    words = {_WORD_OF[kind] for e in expected for kind in e.kinds() if kind in _WORD_OF}
    if cursors or "points" in words:
        words.add("entries")
    since = dict.fromkeys(item for e in expected for item in e.entries_since or ())
    return Wanted(frozenset(words), tuple(since), any(e.unknown_cursor for e in expected))


def names_in(message: Message | None, markers: Markers) -> list[str]:
    """The items that one message holds. A label's own words are none: they are of no entry's content."""
    if message is None:
        return []
    return [item.name for item in items_of(Prompt((message,)), markers) if not item.name.endswith(_LABEL)]
