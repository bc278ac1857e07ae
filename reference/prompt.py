"""The canonical prompt: what a harness asks a model, whatever wire format carried it.

The shape is OpenTelemetry's for generative AI: messages with a role and typed parts. It is plain frozen data, so that
prompts compare, hash and serialise; `as_json` gives the OpenTelemetry names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

__all__ = [
    "Blob", "Message", "Part", "Prompt", "Reasoning", "Role", "Stored", "Text", "ToolCall", "ToolResult", "as_json",
]  # fmt: skip

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Text:
    """Words, of whoever the message's role says."""

    content: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """The model's own thinking; `opaque` holds a signature or an encrypted form, byte for byte."""

    content: str
    opaque: str = ""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model made.

    `name` is the native tool's, `arguments` an object, or the raw text of a free-form tool.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] | str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the harness says came of the call with this id; all text parts joined by newlines."""

    id: str
    response: str


@dataclass(frozen=True, slots=True)
class Blob:
    """A file that the person attached to a message: its content, not a reference to it (clause ENV-8)."""

    name: str
    content: str


Part: TypeAlias = Text | Reasoning | ToolCall | ToolResult | Blob


@dataclass(frozen=True, slots=True)
class Message:
    """One message; consecutive messages of one role stay apart, as the harness sent them."""

    role: Role
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Stored:
    """What the provider is asked to keep of an exchange (clauses PRV-1, PRV-2, PRV-6).

    A `response` is a state that never changes: `id` names the earlier one that this request continues, which may be
    continued any number of times. A `conversation` grows: `id` names the one that this exchange is added to. A `thread`
    moves on: `id` names its last answer, which is continued at most once. Without an id the request begins anew; the
    answer then tells the id of what was stored. `keep` is false where a request continues what is kept, and asks that
    nothing be kept of itself.
    """

    kind: Literal["response", "conversation", "thread"]
    id: str | None = None
    keep: bool = True


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request to the model.

    `tools` are the names offered, in the harness's order; `model` and `settings` (reasoning effort and the like) are as
    sent; `session` is the harness's own session id where the wire carries one (a header, a cache key). `stored` is what
    the provider keeps, None if nothing; `messages` are then only what it does not have yet. `cache_key` tells it which
    requests share a beginning (PRV-3).
    """

    messages: tuple[Message, ...]
    tools: tuple[str, ...] = ()
    model: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    session: str | None = None
    stored: Stored | None = None
    cache_key: str | None = None


def as_json(prompt: Prompt) -> dict[str, Any]:
    """The prompt as JSON data in OpenTelemetry's names (`tool_call_response` for a tool result)."""
    stored = prompt.stored
    return {
        "model": prompt.model,
        "settings": dict(prompt.settings),
        "tools": list(prompt.tools),
        "session": prompt.session,
        "messages": [{"role": m.role, "parts": [_part(p) for p in m.parts]} for m in prompt.messages],
        **({"stored": _stored(stored)} if stored else {}),
        **({"cache_key": prompt.cache_key} if prompt.cache_key else {}),
    }


def _stored(stored: Stored) -> dict[str, Any]:
    return {"kind": stored.kind, "id": stored.id} | ({} if stored.keep else {"keep": False})


def _part(part: Part) -> dict[str, Any]:
    match part:
        case Text(content):
            return {"type": "text", "content": content}
        case Reasoning(content, opaque):
            return {"type": "reasoning", "content": content} | ({"opaque": opaque} if opaque else {})
        case ToolCall(id_, name, arguments):
            return {
                "type": "tool_call",
                "id": id_,
                "name": name,
                "arguments": arguments if isinstance(arguments, str) else dict(arguments),
            }
        case ToolResult(id_, response):
            return {"type": "tool_call_response", "id": id_, "response": response}
        case Blob(name, content):
            return {"type": "blob", "name": name, "content": content}
