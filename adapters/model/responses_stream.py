"""How a scripted reply looks as a Responses stream: every event that the provider's own clients rely on.

Codex needs only `response.output_item.done` and `response.completed`; stricter clients follow every delta.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

from forkproof.adapters.model import openai, sse
from forkproof.adapters.model.codec import Frame, Rendering
from forkproof.adapters.protocol import Drop, ModelReply, Say, Stall, Think, ToolUse

__all__ = ["identity", "output_item", "response", "stream"]

Item: TypeAlias = dict[str, Any]


def stream(reply: ModelReply, rendering: Rendering) -> Iterator[Frame]:
    """A successful reply as events, from `response.created` to `response.completed`; each text is a message item."""
    named = identity(reply, rendering)
    numbers = itertools.count()
    output: list[Item] = []

    def event(kind: str, **fields: Any) -> bytes:
        return sse.event(kind, {"type": kind, "sequence_number": next(numbers)} | fields)

    for kind in ("response.created", "response.in_progress"):
        yield event(kind, response=response(named, rendering, "in_progress", []))
    for part in reply.parts:
        if isinstance(part, Stall | Drop):
            yield part
            continue
        finished = output_item(part, rendering)
        for kind, fields in _progress(finished):
            yield event(kind, output_index=len(output), **fields)
        output.append(finished)
    yield event("response.completed", response=response(named, rendering, "completed", output))


def identity(reply: ModelReply, rendering: Rendering) -> dict[str, Any]:
    """The members that tell what an answer is known by: its own id, and the conversation that it was added to."""
    if reply.stored.startswith("conv_"):
        return {"id": rendering.ids("resp"), "conversation": {"id": reply.stored}}
    return {"id": reply.stored or rendering.ids("resp"), "conversation": None}


def response(
    named: dict[str, Any], rendering: Rendering, status: Literal["in_progress", "completed"], output: list[Item]
) -> dict[str, Any]:
    """The response object with every member that the provider's schema requires; token counts once it is complete."""
    return named | {
        "object": "response",
        "created_at": rendering.created,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": rendering.model,
        "output": output,
        "parallel_tool_calls": True,
        "reasoning": {"effort": None, "summary": None},
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": _usage() if status == "completed" else None,
    }


def _usage() -> dict[str, Any]:
    spent, made = openai.USAGE
    return {
        "input_tokens": spent,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": made,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": spent + made,
    }


def output_item(part: Say | Think | ToolUse, rendering: Rendering) -> Item:
    """The finished output item of one part of a reply."""
    match part:
        case Say(text):
            return _message(rendering.ids("msg"), text)
        case Think():
            return _thinking(part, rendering.ids("rs"))
        case ToolUse():
            return _call(part, rendering)


def _thinking(part: Think, identity: str) -> Item:
    """Signatures are another provider's way: what is opaque stands as encrypted content here."""
    summary = [{"type": "summary_text", "text": part.text}]
    opaque = {"encrypted_content": part.opaque} if part.opaque else {}
    return {"id": identity, "type": "reasoning", "summary": summary} | opaque


def _message(identity: str, text: str) -> Item:
    return {
        "id": identity,
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [_text_part(text)],
    }


def _text_part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _call(use: ToolUse, rendering: Rendering) -> Item:
    native = rendering.native(use)
    text = openai.arguments_text(native.arguments)
    if native.freeform:
        kind, content = "custom_tool_call", {"input": text}
    else:
        kind, content = "function_call", {"arguments": text}
    identity = rendering.ids("ctc" if native.freeform else "fc")
    return {"id": identity, "type": kind, "status": "completed", "call_id": use.id, "name": native.name} | content


# --- One item as it comes into being -------------------------------------------------------------------------------


def _progress(item: Item) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events, without their common members, that take a client from nothing to this item."""
    if item["type"] == "reasoning":
        yield "response.output_item.added", {"item": item | {"summary": []}}
        yield "response.output_item.done", {"item": item}
        return
    if item["type"] == "message":
        hollow: Item = {"content": []}
        steps = _message_steps(item)
    else:
        hollow = {_call_text(item)[0]: ""}
        steps = _call_steps(item)
    yield "response.output_item.added", {"item": item | hollow | {"status": "in_progress"}}
    for kind, fields in steps:
        yield kind, {"item_id": item["id"]} | fields
    yield "response.output_item.done", {"item": item}


def _message_steps(item: Item) -> Iterator[tuple[str, dict[str, Any]]]:
    text = item["content"][0]["text"]
    yield "response.content_part.added", {"content_index": 0, "part": _text_part("")}
    for piece in sse.pieces(text):
        yield "response.output_text.delta", {"content_index": 0, "delta": piece, "logprobs": []}
    yield "response.output_text.done", {"content_index": 0, "text": text, "logprobs": []}
    yield "response.content_part.done", {"content_index": 0, "part": _text_part(text)}


def _call_steps(item: Item) -> Iterator[tuple[str, dict[str, Any]]]:
    name, stem = _call_text(item)
    for piece in sse.pieces(item[name]):
        yield f"{stem}.delta", {"delta": piece}
    yield f"{stem}.done", {name: item[name]} | ({"name": item["name"]} if name == "arguments" else {})


def _call_text(item: Item) -> tuple[str, str]:
    """Which member of a call item holds its text, and what the events about it are called."""
    if item["type"] == "custom_tool_call":
        return "input", "response.custom_tool_call_input"
    return "arguments", "response.function_call_arguments"
