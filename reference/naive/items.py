"""Items: a session's history is a plain list of them, and a fork copies the list."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from forkproof.reference.prompt import Text, ToolCall

__all__ = ["Item", "context", "turn_items", "turns"]


@dataclass(frozen=True)
class Item:
    """Something that happened.

    user: the person's message, in `text`. answer: one answer of the model, in `parts`. result: what came of the call
    `call`, in `text`. end: the turn is over, and how, in `text` (end_turn, failed, cancelled, or forked where the turn
    ran on elsewhere). summary: a compaction; its summary is in `text`, `covers` names the conversation and the first
    and last item that it covers (clause CMP-8), and `kept` is a copy of the items that stay word for word (CMP-6).
    """

    id: str
    kind: Literal["user", "answer", "result", "end", "summary"]
    turn: str = ""
    text: str = ""
    parts: tuple[Text | ToolCall, ...] = ()
    call: str = ""
    covers: tuple[str, str, str] = ("", "", "")
    kept: list[Item] = field(default_factory=list)


def context(items: list[Item]) -> list[Item]:
    """What the model gets to see: all of it, or the newest summary, what it keeps, and what came after (CMP-2)."""
    for index in reversed(range(len(items))):
        if items[index].kind == "summary":
            return [items[index], *items[index].kept, *items[index + 1 :]]
    return list(items)


def turns(items: list[Item]) -> list[str]:
    """The ids of the turns that begin in these items, oldest first."""
    return [item.turn for item in items if item.kind == "user"]


def turn_items(items: list[Item], turn: str) -> tuple[int, int] | None:
    """The places of a turn's first item, and behind its last one; None if it isn't there."""
    places = [index for index, item in enumerate(items) if item.turn == turn]
    if not turn or not places:
        return None
    return places[0], places[-1] + 1
