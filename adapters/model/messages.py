"""Anthropic Messages: the wire format of Claude Code, and of Goose and pi with Anthropic's models.

Normal form, which `decode` gives and `encode_prompt` keeps: the system prompt comes first as a system message, and a
later message of the role `system` stays where it stands. A user message is split where tool results and other content
follow each other: results that stand together are one message of the role `tool`. Arguments that are no object stand
as `{"input": TEXT}`, because a call's input is an object here. `thinking` and `redacted_thinking` are reasoning whose
`opaque` form is the signature or the data. A document that holds plain text is a blob, every other one, and every
image, leaves a placeholder. Cache marks change no meaning and move from request to request: they are not read. A
thread is `Prompt.stored`; what of a request it holds already is not sent again, the system prompt and tools included.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any

from forkproof.adapters.model import openai
from forkproof.adapters.model.codec import Frame, MalformedRequestError, Rendering
from forkproof.adapters.model.messages_stream import failure, stream, whole
from forkproof.adapters.prompt import Blob, Message, Part, Prompt, Reasoning, Role, Stored, Text, ToolCall, ToolResult
from forkproof.adapters.protocol import ModelReply

__all__ = ["MessagesCodec"]

ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}

SETTINGS: openai.SettingPaths = {
    "reasoning_effort": ("output_config", "effort"),
    "thinking": ("thinking", "type"),
    "thinking_budget": ("thinking", "budget_tokens"),
    "temperature": ("temperature",),
    "tool_choice": ("tool_choice", "type"),
}
BARE = ("reasoning_effort", "thinking", "tool_choice")

ENOUGH = 4096
"""Tokens that a request allows for its answer: the field is required, and not a setting that a prompt is told by."""

SESSION_HEADERS = ("x-claude-code-session-id", "agent-session-id", "x-session-affinity", "x-session-id")
"""Seen on the wire: Claude Code sends the first, Goose the second, pi one of the last two if it is told to."""


class MessagesCodec:
    """The codec for `POST /v1/messages`."""

    name = "messages"
    path = "/v1/messages"

    def decode(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> Prompt:
        """The canonical prompt of a request. Raises `MalformedRequestError`."""
        messages = openai.array(body.get("messages"), "messages")
        return Prompt(
            messages=(*_system(body.get("system")), *(m for i, v in enumerate(messages) for m in _read(v, i))),
            tools=_tools(body.get("tools")),
            model=openai.string(body.get("model"), "model"),
            settings=openai.read_settings(body, SETTINGS),
            session=_session(body, headers),
            stored=_thread(body.get("thread")),
        )

    def encode_prompt(self, prompt: Prompt) -> dict[str, Any]:
        """The body that a harness would send for this prompt."""
        body: dict[str, Any] = {"model": prompt.model, "max_tokens": ENOUGH, "stream": True}
        messages = list(prompt.messages)
        if messages and messages[0].role == "system" and messages[0].parts:
            body["system"] = [_block(part) for part in messages.pop(0).parts]
        body["messages"] = [_wire_message(message) for message in messages]
        if prompt.tools:
            body["tools"] = [{"name": name, "input_schema": {"type": "object"}} for name in prompt.tools]
        if prompt.session is not None:
            body["metadata"] = {"user_id": json.dumps({"session_id": prompt.session})}
        if prompt.stored is not None:
            continued = {"type": "continue", "previous_message_id": prompt.stored.id}
            body["thread"] = {"type": "create"} if prompt.stored.id is None else continued
        return body | openai.write_settings(prompt.settings, SETTINGS, bare=BARE)

    def stream(self, reply: ModelReply, rendering: Rendering) -> Iterator[Frame]:
        """A successful reply as server-sent events."""
        return stream(reply, rendering)

    def whole(self, reply: ModelReply, rendering: Rendering) -> dict[str, Any]:
        """A successful reply as one JSON body."""
        return whole(reply, rendering)

    def failure(self, status: int, message: str, code: str = "") -> dict[str, Any]:
        """The provider's error body for an HTTP status; `code` is its own name for what went wrong, if it has one."""
        return failure(status, message, code)


# --- Request -> prompt ---------------------------------------------------------------------------------------------


def _system(value: Any) -> tuple[Message, ...]:
    contents = openai.texts(value, "system")
    return (Message("system", tuple(Text(content) for content in contents)),) if contents else ()


def _thread(value: Any) -> Stored | None:
    if value is None:
        return None
    thread = openai.mapping(value, "thread")
    match thread.get("type"):
        case "create":
            return Stored("thread")
        case "continue":
            named = openai.string(thread.get("previous_message_id"), "thread.previous_message_id")
            return Stored("thread", named)
        case _:
            raise MalformedRequestError("thread.type: expected create or continue")


