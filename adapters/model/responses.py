"""OpenAI Responses: the wire format of Codex, and of Goose with newer models.

Normal form, which `decode` gives and `encode_prompt` keeps: every tool call, tool result and reasoning item is a
message of its own, because it is an item of its own on the wire; neighbouring texts of one message stay together.
An attached text file reads as a text.
`instructions` come first as a system message, and the role `developer` reads as `system`. What is to be kept is told by
`Prompt.stored`: the provider keeps every response unless `store` is false. A session without a header of its own goes
by the cache key, and the other way round.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from forkproof.adapters.model import openai
from forkproof.adapters.model.codec import Frame, MalformedRequestError, Rendering
from forkproof.adapters.model.responses_stream import identity, output_item, response, stream
from forkproof.adapters.prompt import Blob, Message, Part, Prompt, Reasoning, Role, Stored, Text, ToolCall, ToolResult
from forkproof.adapters.protocol import Drop, ModelReply, Stall

__all__ = ["ResponsesCodec"]

ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}

SETTINGS: openai.SettingPaths = {
    "reasoning_effort": ("reasoning", "effort"),
    "temperature": ("temperature",),
    "parallel_tool_calls": ("parallel_tool_calls",),
    "tool_choice": ("tool_choice",),
}
BARE = ("reasoning_effort", "tool_choice")


class ResponsesCodec:
    """The codec for `POST /v1/responses`."""

    name = "responses"
    path = "/v1/responses"

    def decode(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> Prompt:
        """The canonical prompt of a request. Raises `MalformedRequestError`."""
        return Prompt(
            messages=(*_instructions(body), *_input(body.get("input"))),
            tools=openai.tool_names(body.get("tools")),
            model=openai.string(body.get("model"), "model"),
            settings=openai.read_settings(body, SETTINGS),
            session=openai.session(body, headers),
            stored=_stored(body),
            cache_key=openai.cache_key(body),
        )

    def encode_prompt(self, prompt: Prompt) -> dict[str, Any]:
        """The body that a harness would send for this prompt."""
        free = frozenset(
            part.id
            for message in prompt.messages
            for part in message.parts
            if isinstance(part, ToolCall) and isinstance(part.arguments, str)
        )
        body: dict[str, Any] = {"model": prompt.model, "stream": True}
        messages = list(prompt.messages)
        match messages:
            case [Message("system", (Text(content),)), *_] if content:
                body["instructions"] = content
                messages = messages[1:]
        body["input"] = [item for message in messages for item in _items(message, free)]
        if prompt.tools:
            body["tools"] = [{"type": "function", "name": name, "parameters": {}} for name in prompt.tools]
        body |= openai.write_cache_key(prompt) | _store_fields(prompt.stored)
        return body | openai.write_settings(prompt.settings, SETTINGS, bare=BARE)

    def stream(self, reply: ModelReply, rendering: Rendering) -> Iterator[Frame]:
        """A successful reply as server-sent events."""
        return stream(reply, rendering)

    def whole(self, reply: ModelReply, rendering: Rendering) -> dict[str, Any]:
        """A successful reply as one JSON body."""
        output = [output_item(part, rendering) for part in reply.parts if not isinstance(part, Stall | Drop)]
        return response(identity(reply, rendering), rendering, "completed", output)

    def failure(self, status: int, message: str, code: str = "") -> dict[str, Any]:
        """The provider's error body for an HTTP status; `code` is its own name for what went wrong, if it has one."""
        return openai.failure(status, message, code)


# --- Request -> prompt ---------------------------------------------------------------------------------------------


def _instructions(body: Mapping[str, Any]) -> tuple[Message, ...]:
    value = body.get("instructions")
    if value is None or value == "":
        return ()
    return (Message("system", (Text(openai.string(value, "instructions")),)),)


def _stored(body: Mapping[str, Any]) -> Stored | None:
    """What the provider is to keep, and what it continues. The API takes an earlier response or a conversation."""
    previous, conversation = body.get("previous_response_id"), body.get("conversation")
    keep = body.get("store") is not False
    if previous is not None and conversation is not None:
        raise MalformedRequestError("previous_response_id: not allowed together with conversation")
    if conversation is not None:
        named = conversation.get("id") if isinstance(conversation, Mapping) else conversation
        return Stored("conversation", openai.string(named, "conversation"), keep)
    if previous is not None:
        return Stored("response", openai.string(previous, "previous_response_id"), keep)
    return Stored("response") if keep else None


