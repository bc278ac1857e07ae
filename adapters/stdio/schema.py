"""The JSON Schema of every message of the open protocol, in both directions, generated from the types.

`forkproof schema adapter` prints it. Each line that either side writes is valid by the whole; `$defs` holds under a
method's name what it takes and what it gives.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin

from forkproof.adapters.protocol import Refused, Unknown, Unsupported
from forkproof.adapters.stdio.decode import is_union
from forkproof.adapters.stdio.messages import PROTOCOL_VERSION
from forkproof.adapters.stdio.methods import CANCEL, METHODS, Method
from forkproof.adapters.stdio.wire import KINDS, encode, members

__all__ = ["SCHEMA_ID", "adapter_schema"]

SCHEMA_ID = f"urn:forkproof:schema:adapter:{PROTOCOL_VERSION}"

_SCALARS: Mapping[type, Mapping[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
}
_ID = {"type": ["integer", "string"]}


def adapter_schema() -> dict[str, Any]:
    """The schema of one line, JSON Schema draft 2020-12."""
    defs: dict[str, Any] = {}
    for name, method in METHODS.items():
        defs[f"{name} params"] = _of(method.params, defs)
        defs[f"{name} result"] = _result(method, defs)
    requests = {side: [_request(n) for n, m in METHODS.items() if m.asked_by == side] for side in ("suite", "adapter")}
    results = [{"$ref": _ref(f"{name} result")} for name in METHODS]
    defs |= {
        "suite to adapter": {
            "description": "What the suite writes: requests, answers, and cancellations.",
            "anyOf": [
                *requests["suite"], _answer([r for n, r in zip(METHODS, results, strict=True) if _asks(n, "adapter")]),
                _ERROR, _CANCEL,
            ],
        },
        "adapter to suite": {
            "description": "What an adapter writes: answers, requests of its own, and cancellations.",
            "anyOf": [
                *requests["adapter"], _answer([r for n, r in zip(METHODS, results, strict=True) if _asks(n, "suite")]),
                _ERROR, _CANCEL,
            ],
        },
    }  # fmt: skip
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "One line of the forkproof adapter protocol",
        "anyOf": [{"$ref": _ref("suite to adapter")}, {"$ref": _ref("adapter to suite")}],
        "$defs": dict(sorted(defs.items())),
    }


def _asks(method: str, side: str) -> bool:
    return METHODS[method].asked_by == side


def _ref(name: str) -> str:
    return "#/$defs/" + name.replace("~", "~0").replace("/", "~1").replace(" ", "%20")


def _request(method: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "jsonrpc": {"const": "2.0"},
            "id": _ID,
            "method": {"const": method},
            "params": {"$ref": _ref(f"{method} params")},
        },
        "required": ["jsonrpc", "id", "method", "params"],
        "additionalProperties": False,
    }


def _answer(results: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"jsonrpc": {"const": "2.0"}, "id": _ID, "result": {"anyOf": results}},
        "required": ["jsonrpc", "id", "result"],
        "additionalProperties": False,
    }


_ERROR: dict[str, Any] = {
    "type": "object",
    "properties": {
        "jsonrpc": {"const": "2.0"},
        "id": {"type": ["integer", "string", "null"]},
        "error": {
            "type": "object",
            "properties": {"code": {"type": "integer"}, "message": {"type": "string"}, "data": {}},
            "required": ["code", "message"],
        },
    },
    "required": ["jsonrpc", "id", "error"],
    "additionalProperties": False,
}
_CANCEL: dict[str, Any] = {
    "type": "object",
    "properties": {
        "jsonrpc": {"const": "2.0"},
        "method": {"const": CANCEL},
        "params": {"type": "object", "properties": {"id": _ID}, "required": ["id"]},
    },
    "required": ["jsonrpc", "method", "params"],
    "additionalProperties": False,
}


def _result(method: Method, defs: dict[str, Any]) -> dict[str, Any]:
    done = _of(method.result, defs)
    if not method.operation:
        return done
    # An answer that is done may say so, and need not.
    own = defs[method.result.__name__]
    own["properties"] = {"outcome": {"const": "done"}} | own["properties"]
    return {"anyOf": [done, *(_of(kind, defs) for kind in (Refused, Unsupported, Unknown))]}


def _of(kind: Any, defs: dict[str, Any]) -> dict[str, Any]:
    if kind is Any:
        return {}
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _message(kind, defs)
    if is_union(kind):
        return {"anyOf": [_of(each, defs) for each in get_args(kind)]}
    origin = get_origin(kind)
    if origin is Literal:
        return {"enum": list(get_args(kind))}
    if origin in (tuple, frozenset):
        return {"type": "array", "items": _of(get_args(kind)[0], defs)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _of(get_args(kind)[1], defs)}
    return dict(_SCALARS[kind])


def _message(kind: type, defs: dict[str, Any]) -> dict[str, Any]:
    name = kind.__name__
    if name not in defs:
        defs[name] = {}  # held, for a message that holds another of its kind
        tag = KINDS.get(kind)
        told = {} if tag is None else {tag.member: {"const": tag.value}}
        properties: dict[str, Any] = {**told}
        for member in members(kind):
            default = {} if member.required else {"default": encode(member.default)}
            properties[member.key] = _of(member.type, defs) | default
        defs[name] = {
            "description": inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[0].replace("\n", " "),
            "type": "object",
            "properties": properties,
            "required": [*told, *(m.key for m in members(kind) if m.required)],
            "additionalProperties": False,
        }
    return {"$ref": _ref(name)}
