"""Items: a session's history is a plain list of them, and a fork copies the list."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from forkproof.reference.prompt import Text, ToolCall

__all__ = ["Item", "context", "edited", "speaks", "turn_items", "turns"]


@dataclass(frozen=True)
class Item:
    """Something that happened.

    user: the person's message, in `text`; steered: what they said into a turn that ran. answer: one answer of the
    model, in `parts`. result: what came of the call `call`, in `text`. end: the turn is over, and how, in `text`
    (end_turn, failed, cancelled, or forked where the turn ran on elsewhere). summary: a compaction; its summary is in
    `text`, `covers` names the conversation and the first and last item that it covers (clause CMP-8), and `kept` is a
    copy of the items that stay word for word (CMP-6). left: a branch was left; `covers` names the conversation and the
    item where it stood (NAV-5). label, edit: the item `target` got the name, or other words for the model, in `text`.
    set: the session `call` has the settings `chosen` from here on. `words` are such other words, where an edit counts.
    """

    id: str
    kind: Literal["user", "steered", "answer", "result", "end", "summary", "left", "label", "edit", "set"]
    turn: str = ""
    text: str = ""
    parts: tuple[Text | ToolCall, ...] = ()
    call: str = ""
    target: str = ""
    covers: tuple[str, str, str] = ("", "", "")
    kept: list[Item] = field(default_factory=list)
    words: str | None = None
    chosen: dict[str, str] = field(default_factory=dict)


def context(path: list[Item]) -> list[Item]:
    """What the model gets to see: all of it, or the newest summary, what it keeps, and what came after (CMP-2).

    Items that were edited on this path have their newest words (LBL-3).
    """
    shown = list(path)
    for index in reversed(range(len(path))):
        if path[index].kind == "summary":
            shown = [path[index], *path[index].kept, *path[index + 1 :]]
            break
    return edited(shown, path)


def edited(shown: list[Item], path: list[Item]) -> list[Item]:
    """These items with the words that the edits on the path give them."""
    words = {item.target: item.text for item in path if item.kind == "edit"}
    return [replace(item, words=words.get(item.id)) for item in shown]


def speaks(item: Item) -> bool:
    """Whether the model reads this item."""
    if item.kind == "end":
        return item.text not in ("end_turn", "failed")
    return item.kind not in ("label", "edit", "set")


def turns(items: list[Item]) -> list[str]:
    """The ids of the turns that begin in these items, oldest first."""
    return [item.turn for item in items if item.kind == "user"]


def turn_items(items: list[Item], turn: str) -> tuple[int, int] | None:
    """The places of a turn's first item, and behind its last one; None if it isn't there."""
    places = [index for index, item in enumerate(items) if item.turn == turn]
    if not turn or not places:
        return None
    return places[0], places[-1] + 1
