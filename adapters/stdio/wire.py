"""The JSON form of the seam's frozen messages: how a member is called, how a kind is told, what is left out.

A member goes by its name in camelCase, or by the Agent Client Protocol's where that has one (`sessionId`, `cwd`,
`stopReason`). One that has its default is left out. A message that stands where several kinds may stand bears the name
of its kind (`type`, or `outcome` for an answer other than done). All rules are derived from the dataclasses, by this
module and `decode` and `schema`: pydantic, which does the like elsewhere, refuses the lone surrogates that stand for
bytes in a file, and costs a served adapter more to import than its whole start. Source: design sections 2 and 5.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from functools import cache
from typing import Any, Final, NamedTuple, get_type_hints

from forkproof.adapters.prompt import Blob, Reasoning, Text, ToolCall, ToolResult
from forkproof.adapters.protocol import Drop, Refused, Say, Stall, Think, Unknown, Unsupported
from forkproof.adapters.stdio.messages import Use

__all__ = ["KINDS", "Kind", "Member", "encode", "member_name", "members"]


class Kind(NamedTuple):
    """How a message tells what it is: the member, and its value."""

    member: str
    value: str


KINDS: Final[Mapping[type, Kind]] = {
    Text: Kind("type", "text"),
    Reasoning: Kind("type", "reasoning"),
    ToolCall: Kind("type", "tool_call"),
    ToolResult: Kind("type", "tool_call_response"),
    Blob: Kind("type", "blob"),
    Say: Kind("type", "say"),
    Think: Kind("type", "think"),
    Use: Kind("type", "tool_use"),
    Stall: Kind("type", "stall"),
    Drop: Kind("type", "drop"),
    Refused: Kind("outcome", "refused"),
    Unsupported: Kind("outcome", "unsupported"),
    Unknown: Kind("outcome", "unknown"),
}
"""The kinds that stand beside others. Prompt parts have OpenTelemetry's names (design section 2)."""

_ACP: Final = {"session": "sessionId", "directory": "cwd", "stop": "stopReason"}


class Member(NamedTuple):
    """One member of a message: its name in Python and in JSON, its type, and its default, if it has one."""

    name: str
    key: str
    type: Any
    default: Any
    required: bool


def member_name(name: str) -> str:
    """What a member is called in JSON."""
    first, *rest = name.rstrip("_").split("_")
    return _ACP.get(name) or first + "".join(word.capitalize() for word in rest)


@cache
def members(message: type) -> tuple[Member, ...]:
    """The members of a message, in the order of its dataclass."""
    hints = get_type_hints(message)
    return tuple(_member(field, hints[field.name]) for field in dataclasses.fields(message))


def _member(field: dataclasses.Field[Any], hint: Any) -> Member:
    made = field.default_factory
    default = field.default if made is dataclasses.MISSING else made()
    required = default is dataclasses.MISSING
    return Member(field.name, member_name(field.name), hint, None if required else default, required)


def encode(value: Any) -> Any:
    """JSON data for a message, or for anything that stands in one."""
    return _ENCODERS[type(value)](value)


class _Encoders(dict[type, Callable[[Any], Any]]):
    """What encodes the values of each class: what they are need not be asked again for each of them."""

    def __missing__(self, kind: type) -> Callable[[Any], Any]:
        made = self[kind] = _encoder(kind)
        return made


_ENCODERS: Final = _Encoders()
_PLAIN: Final = frozenset({type(None), bool, int, float, str})


def _encoder(kind: type) -> Callable[[Any], Any]:
    if issubclass(kind, tuple(_PLAIN)):
        return lambda value: value
    if issubclass(kind, Mapping):
        return lambda value: {str(key): encode(each) for key, each in value.items()}
    if issubclass(kind, AbstractSet):
        return sorted
    if issubclass(kind, tuple | list):
        return lambda value: [_ENCODERS[type(each)](each) for each in value]
    return _message_encoder(kind)


def _message_encoder(of: type) -> Callable[[Any], Any]:
    kind = KINDS.get(of)
    named = {} if kind is None else {kind.member: kind.value}
    own = [(member.name, member.key, member.default, member.required) for member in members(of)]

    def give(message: Any) -> dict[str, Any]:
        found: dict[str, Any] = dict(named)
        for name, key, default, required in own:
            value = getattr(message, name)
            if required or value != default:
                found[key] = value if type(value) in _PLAIN else _ENCODERS[type(value)](value)
        return found

    return give
