"""A conversation as an agent shows it to its client: from the updates that it streams, live or in `session/load`.

Source: ACP, "Prompt Turn" and "Session Setup"; capability `history`, clause RD-5.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from forkproof.adapters.prompt import Message, Part, Reasoning, Role, Text, ToolCall, ToolResult

__all__ = ["Shown", "calls_in_a_row", "messages", "shown"]

_CHUNKS: Mapping[str, Role] = {
    "user_message_chunk": "user",
    "agent_message_chunk": "assistant",
    "agent_thought_chunk": "assistant",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """One message of the person or the model, as it was shown; `id` is the agent's, None where it gives none."""

    role: Role
    id: str | None
    text: str


def shown(updates: Iterable[Mapping[str, Any]]) -> tuple[Shown, ...]:
    """The messages in a run of updates: chunks of one role with one id, and nothing between them, make one."""
    found: list[Shown] = []
    closed = True
    for update in updates:
        kind = str(update.get("sessionUpdate"))
        if kind not in _CHUNKS or kind == "agent_thought_chunk":
            closed = closed or kind in {"tool_call", "agent_thought_chunk"}
            continue
        role, ident, text = _CHUNKS[kind], _text(update.get("messageId")), _words(update.get("content"))
        last = found[-1] if found and not closed else None
        if last is not None and (last.role, last.id) == (role, ident):
            found[-1] = Shown(role, ident, last.text + text)
        else:
            found.append(Shown(role, ident, text))
        closed = False
    return tuple(found)


def calls_in_a_row(conversation: Iterable[Message]) -> bool:
    """Whether one call follows another with no word between.

    A call and its result are one thing in ACP, so that nothing tells whether two of them were asked for together.
    """
    kinds = [type(m.parts[0]) for m in conversation if m.role != "tool"]
    return (ToolCall, ToolCall) in itertools.pairwise(kinds)


def messages(updates: Iterable[Mapping[str, Any]]) -> tuple[Message, ...]:
    """The whole conversation in the canonical form, tool calls and their results too, in the order of the updates.

    A call is put where it was announced, its result behind it with all that the agent shows of its output.
    """
    order: list[str | tuple[str, Role, str]] = []
    calls: dict[str, dict[str, Any]] = {}
    for update in updates:
        kind = str(update.get("sessionUpdate"))
        if kind in _CHUNKS:
            order.append((kind, _CHUNKS[kind], _words(update.get("content"))))
        elif kind in {"tool_call", "tool_call_update"} and isinstance(update.get("toolCallId"), str):
            ident = str(update["toolCallId"])
            if ident not in calls:
                order.append(ident)
            told = {name: value for name, value in update.items() if value is not None}
            calls[ident] = calls.get(ident, {}) | told
    found: list[Message] = []
    previous = ""
    for each in order:
        if isinstance(each, str):
            found.extend(_call(each, calls[each]))
            previous = ""
            continue
        kind, role, text = each
        if kind == previous and isinstance(found[-1].parts[0], Text | Reasoning):
            text = found.pop().parts[0].content + text  # type: ignore[union-attr]  # a chunk's only part is words
        part: Part = Reasoning(text) if kind == "agent_thought_chunk" else Text(text)
        found.append(Message(role, (part,)))
        previous = kind
    return tuple(found)


def _call(ident: str, told: Mapping[str, Any]) -> Iterable[Message]:
    given = told.get("rawInput")
    arguments = given if isinstance(given, Mapping | str) else {}
    yield Message("assistant", (ToolCall(ident, _text(told.get("title")) or "", arguments),))
    if told.get("status") in {"completed", "failed"}:
        output = [_words(each) for each in told.get("content") or () if isinstance(each, Mapping)]
        if "rawOutput" in told:
            output.append(json.dumps(told["rawOutput"], ensure_ascii=False))
        yield Message("tool", (ToolResult(ident, "\n".join(output)),))


def _words(content: Any) -> str:
    """The text of a content block, or of what wraps one."""
    match content:
        case {"type": "text", "text": str(text)}:
            return text
        case {"content": Mapping() as inner}:
            return _words(inner)
        case _:
            return ""


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
