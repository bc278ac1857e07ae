"""What a fork copies, and what it says of itself. Source: clauses REC-1 to REC-10, CUT-1 to CUT-7, SNAP-4, SET-1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from forkproof.reference.naive.items import Item, turn_items, turns
from forkproof.reference.naive.session import Session
from forkproof.reference.prompt import Text

__all__ = ["Asked", "Prefix", "cut_out", "record_of"]


class Asked(NamedTuple):
    """What a fork asks for: before or after a turn, or the head; where its tools run; settings that win."""

    kind: str
    turn: str
    directory: str
    isolated: bool
    overrides: Mapping[str, str]


class Prefix(NamedTuple):
    """A copy of the items up to the cut, the cut as the record states it, and the text to edit."""

    items: list[Item]
    cut: dict[str, Any]
    editor: str = ""


def cut_out(items: list[Item], kind: str, turn: str, running: str, busy_source: str) -> Prefix | None:
    """The prefix of a cut; `running` is the id of the turn in flight, if there is one. None: there is no such cut."""
    if kind == "head" and not running:
        return Prefix(list(items), {"head": True})
    if kind == "head" and busy_source == "interrupt":
        return Prefix(list(items), {"interrupted": running})
    if kind == "head":
        start = next(index for index, item in enumerate(items) if item.turn == running)
        before = items[start - 1].turn if start else ""
        return Prefix(items[:start], {"after": before} if before else {"before": running})
    place = turn_items(items, turn)
    if place is None or turn not in turns(items):
        return None
    start, end = place
    if kind == "before":
        return Prefix(items[:start], {"before": turn}, items[start].text)
    # After navigation a path may go on right behind the turn's last answer, so that it does not hold the turn's end.
    last = items[end - 1]
    answered = last.kind == "answer" and end < len(items) and all(isinstance(part, Text) for part in last.parts)
    return Prefix(items[:end], {"after": turn}) if last.kind == "end" or answered else None


def record_of(
    source: Session, child: Session, asked: Asked, prefix: Prefix, settings: dict[str, tuple[str, str]]
) -> dict[str, Any]:
    """The fork record."""
    summaries = [item.id for item in prefix.items if item.kind == "summary"]
    elsewhere = "isolated" if asked.isolated else "other"
    return {
        "session": child.id,
        **(child.lineage or {}),
        "settings": settings,
        "checkpoint": summaries[-1] if summaries else "none",
        "directory": asked.directory,
        "workspace": "shared" if asked.directory == source.directory else elsewhere,
        "snapshot": "all files" if asked.isolated else None,
        "editor": prefix.editor,
        "grants": (),
    }
