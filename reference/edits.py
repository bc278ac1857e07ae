"""Context edits: what the model is shown in place of what an earlier entry said.

Source: clause LBL-3; seed 003, "Branch-relative state".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from forkproof.reference.entries import Edited, Entry, newest_edit
from forkproof.reference.prompt import Message, Part, Text, ToolResult

__all__ = ["shown"]


def shown(context: Sequence[Entry], leaf: Entry | None) -> Sequence[Entry]:
    """The context as the edits on the path that ends at `leaf` have it; the newest edit of an entry counts.

    The entries themselves stay as they are: a path without the edit shows the original. O(1) where there is no edit.
    """
    edit = newest_edit(leaf)
    if edit is None:
        return context
    texts: dict[str, str] = {}
    while edit is not None:
        if isinstance(edit.body, Edited):
            texts.setdefault(edit.body.target, edit.body.text)
        edit = edit.edit
    return [_edited(entry, texts[entry.id]) if entry.id in texts else entry for entry in context]


def _edited(entry: Entry, text: str) -> Entry:
    """The entry with other words, and the calls or the call id that it had, so that pairing holds."""
    message = entry.message
    if message is None:
        return entry
    kept = [part for part in message.parts if not isinstance(part, Text)]
    words: list[Part] = [ToolResult(part.id, text) if isinstance(part, ToolResult) else part for part in kept]
    if message.role != "tool":
        words.insert(0, Text(text))
    return replace(entry, message=Message(message.role, tuple(words)))
