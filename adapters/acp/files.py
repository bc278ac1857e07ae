"""Client-side files: `fs/read_text_file` and `fs/write_text_file`, within a session's own directory and nowhere else.

An agent is offered them only where its recipe says so (`client = ["files"]`). Source: ACP, "File System"; the
directory is the one that the session was made with, and a link that leads out of it is not followed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forkproof.adapters.jsonrpc import RpcError

__all__ = ["read_text", "write_text"]

_INVALID = -32602
_NOT_FOUND = -32002


def read_text(directory: str | None, params: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to `fs/read_text_file`; `line` counts from 1, `limit` in lines. Raises `RpcError`."""
    place = _within(directory, params)
    try:
        text = place.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise RpcError(_NOT_FOUND, "Resource not found", {"uri": str(place)}) from error
    except (OSError, UnicodeDecodeError) as error:
        raise RpcError(_INVALID, f"can't read {place}: {error}") from error
    first, limit = params.get("line"), params.get("limit")
    if first is None and limit is None:
        return {"content": text}
    start = max(int(first or 1) - 1, 0)
    lines = text.splitlines(keepends=True)
    return {"content": "".join(lines[start : None if limit is None else start + int(limit)])}


def write_text(directory: str | None, params: Mapping[str, Any]) -> None:
    """Do what `fs/write_text_file` asks; folders on the way are made. Raises `RpcError`."""
    place = _within(directory, params)
    content = params.get("content")
    if not isinstance(content, str):
        raise RpcError(_INVALID, "`content` must be a text")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content, encoding="utf-8", newline="")
    except OSError as error:
        raise RpcError(_INVALID, f"can't write {place}: {error}") from error


def _within(directory: str | None, params: Mapping[str, Any]) -> Path:
    """The real place that is asked for. Raises `RpcError` for one outside the session's directory."""
    asked = params.get("path")
    if directory is None:
        raise RpcError(_NOT_FOUND, f"there is no session {params.get('sessionId')!r}")
    if not isinstance(asked, str) or not asked.startswith("/"):
        raise RpcError(_INVALID, "`path` must be an absolute path")
    # Whoever wants the file's content follows links; so the place that counts is where they lead.
    place = Path(os.path.realpath(asked))
    if not place.is_relative_to(os.path.realpath(directory)):
        raise RpcError(_INVALID, f"{asked} is not in the session's directory {directory}")
    return place
