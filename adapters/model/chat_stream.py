"""How a scripted reply looks in Chat Completions, as chunks or whole.

The wire has one content and one list of calls: texts that the script keeps apart are joined by a line end, and how
texts and calls followed each other is lost. A stall keeps its place among them. The provider's schema of chunks has
no free-form calls; they are streamed in the form that whole completions have. It has no thinking either, so thinking
never reaches the client.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from forkproof.adapters.model import openai, sse
from forkproof.adapters.model.codec import Frame, Rendering
from forkproof.adapters.protocol import Drop, ModelReply, Say, Stall, Think, ToolUse

__all__ = ["stream", "whole"]


def stream(reply: ModelReply, rendering: Rendering) -> Iterator[Frame]:
    """A successful reply as chunks: the role, the deltas, why it ended, token counts if asked for, and `[DONE]`."""
    identity = rendering.ids("chatcmpl")

    def chunk(choices: list[dict[str, Any]], usage: dict[str, Any] | None = None) -> bytes:
        common = {"id": identity, "object": "chat.completion.chunk", "created": rendering.created}
        counts = {"usage": usage} if rendering.usage else {}
        return sse.data(common | {"model": rendering.model, "choices": choices} | counts)

    def delta(content: dict[str, Any], finish: str | None = None) -> bytes:
        return chunk([{"index": 0, "delta": content, "logprobs": None, "finish_reason": finish}])

    spoken = any(isinstance(part, Say) for part in reply.parts)
    yield delta({"role": "assistant", "content": "" if spoken else None})
    for part in _deltas(reply, rendering):
        yield part if isinstance(part, Stall | Drop) else delta(part)
    yield delta({}, _finish(reply))
    if rendering.usage:
        yield chunk([], _usage())
    yield sse.DONE


def _deltas(reply: ModelReply, rendering: Rendering) -> Iterator[dict[str, Any] | Stall | Drop]:
    texts = calls = 0
    for part in reply.parts:
        match part:
            case Stall() | Drop():
                yield part
            case Think():
                pass
            case Say(text):
                for piece in sse.pieces("\n" * (texts > 0) + text):
                    yield {"content": piece}
                texts += 1
            case ToolUse():
                for step in _call_deltas(_call(part, rendering)):
                    yield {"tool_calls": [{"index": calls} | step]}
                calls += 1


def _call_deltas(call: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The call with an empty text first, then the text in pieces."""
    kind = call["type"]
    member = _text_member(kind)
    yield call | {kind: call[kind] | {member: ""}}
    for piece in sse.pieces(call[kind][member]):
        yield {kind: {member: piece}}


def whole(reply: ModelReply, rendering: Rendering) -> dict[str, Any]:
    """A successful reply as one completion object."""
    texts = [part.text for part in reply.parts if isinstance(part, Say)]
    calls = [_call(part, rendering) for part in reply.parts if isinstance(part, ToolUse)]
    content = "\n".join(texts) if texts else None
    message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": None, "annotations": []}
    return {
        "id": rendering.ids("chatcmpl"),
        "object": "chat.completion",
        "created": rendering.created,
        "model": rendering.model,
        "choices": [
            {
                "index": 0,
                "message": message | ({"tool_calls": calls} if calls else {}),
                "logprobs": None,
                "finish_reason": _finish(reply),
            }
        ],
        "usage": _usage(),
    }


def _call(use: ToolUse, rendering: Rendering) -> dict[str, Any]:
    native = rendering.native(use)
    kind = "custom" if native.freeform else "function"
    content = {"name": native.name, _text_member(kind): openai.arguments_text(native.arguments)}
    return {"id": use.id, "type": kind, kind: content}


def _text_member(kind: str) -> str:
    return "input" if kind == "custom" else "arguments"


def _finish(reply: ModelReply) -> str:
    return "tool_calls" if any(isinstance(part, ToolUse) for part in reply.parts) else "stop"


def _usage() -> dict[str, Any]:
    spent, made = openai.USAGE
    return {"prompt_tokens": spent, "completion_tokens": made, "total_tokens": spent + made}
