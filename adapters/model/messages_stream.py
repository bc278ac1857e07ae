"""How a scripted reply looks in Anthropic Messages: its events, its whole body, and its errors.

Each text, thinking and call is a content block of its own, in the script's order. Thinking is always signed on this
wire: what the script leaves plain gets a signature that tells nothing, because clients send unsigned thinking back as
text, or not at all. Encrypted thinking is a redacted block, which has no text.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from forkproof.adapters.model import openai, sse
from forkproof.adapters.model.codec import Frame, Rendering
from forkproof.adapters.protocol import Drop, ModelReply, Say, Stall, Think, ToolUse

__all__ = ["failure", "stream", "whole"]

ERROR_KINDS: Mapping[int, str] = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def failure(status: int, message: str, code: str = "") -> dict[str, Any]:
    """The error body of Anthropic's API for this HTTP status; `code` stands in its details, as those of threads do."""
    other = "api_error" if status >= 500 else "invalid_request_error"  # noqa: PLR2004  # HTTP
    error: dict[str, Any] = {"type": ERROR_KINDS.get(status, other), "message": message}
    if code:
        error["details"] = {"error_code": code}
    return {"type": "error", "error": error, "request_id": None}


def stream(reply: ModelReply, rendering: Rendering) -> Iterator[Frame]:
    """A successful reply as events, from `message_start` to `message_stop`."""

    def event(kind: str, **fields: Any) -> bytes:
        return sse.event(kind, {"type": kind} | fields)

    yield event("message_start", message=_message(reply, rendering, [], None))
    yield event("ping")
    index = 0
    for part in reply.parts:
        if isinstance(part, Stall | Drop):
            yield part
            continue
        finished = _block(part, rendering)
        hollow, deltas = _growth(finished)
        yield event("content_block_start", index=index, content_block=hollow)
        for delta in deltas:
            yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
        index += 1
    yield event("message_delta", delta={"stop_reason": _stop_reason(reply), "stop_sequence": None}, usage=_usage())
    yield event("message_stop")


def whole(reply: ModelReply, rendering: Rendering) -> dict[str, Any]:
    """A successful reply as one message object."""
    content = [_block(part, rendering) for part in reply.parts if not isinstance(part, Stall | Drop)]
    return _message(reply, rendering, content, _stop_reason(reply))


def _message(
    reply: ModelReply, rendering: Rendering, content: list[dict[str, Any]], stop_reason: str | None
) -> dict[str, Any]:
    return {
        "id": reply.stored or rendering.ids("msg"),
        "type": "message",
        "role": "assistant",
        "model": rendering.model,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": _usage(),
    }


def _stop_reason(reply: ModelReply) -> str:
    return "tool_use" if any(isinstance(part, ToolUse) for part in reply.parts) else "end_turn"


def _usage() -> dict[str, Any]:
    spent, made = openai.USAGE
    cached = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    return {"input_tokens": spent, "output_tokens": made} | cached


def _block(part: Say | Think | ToolUse, rendering: Rendering) -> dict[str, Any]:
    """The finished content block of one part of a reply."""
    match part:
        case Say(text):
            return {"type": "text", "text": text}
        case Think(form="encrypted"):
            return {"type": "redacted_thinking", "data": part.opaque}
        case Think(_, text, opaque):
            return {"type": "thinking", "thinking": text, "signature": opaque or _signature(text)}
        case ToolUse():
            native = rendering.native(part)
            return {"type": "tool_use", "id": part.id, "name": native.name, "input": _object(native.arguments)}


def _object(arguments: Mapping[str, Any] | str) -> dict[str, Any]:
    """A call's input, which is always an object here, also for tools that take text."""
    read = openai.read_arguments(arguments) if isinstance(arguments, str) else arguments
    return {"input": read} if isinstance(read, str) else dict(read)


def _signature(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()).decode()


def _growth(block: dict[str, Any]) -> tuple[dict[str, Any], Iterator[dict[str, Any]]]:
    """The block as it starts, and the deltas that take it to its end."""
    match block["type"]:
        case "text":
            deltas = ({"type": "text_delta", "text": piece} for piece in sse.pieces(block["text"]))
            return block | {"text": ""}, deltas
        case "thinking":
            return block | {"thinking": "", "signature": ""}, _thought(block)
        case "tool_use":
            pieces = sse.pieces(openai.arguments_text(block["input"]))
            return block | {"input": {}}, ({"type": "input_json_delta", "partial_json": piece} for piece in pieces)
        case _:
            return block, iter(())


def _thought(block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for piece in sse.pieces(block["thinking"]):
        yield {"type": "thinking_delta", "thinking": piece}
    yield {"type": "signature_delta", "signature": block["signature"]}
