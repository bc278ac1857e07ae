"""From a canonical prompt to the items that a trace can name, in the order in which the model reads them.

Text without a marker is noise (system prompt, environment block, reminders) and makes no item. A tool result is `done`
only if the tool's own end marker stands in it, `failed` with the tool's failure marker, and `unfinished` otherwise,
whatever else the harness says about it (clause TOOL-2).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from forkproof.adapters.model.given import Given
from forkproof.adapters.model.markers import Markers, may_hold
from forkproof.adapters.prompt import Blob, Message, Prompt, Reasoning, Text, ToolCall, ToolResult

__all__ = ["Item", "items_of", "newest_user"]

_TOOL_MARKS = {"start": "unfinished", "end": "done", "failed": "failed"}
_SMALL = 64 * 1024
"""Characters of a text whose items are kept; a larger one is read again, so that it can be let go of."""


@dataclass(frozen=True, slots=True)
class Item:
    """One marked item of a prompt: its name, the role of its message, and its status.

    That is what a tool result tells of its call; opaque thinking is `intact` or `altered`. `said`
    is the text before the marker, from the one before it on: there a harness may name an author.
    """

    name: str
    role: str
    status: str | None = None
    said: str = field(default="", compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.role:<9} {self.name}" + (f": {self.status}" if self.status else "")


def items_of(prompt: Prompt, markers: Markers, given: Given | None = None) -> tuple[Item, ...]:
    """Every item of the prompt, in order; an item that stands twice comes twice.

    `given` is what the model gave so far, for items that can't be told by a marker or an id alone.
    """
    given = given or Given()
    called: dict[str, str] = {}
    found: list[Item] = []
    for message in prompt.messages:
        for part in message.parts:
            match part:
                case Text(content):
                    found.extend(_in_text(content, message.role, markers))
                case ToolCall(id_, tool, _):
                    gone = (item.name.removesuffix(".call") for item in found)
                    called[id_] = given.call_name(part, gone) or _called(part, markers) or f"unknown-{tool}"
                    found.append(Item(f"{called[id_]}.call", message.role))
                case ToolResult(id_, response):
                    own = _own_result(given, id_, response, markers) or called.get(id_)
                    found.append(_result(own, id_, response, message, markers))
                case Blob(_, content):
                    found.extend(Item(name, message.role) for name in markers.find(content))
                case Reasoning():
                    thought = given.thought(part, markers)
                    found.extend([Item(thought[0], message.role, thought[1])] if thought else [])
    return tuple(found)


def newest_user(items: tuple[Item, ...]) -> str | None:
    """The turn of the last user item; None if there is none."""
    return next((i.name.removesuffix(".user") for i in reversed(items) if i.name.endswith(".user")), None)


def _in_text(content: str, role: str, markers: Markers) -> tuple[Item, ...]:
    """The items of a text."""
    if not may_hold(content):
        return ()
    return _kept(content, role, markers) if len(content) <= _SMALL else tuple(_read(content, role, markers))


@lru_cache(maxsize=512)
def _kept(content: str, role: str, markers: Markers) -> tuple[Item, ...]:
    """The items of a text, kept for a while: a conversation is sent again with each of its requests."""
    return tuple(_read(content, role, markers))


def _read(content: str, role: str, markers: Markers) -> Iterator[Item]:
    # A harness may serialise tool outputs into text (a summary request does): the marks of one call make one item.
    pending: dict[str, str] = {}
    rest = content
    for name in markers.find(content):
        call, _, mark = name.rpartition(".")
        if mark in _TOOL_MARKS:
            pending[call] = _TOOL_MARKS[mark]
            if mark == "start":
                continue
            yield Item(f"{call}.result", role, pending.pop(call))
        else:
            said, _, rest = rest.partition(markers.tag(name))
            yield Item(name, role, said=said)
    for call, status in pending.items():
        yield Item(f"{call}.result", role, status)


def _called(call: ToolCall, markers: Markers) -> str | None:
    """Whose call it is: by its id, or, if the harness gave it a new one, by the start marker in its arguments.

    A shell command holds the marker in pieces (`shell.command`). A harness that finds an id used twice may give a new
    one, as Kimi Code does (clause TOOL-5).
    """
    by_id = markers.call_name(call.id)
    if by_id is not None:
        return by_id
    text = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments, ensure_ascii=False)
    whole = next((n.removesuffix(".start") for n in markers.find(text) if n.endswith(".start")), None)
    pieces = re.search(rf"\bfp{markers.nonce} ([a-z][a-z0-9-]*) start\b", text)
    return whole or (pieces[1] if pieces else None)


def _own_result(given: Given, id_: str, response: str, markers: Markers) -> str | None:
    """Whose result this is where several calls bear its id: the one whose markers stand in it."""
    bearers = given.shared(id_)
    return next((c for c in (n.rpartition(".")[0] for n in markers.find(response)) if c in bearers), None)


def _result(called: str | None, id_: str, response: str, message: Message, markers: Markers) -> Item:
    marks = [name.rpartition(".") for name in markers.find(response)]
    marks = [(call, dot, mark) for call, dot, mark in marks if mark in _TOOL_MARKS]
    name = called or markers.call_name(id_) or next((call for call, _, _ in marks), "unknown")
    own = [mark for call, _, mark in marks if call == name]
    status = next((_TOOL_MARKS[m] for m in own if m != "start"), "unfinished")
    return Item(f"{name}.result", message.role, status)
