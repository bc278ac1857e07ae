"""The items of a prompt, as a trace names them: `plan.user`, `edit.result: done`. Source: design section 3."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import BeforeValidator, GetJsonSchemaHandler, WithJsonSchema
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

__all__ = ["Item", "ItemPattern", "Status"]

Status: TypeAlias = Literal["done", "failed", "unfinished"]
"""What a result says of its call: it is done, it failed, or nobody knows how far it came."""

_NAME = r"[a-z][a-z0-9-]*\.(?:user|say|think|attachment|call|result|summary|todo|memory|context|edit)(?:\.[0-9]+)?"
_ROLE = r"user|assistant|tool|system"
_AUTHOR = r"[a-z][a-z0-9-]*"
_ITEM = re.compile(rf"(?P<item>{_NAME})(?: as (?P<role>{_ROLE})(?:\((?P<author>{_AUTHOR})\))?)?")
_FORMS = "TURN.user, TURN.say, CALL.call, CALL.result or COMPACT.summary, e.g. `plan.user`"


@dataclass(frozen=True, slots=True)
class ItemPattern:
    """One expected item of a prompt: `plan.user`, `edit.result: done`, `draft.say as assistant`.

    `author` is who the prompt names as its author, as in `review.say as user(reviewer)`.
    """

    item: str
    status: Status | None = None
    role: str | None = None
    author: str | None = None

    def __str__(self) -> str:
        return self.item + (f": {self.status}" if self.status else "") + _as(self)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """The forms that a YAML file may use."""
        del schema, handler
        return _SCHEMA


def _as(pattern: ItemPattern) -> str:
    author = f"({pattern.author})" if pattern.author else ""
    return f" as {pattern.role}{author}" if pattern.role else ""


_SCHEMA: JsonSchemaValue = {
    "title": "Item",
    "description": f"An item of a prompt: {_FORMS}; a result may carry its status.",
    "anyOf": [
        {"type": "string", "pattern": rf"^{_NAME}( as ({_ROLE})(\({_AUTHOR}\))?)?$"},
        {
            "type": "object",
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": False,
            "patternProperties": {f"^[a-z][a-z0-9-]*\\.result( as ({_ROLE}))?$": {"enum": list(get_args(Status))}},
        },
    ],
}


def _pattern(value: Any) -> ItemPattern:
    status = None
    if isinstance(value, ItemPattern):
        return value
    if isinstance(value, Mapping) and len(value) == 1:
        ((value, status),) = value.items()
        if status not in get_args(Status):
            msg = f"a result's status is done, failed or unfinished, not {status!r}"
            raise ValueError(msg)
    found = _ITEM.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        msg = f"not an item name: {value!r} (an item is {_FORMS})"
        raise ValueError(msg)
    if status and ".result" not in found["item"]:
        msg = f"only a result has a status, {found['item']!r} is none"
        raise ValueError(msg)
    return ItemPattern(found["item"], status, found["role"], found["author"])


Item = Annotated[ItemPattern, BeforeValidator(_pattern), WithJsonSchema(_SCHEMA)]
