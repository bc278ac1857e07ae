"""OpenAI Chat Completions: the wire format of Goose with older models, and of most compatible servers.

Normal form, which `decode` gives and `encode_prompt` keeps: an assistant message is at most one reasoning part,
then its texts, then its calls, because that is all the order that the wire has; a message in another order is split
where the order breaks. Each tool result is a message of its own. The role `developer` reads as `system`. An empty
reasoning and a reasoning's `opaque` form have no place on this wire.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from forkproof.adapters.model import openai
from forkproof.adapters.model.chat_stream import stream, whole
from forkproof.adapters.model.codec import Frame, MalformedRequestError, Rendering
from forkproof.adapters.prompt import Blob, Message, Part, Prompt, Reasoning, Role, Text, ToolCall, ToolResult
from forkproof.adapters.protocol import ModelReply

__all__ = ["ChatCodec"]

ROLES: Mapping[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "system": "system",
    "developer": "system",
}

SETTINGS: openai.SettingPaths = {
    "reasoning_effort": ("reasoning_effort",),
    "temperature": ("temperature",),
    "store": ("store",),
    "parallel_tool_calls": ("parallel_tool_calls",),
    "tool_choice": ("tool_choice",),
}
BARE = ("reasoning_effort", "tool_choice")

REASONING = ("reasoning_content", "reasoning")
"""Where compatible servers and harnesses put the model's thinking; OpenAI itself has no place for it."""


class ChatCodec:
    """The codec for `POST /v1/chat/completions`."""

    name = "chat"
    path = "/v1/chat/completions"

    def decode(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> Prompt:
        """The canonical prompt of a request. Raises `MalformedRequestError`."""
        messages = openai.array(body.get("messages"), "messages")
        return Prompt(
            messages=tuple(_message(m, f"messages[{i}]") for i, m in enumerate(messages)),
            tools=openai.tool_names(body.get("tools")),
            model=openai.string(body.get("model"), "model"),
            settings=openai.read_settings(body, SETTINGS),
            session=openai.session(body, headers),
            cache_key=openai.cache_key(body),
        )

    def encode_prompt(self, prompt: Prompt) -> dict[str, Any]:
        """The body that a harness would send for this prompt."""
        body: dict[str, Any] = {
            "model": prompt.model,
            "messages": [m for message in prompt.messages for m in _wire_messages(message)],
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if prompt.tools:
            body["tools"] = [{"type": "function", "function": {"name": n, "parameters": {}}} for n in prompt.tools]
        body |= openai.write_cache_key(prompt)
        return body | openai.write_settings(prompt.settings, SETTINGS, bare=BARE)

    def stream(self, reply: ModelReply, rendering: Rendering) -> Iterator[Frame]:
        """A successful reply as server-sent events."""
        return stream(reply, rendering)

    def whole(self, reply: ModelReply, rendering: Rendering) -> dict[str, Any]:
        """A successful reply as one JSON body."""
        return whole(reply, rendering)

    def failure(self, status: int, message: str, code: str = "") -> dict[str, Any]:
        """The provider's error body for an HTTP status; `code` is its own name for what went wrong, if it has one."""
        return openai.failure(status, message, code)


# --- Request -> prompt ---------------------------------------------------------------------------------------------


def _message(value: Any, where: str) -> Message:
    message = openai.mapping(value, where)
    role = ROLES.get(openai.string(message.get("role"), f"{where}.role"))
    contents = openai.texts(message.get("content"), f"{where}.content")
    match role:
        case None:
            raise MalformedRequestError(f"{where}.role: {message['role']!r} is none of {', '.join(ROLES)}")
        case "tool":
            identity = openai.string(message.get("tool_call_id"), f"{where}.tool_call_id")
            return Message("tool", (ToolResult(identity, "\n".join(contents)),))
        case "assistant":
            spoken = [Text(content) for content in contents]
            return Message("assistant", (*_reasoning(message), *spoken, *_calls(message, where)))
        case _:
            return Message(role, tuple(Text(content) for content in contents))


def _reasoning(message: Mapping[str, Any]) -> tuple[Reasoning, ...]:
    found = next((message[name] for name in REASONING if isinstance(message.get(name), str)), "")
    return (Reasoning(found),) if found else ()


def _calls(message: Mapping[str, Any], where: str) -> Iterator[ToolCall]:
    for index, value in enumerate(openai.array(message.get("tool_calls") or [], f"{where}.tool_calls")):
        place = f"{where}.tool_calls[{index}]"
        call = openai.mapping(value, place)
        identity = openai.string(call.get("id"), f"{place}.id")
        if call.get("type") == "custom":
            custom = openai.mapping(call.get("custom"), f"{place}.custom")
            name = openai.string(custom.get("name"), f"{place}.custom.name")
            yield ToolCall(identity, name, openai.string(custom.get("input"), f"{place}.custom.input"))
        else:
            function = openai.mapping(call.get("function"), f"{place}.function")
            name = openai.string(function.get("name"), f"{place}.function.name")
            text = openai.string(function.get("arguments"), f"{place}.function.arguments")
            yield ToolCall(identity, name, openai.read_arguments(text))


# --- Prompt -> request ---------------------------------------------------------------------------------------------

ORDER = (Reasoning, Text, ToolCall)


def _wire_messages(message: Message) -> Iterator[dict[str, Any]]:
    if not message.parts:
        yield _wire_message(message.role, [])
    run: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolResult):
            yield {"role": "tool", "tool_call_id": part.id, "content": part.response}
            continue
        if run and _breaks(run[-1], part):
            yield _wire_message(message.role, run)
            run = []
        run.append(part)
    if run:
        yield _wire_message(message.role, run)


def _breaks(last: Part, part: Part) -> bool:
    """Whether a part can't follow another in one message."""
    before, after = (1 if isinstance(p, Blob) else ORDER.index(type(p)) for p in (last, part))
    return after < before or (after == before == 0)


def _wire_message(role: Role, parts: list[Part]) -> dict[str, Any]:
    contents = [part.content for part in parts if isinstance(part, Text | Blob)]
    thoughts = [part.content for part in parts if isinstance(part, Reasoning)]
    calls = [_wire_call(part) for part in parts if isinstance(part, ToolCall)]
    wire: dict[str, Any] = {"role": role, "content": _wire_content(contents)}
    if thoughts:
        wire["reasoning_content"] = thoughts[0]
    if calls:
        wire["tool_calls"] = calls
    return wire


def _wire_content(contents: list[str]) -> Any:
    match contents:
        case []:
            return ""
        case [str(content)] if content:
            return content
        case _:
            return [{"type": "text", "text": content} for content in contents]


def _wire_call(call: ToolCall) -> dict[str, Any]:
    if isinstance(call.arguments, str):
        return {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": call.arguments}}
    text = openai.arguments_text(call.arguments)
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": text}}
