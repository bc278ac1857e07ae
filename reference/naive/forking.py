"""What a fork copies, and what it says of itself. Source: clauses REC-1 to REC-10, CUT-1 to CUT-7, SNAP-4, SET-1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from forkproof.reference.naive.items import Item, turn_items, turns
from forkproof.reference.naive.session import Session
from forkproof.reference.prompt import Text, ToolCall

__all__ = ["Asked", "Prefix", "cut_out", "record_of"]


_SILENT: Final = ("result", "label", "edit", "set")
"""What may stand between an answer's calls and the last of their results."""


class Asked(NamedTuple):
    """What a fork asks for: before or after a turn, at an item, or the head; where its tools run; settings that win.

    `turn` is the id of the turn, or of the item.
    """

    kind: str
    turn: str
    directory: str
    isolated: bool
    overrides: Mapping[str, str]


class Prefix(NamedTuple):
    """A copy of the items up to the cut, the cut as the record states it, and the text to edit.

    `open` is the turn that the cut goes through, if it does.
    """

    items: list[Item]
    cut: dict[str, Any]
    editor: str = ""
    open: str = ""


def cut_out(items: list[Item], kind: str, turn: str, running: str, busy_source: str, call_group: str) -> Prefix | None:
    """The prefix of a cut; `running` is the id of the turn in flight, if there is one. None: there is no such cut."""
    if kind == "head" and not running:
        return Prefix(list(items), {"head": True})
    if kind == "head" and busy_source == "interrupt":
        return Prefix(list(items), {"interrupted": running}, open=running)
    if kind == "head":
        start = next(index for index, item in enumerate(items) if item.turn == running)
        before = items[start - 1].turn if start else ""
        return Prefix(items[:start], {"after": before} if before else {"before": running})
    if kind == "at":
        places = [index for index, item in enumerate(items) if item.id == turn]
        return _pair_safe(items, places[0], call_group) if places else None
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


def _pair_safe(items: list[Item], index: int, call_group: str) -> Prefix | None:
    """The cut behind this item; where calls have no result yet there, what the policy makes of it (TOOL-7)."""
    answers = [place for place in range(index + 1) if items[place].kind not in _SILENT]
    if not answers or _missing(items, answers[-1], index) == 0 or call_group == "repair":
        return _behind(items, index)
    answer = answers[-1]
    if call_group == "before":
        return _behind(items, answer - 1, whole=False)
    if call_group == "after":
        for later in range(index + 1, len(items)):
            if _missing(items, answer, later) == 0:
                return _behind(items, later)
            if items[later].kind not in _SILENT:
                break
    return None


def _missing(items: list[Item], answer: int, index: int) -> int:
    """How many calls of the answer have no result up to the item at this index."""
    calls = {part.id for part in items[answer].parts if isinstance(part, ToolCall)}
    for item in items[answer + 1 : index + 2]:
        if item.kind == "end":
            return 0  # the turn is over, so nothing is to come any more
        if item.kind not in _SILENT:
            break
    return len(calls - {item.call for item in items[answer + 1 : index + 1] if item.kind == "result"})


def _behind(items: list[Item], index: int, *, whole: bool = True) -> Prefix:
    """The cut right behind this item; the end of a turn goes with its last item."""
    item = items[index]
    if whole and index + 1 < len(items) and items[index + 1].kind == "end":
        return Prefix(items[: index + 2], {"at": item.id})
    return Prefix(items[: index + 1], {"at": item.id}, open="" if item.kind == "end" else item.turn)


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
