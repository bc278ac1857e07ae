"""What OpenAI's two wire formats have in common: content arrays, tool arguments, settings, session ids, errors."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from forkproof.adapters.model.codec import MalformedRequestError
from forkproof.adapters.model.sse import no_constant
from forkproof.adapters.prompt import Prompt

__all__ = [
    "USAGE", "SettingPaths", "arguments_text", "array", "cache_key", "failure", "mapping", "read_arguments",
    "read_settings", "session", "string", "texts", "tool_names", "write_cache_key", "write_settings",
]  # fmt: skip

USAGE = (21, 9)
"""Tokens of every answer, input and output: so few that no harness starts to compact by itself."""

SettingPaths: TypeAlias = Mapping[str, tuple[str, ...]]
"""Canonical name of a setting -> where it stands in a body."""

SESSION_HEADERS = ("agent-session-id", "thread-id", "session-id", "session_id", "conversation_id")
"""Seen on the wire: Goose sends the first, Codex the second and third, older Codex releases the last two."""

TEXT_TYPES = ("text", "input_text", "output_text", "summary_text", "reasoning_text")

ERROR_KINDS = {
    401: ("invalid_request_error", "invalid_api_key"),
    404: ("invalid_request_error", "not_found"),
    429: ("rate_limit_error", "rate_limit_exceeded"),
}


PARAMS = {"previous_response_not_found": "previous_response_id"}
"""Which field of the request an error with this code is about."""


def failure(status: int, message: str, code: str = "") -> dict[str, Any]:
    """The error body of OpenAI's API for this HTTP status, with its own code if that is not the status's usual one."""
    other = ("server_error", "server_error") if status >= 500 else ("invalid_request_error", "invalid_request")  # noqa: PLR2004  # HTTP
    kind, usual = ERROR_KINDS.get(status, other)
    return {"error": {"message": message, "type": kind, "param": PARAMS.get(code), "code": code or usual}}


# --- Reading JSON that may be anything -----------------------------------------------------------------------------


def mapping(value: Any, where: str) -> Mapping[str, Any]:
    """The value, which must be a JSON object. Raises `MalformedRequestError` that names the place."""
    if not isinstance(value, Mapping):
        raise MalformedRequestError(f"{where}: expected an object, got {_kind(value)}")
    return value


def array(value: Any, where: str) -> list[Any]:
    """The value, which must be a JSON array."""
    if not isinstance(value, list):
        raise MalformedRequestError(f"{where}: expected an array, got {_kind(value)}")
    return value


def string(value: Any, where: str) -> str:
    """The value, which must be a JSON string."""
    if not isinstance(value, str):
        raise MalformedRequestError(f"{where}: expected a string, got {_kind(value)}")
    return value


def _kind(value: Any) -> str:
    names = {type(None): "nothing", bool: "a boolean", str: "a string", list: "an array", dict: "an object"}
    return names.get(type(value), "a number")


def texts(content: Any, where: str) -> list[str]:
    """The texts of a content in order: none for null or an empty string, one for a string, one a part for an array.

    What is not text leaves a placeholder such as `[image]`: it isn't judged, but its place in the prompt is.
    """
    match content:
        case None | "":
            return []
        case str():
            return [content]
        case Mapping():
            return [_part_text(content, where)]
        case _:
            parts = array(content, where)
            return [_part_text(mapping(part, f"{where}[{i}]"), f"{where}[{i}]") for i, part in enumerate(parts)]


def _part_text(part: Mapping[str, Any], where: str) -> str:
    kind = string(part.get("type"), f"{where}.type")
    if kind in TEXT_TYPES:
        return string(part.get("text"), f"{where}.text")
    if kind == "refusal":
        return string(part.get("refusal"), f"{where}.refusal")
    return f"[{kind.removeprefix('input_').removesuffix('_url')}]"


# --- Tool calls ----------------------------------------------------------------------------------------------------


def read_arguments(text: str) -> Mapping[str, Any] | str:
    """A call's arguments: the object that the text spells, or the text itself where it spells none."""
    try:
        value = json.loads(text, parse_constant=no_constant)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict) else text


def arguments_text(arguments: Mapping[str, Any] | str) -> str:
    """A call's arguments as the text that stands on the wire."""
    return arguments if isinstance(arguments, str) else json.dumps(dict(arguments), ensure_ascii=False)


def tool_names(tools: Any) -> tuple[str, ...]:
    """The names of the tools offered, in order; a built-in tool without a name goes by its type."""
    return tuple(_tool_name(mapping(tool, f"tools[{i}]"), i) for i, tool in enumerate(array(tools or [], "tools")))


def _tool_name(tool: Mapping[str, Any], index: int) -> str:
    kind = string(tool.get("type"), f"tools[{index}].type")
    nested = tool.get(kind)
    name = nested.get("name") if isinstance(nested, Mapping) else tool.get("name")
    return name if isinstance(name, str) else kind


# --- Settings and sessions -----------------------------------------------------------------------------------------


def read_settings(body: Mapping[str, Any], paths: SettingPaths) -> dict[str, str]:
    """The scalar settings that the body holds, each as its JSON text, strings bare; others are left out."""
    found = {name: _at(body, path) for name, path in paths.items()}
    return {name: _scalar(value) for name, value in found.items() if isinstance(value, str | bool | int | float)}


def write_settings(settings: Mapping[str, str], paths: SettingPaths, *, bare: Iterable[str]) -> dict[str, Any]:
    """The part of a body that spells these settings; those named in `bare` are strings, the others JSON texts."""
    body: dict[str, Any] = {}
    for name, path in paths.items():
        if name in settings:
            value = settings[name] if name in bare else json.loads(settings[name])
            target = body
            for key in path[:-1]:
                target = target.setdefault(key, {})
            target[path[-1]] = value
    return body


def _at(body: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        body = body.get(key) if isinstance(body, Mapping) else None
    return body


def _scalar(value: str | bool | float) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def cache_key(body: Mapping[str, Any]) -> str | None:
    """What tells the provider which requests share a beginning, None without one."""
    key = body.get("prompt_cache_key")
    return key if isinstance(key, str) else None


def write_cache_key(prompt: Prompt) -> dict[str, Any]:
    """The part of a body that spells a prompt's cache key, or its session where it has none."""
    key = prompt.cache_key if prompt.cache_key is not None else prompt.session
    return {} if key is None else {"prompt_cache_key": key}


def session(body: Mapping[str, Any], headers: Mapping[str, str]) -> str | None:
    """The harness's own session id, from the most telling place that has one."""
    return next((headers[name] for name in SESSION_HEADERS if headers.get(name)), cache_key(body))
