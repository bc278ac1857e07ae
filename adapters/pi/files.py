"""pi's session files as forkproof writes them: imported histories, and the stub that leads pi into a directory.

The format is the harness's own, version 3: a header line, then one entry a line. Source: pi's docs/session-format.md.
"""

from __future__ import annotations

import json
import secrets
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from forkproof.adapters.pi.configuration import DEFAULT_MODEL, PROVIDER
from forkproof.adapters.protocol import ImportedTurn

__all__ = ["header", "header_id", "imported", "new_id", "place", "write"]

_VERSION = 3


def new_id() -> str:
    """An id of the form that pi gives to sessions: a UUID version 7, of now."""
    milliseconds = time.time_ns() // 1_000_000
    bits = milliseconds << 80 | 0x7 << 76 | secrets.randbits(12) << 64 | 0b10 << 62 | secrets.randbits(62)
    return str(uuid.UUID(int=bits))


def place(folder: Path, session: str) -> Path:
    """Where pi would store a session that begins now."""
    stamp = _iso(time.time()).replace(":", "-").replace(".", "-")
    return folder / f"{stamp}_{session}.jsonl"


def header(session: str, directory: str, version: int = _VERSION) -> dict[str, Any]:
    """The first line of a session's file."""
    return {"type": "session", "version": version, "id": session, "timestamp": _iso(time.time()), "cwd": directory}


def header_id(file: Path) -> str | None:
    """The id in a session file's header; None where there is no such file or header."""
    try:
        with file.open("rb") as stream:
            told = json.loads(stream.readline())
    except (OSError, ValueError):
        return None
    return told.get("id") if isinstance(told, dict) else None


def write(file: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    """Write a session's file, one object a line."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def imported(turns: Sequence[ImportedTurn], api: str) -> Iterator[dict[str, Any]]:
    """Two entries for each turn, in the order of storage: the user's message bears the turn's own id, if it has one.

    `api` is pi's name of the wire format, which an answer must name. Each turn hangs on the answer of the one that it
    is behind; one behind an unknown turn hangs on an id that no entry has.
    """
    keys = [turn.key or str(index) for index, turn in enumerate(turns)]
    users = {key: turn.id or secrets.token_hex(4) for key, turn in zip(keys, turns, strict=True)}
    says = {key: f"{user}-say" for key, user in users.items()}
    before: str | None = None
    for key, turn in zip(keys, turns, strict=True):
        parent = before if turn.behind is None else says.get(turn.behind, secrets.token_hex(4))
        stamp = _seconds(turn.at)
        yield _entry(users[key], parent, turn.at, {"role": "user", "content": turn.user, "timestamp": stamp * 1000})
        yield _entry(says[key], users[key], turn.at, _answer(turn.say, stamp, api))
        before = says[key]


def _entry(id_: str, parent: str | None, at: int | str, message: Mapping[str, Any]) -> dict[str, Any]:
    stamp = at if isinstance(at, str) else _iso(at)
    return {"type": "message", "id": id_, "parentId": parent, "timestamp": stamp, "message": message}


def _answer(text: str, at: int, api: str) -> dict[str, Any]:
    free = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
    return {
        "role": "assistant",
        "content": [{"type": "text", "text": text}],
        "api": api,
        "provider": PROVIDER,
        "model": DEFAULT_MODEL,
        "usage": {"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 2, "cost": free},
        "stopReason": "stop",
        "timestamp": at * 1000,
    }


def _seconds(at: int | str) -> int:
    return at if isinstance(at, int) else int(datetime.fromisoformat(at).timestamp())


def _iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
