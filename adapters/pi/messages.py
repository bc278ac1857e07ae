"""pi's messages and session entries in the canonical form.

Source: pi's docs/session-format.md and docs/message-types.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from forkproof.adapters.prompt import Message, Part, Reasoning, Text, ToolCall, ToolResult
from forkproof.adapters.readings import Entry, TreeNode

__all__ = ["entry", "message", "nodes", "seconds", "words"]


def words(content: Any) -> str:
    """The text of a message's content, which is a string or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, Sequence) else ()
    return "".join(str(p["text"]) for p in parts if isinstance(p, Mapping) and p.get("type") == "text" and "text" in p)


def message(told: Mapping[str, Any]) -> Message | None:
    """One message as pi's listing or session file holds it; None for one that the model does not see."""
    match told:
        case {"role": "user" | "custom", "content": content}:
            return Message("user", (Text(words(content)),))
        case {"role": "system", "content": content}:
            return Message("system", (Text(words(content)),))
        case {"role": "assistant", "content": content}:
            return Message("assistant", tuple(_parts(content)))
        case {"role": "toolResult", "toolCallId": str(call), "content": content}:
            return Message("tool", (ToolResult(call, words(content)),))
        case {"role": "branchSummary" | "compactionSummary", "summary": str(summary)}:
            return Message("user", (Text(summary),))
        case _:
            return None


def _parts(content: Any) -> Iterator[Part]:
    for part in content if isinstance(content, Sequence) and not isinstance(content, str) else ():
        match part:
            case {"type": "text", "text": str(text)}:
                yield Text(text)
            case {"type": "thinking", "thinking": str(thought)}:
                yield Reasoning(thought, str(part.get("thinkingSignature") or ""))
            case {"type": "toolCall", "id": str(id_), "name": str(name)}:
                # Over Responses pi joins the provider's two ids of a call.
                yield ToolCall(id_.partition("|")[0], name, part.get("arguments") or {})


def entry(told: Mapping[str, Any]) -> Entry:
    """One entry of a session."""
    left = told.get("fromId") if told.get("type") == "branch_summary" else None
    parent = told.get("parentId")
    return Entry(
        id=str(told.get("id")),
        parent=parent if isinstance(parent, str) else None,
        message=_said(told),
        left=left if isinstance(left, str) and left != "root" else None,
        at=seconds(told.get("timestamp")),
    )


def _said(told: Mapping[str, Any]) -> Message | None:
    match told:
        case {"type": "message", "message": Mapping() as held}:
            return message(held)
        case {"type": "compaction" | "branch_summary", "summary": str(summary)}:
            return Message("user", (Text(summary),))
        case {"type": "custom_message", "content": content}:
            return Message("user", (Text(words(content)),))
        case {"type": "context_edit", "replacement": {"content": content}}:
            return Message("user", (Text(words(content)),))
        case _:
            return None


def nodes(forest: Iterable[Mapping[str, Any]]) -> Iterator[TreeNode]:
    """Every node of `get_tree`'s forest, parents first, without recursion: a chain is as deep as a session is long."""
    left: list[tuple[Mapping[str, Any], str | None]] = [(node, None) for node in forest]
    while left:
        node, under = left.pop()
        own = entry(node["entry"])
        yield TreeNode(own, under, node.get("label") or None, seconds(node.get("labelTimestamp")))
        left.extend((child, own.id) for child in node.get("children") or ())


def seconds(stamp: Any) -> float | None:
    """A time in ISO 8601 as seconds since the epoch; None for what is no such time."""
    try:
        return datetime.fromisoformat(stamp).timestamp() if isinstance(stamp, str) else None
    except ValueError:
        return None