def _read(value: Any, index: int) -> Iterator[Message]:
    """The messages that one message of the wire holds: its tool results, and what stands around them."""
    where = f"messages[{index}]"
    message = openai.mapping(value, where)
    role = ROLES.get(openai.string(message.get("role"), f"{where}.role"))
    if role is None:
        raise MalformedRequestError(f"{where}.role: {message['role']!r} is none of {', '.join(ROLES)}")
    parts = [_part(*each) for each in _blocks(message.get("content"), f"{where}.content")]
    if not parts:
        yield Message(role, ())
    for results, run in itertools.groupby(parts, lambda part: isinstance(part, ToolResult)):
        yield Message("tool" if results else role, tuple(run))


def _blocks(content: Any, where: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Each content block with its place; a text that stands for an array is one block."""
    if content is None or isinstance(content, str):
        yield from [({"type": "text", "text": content}, where)] if content else []
        return
    for index, block in enumerate(openai.array(content, where)):
        yield openai.mapping(block, f"{where}[{index}]"), f"{where}[{index}]"


def _part(block: Mapping[str, Any], where: str) -> Part:
    match block.get("type"):
        case "tool_use":
            name = openai.string(block.get("name"), f"{where}.name")
            given = openai.mapping(block.get("input"), f"{where}.input")
            return ToolCall(openai.string(block.get("id"), f"{where}.id"), name, given)
        case "tool_result":
            identity = openai.string(block.get("tool_use_id"), f"{where}.tool_use_id")
            said = openai.texts(block.get("content"), f"{where}.content")
            return ToolResult(identity, "\n".join(said))
        case "thinking":
            signature = openai.string(block.get("signature", ""), f"{where}.signature")
            return Reasoning(openai.string(block.get("thinking"), f"{where}.thinking"), signature)
        case "redacted_thinking":
            return Reasoning("", openai.string(block.get("data"), f"{where}.data"))
        case "document":
            return _document(block, where)
        case _:
            (content,) = openai.texts(block, where)
            return Text(content)


def _document(block: Mapping[str, Any], where: str) -> Part:
    source = openai.mapping(block.get("source"), f"{where}.source")
    if source.get("type") != "text":
        return Text("[document]")
    return Blob(str(block.get("title") or ""), openai.string(source.get("data"), f"{where}.source.data"))


def _tools(value: Any) -> tuple[str, ...]:
    """The names of the tools offered, in order: the harness's own have no type, the provider's have both."""
    tools = [openai.mapping(tool, f"tools[{i}]") for i, tool in enumerate(openai.array(value or [], "tools"))]
    return tuple(openai.string(tool.get("name", tool.get("type")), f"tools[{i}].name") for i, tool in enumerate(tools))


def _session(body: Mapping[str, Any], headers: Mapping[str, str]) -> str | None:
    """The harness's own session id: from a header, or from the user id, in which Claude Code hides one too."""
    for name in SESSION_HEADERS:
        if headers.get(name):
            return headers[name]
    metadata = body.get("metadata")
    user = metadata.get("user_id") if isinstance(metadata, Mapping) else None
    if not isinstance(user, str):
        return None
    told = openai.read_arguments(user)
    if isinstance(told, Mapping):
        found = told.get("session_id")
        return found if isinstance(found, str) else None
    return user.partition("_session_")[2] or None


# --- Prompt -> request ---------------------------------------------------------------------------------------------


def _wire_message(message: Message) -> dict[str, Any]:
    role = "user" if message.role == "tool" else message.role
    return {"role": role, "content": [_block(part) for part in message.parts]}


def _block(part: Part) -> dict[str, Any]:
    match part:
        case Text(content):
            return {"type": "text", "text": content}
        case Reasoning("", opaque) if opaque:
            return {"type": "redacted_thinking", "data": opaque}
        case Reasoning(content, opaque):
            return {"type": "thinking", "thinking": content, "signature": opaque}
        case ToolCall(id_, name, arguments):
            given = {"input": arguments} if isinstance(arguments, str) else dict(arguments)
            return {"type": "tool_use", "id": id_, "name": name, "input": given}
        case ToolResult(id_, response):
            said = [{"type": "text", "text": response}] if response else []
            return {"type": "tool_result", "tool_use_id": id_, "content": said}
        case Blob(name, content):
            source = {"type": "text", "media_type": "text/plain", "data": content}
            return {"type": "document", "title": name, "source": source}