def _input(value: Any) -> Iterator[Message]:
    if isinstance(value, str):
        yield Message("user", (Text(value),))
        return
    for index, item in enumerate(openai.array(value, "input")):
        where = f"input[{index}]"
        yield _message(openai.mapping(item, where), where)


def _message(item: Mapping[str, Any], where: str) -> Message:
    kind = item.get("type", "message")
    match kind:
        case "message":
            return _spoken(item, where)
        case "reasoning":
            return Message("assistant", (_reasoning(item, where),))
        case "function_call" | "custom_tool_call" | "local_shell_call":
            return Message("assistant", (_call(item, kind, where),))
        case str() if kind.endswith("_call_output"):
            response_text = "\n".join(openai.texts(item.get("output"), f"{where}.output"))
            return Message("tool", (ToolResult(_call_id(item, where), response_text),))
        case str():
            words = [kind, *([item["id"]] if kind == "item_reference" and isinstance(item.get("id"), str) else [])]
            return Message("assistant", (Text(f"[{' '.join(words)}]"),))
        case _:
            raise MalformedRequestError(f"{where}.type: expected a string")


def _spoken(item: Mapping[str, Any], where: str) -> Message:
    role = ROLES.get(openai.string(item.get("role"), f"{where}.role"))
    if role is None:
        raise MalformedRequestError(f"{where}.role: {item['role']!r} is none of {', '.join(ROLES)}")
    return Message(role, tuple(Text(text) for text in openai.texts(item.get("content"), f"{where}.content")))


def _reasoning(item: Mapping[str, Any], where: str) -> Reasoning:
    words = [text for name in ("summary", "content") for text in openai.texts(item.get(name), f"{where}.{name}")]
    opaque = item.get("encrypted_content")
    return Reasoning(
        "\n".join(words), openai.string(opaque, f"{where}.encrypted_content") if opaque is not None else ""
    )


def _call(item: Mapping[str, Any], kind: str, where: str) -> ToolCall:
    if kind == "local_shell_call":
        return ToolCall(_call_id(item, where), "local_shell", openai.mapping(item.get("action"), f"{where}.action"))
    name = openai.string(item.get("name"), f"{where}.name")
    if kind == "custom_tool_call":
        return ToolCall(_call_id(item, where), name, openai.string(item.get("input"), f"{where}.input"))
    text = openai.string(item.get("arguments"), f"{where}.arguments")
    return ToolCall(_call_id(item, where), name, openai.read_arguments(text))


def _call_id(item: Mapping[str, Any], where: str) -> str:
    return openai.string(item.get("call_id", item.get("id")), f"{where}.call_id")


# --- Prompt -> request ---------------------------------------------------------------------------------------------


def _store_fields(stored: Stored | None) -> dict[str, Any]:
    if stored is None:
        return {"store": False}
    field = "previous_response_id" if stored.kind == "response" else "conversation"
    return {"store": stored.keep} | ({field: stored.id} if stored.id is not None else {})


def _items(message: Message, free: frozenset[str]) -> Iterator[dict[str, Any]]:
    if not message.parts:
        yield _message_item(message.role, [])
    for spoken, parts in itertools.groupby(message.parts, lambda part: isinstance(part, Text | Blob)):
        if spoken:
            yield _message_item(message.role, [part.content for part in parts if isinstance(part, Text | Blob)])
        else:
            yield from (_item(part, free) for part in parts)


def _message_item(role: Role, contents: list[str]) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": content} for content in contents]}


def _item(part: Part, free: frozenset[str]) -> dict[str, Any]:
    match part:
        case Reasoning(content, opaque):
            summary = [{"type": "summary_text", "text": content}] if content else []
            return {"type": "reasoning", "summary": summary} | ({"encrypted_content": opaque} if opaque else {})
        case ToolCall(id_, name, str(text)):
            return {"type": "custom_tool_call", "call_id": id_, "name": name, "input": text}
        case ToolCall(id_, name, arguments):
            text = openai.arguments_text(arguments)
            return {"type": "function_call", "call_id": id_, "name": name, "arguments": text}
        case ToolResult(id_, output):
            kind = "custom_tool_call_output" if id_ in free else "function_call_output"
            return {"type": kind, "call_id": id_, "output": output}
        case Text() | Blob():
            raise AssertionError("texts are gathered into messages")
