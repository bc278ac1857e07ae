"""Server-sent events as bytes, and how a long text is cut into deltas.

JSON is written in ASCII: lone surrogates, U+2028 and line ends become escapes, so that no client can take a character
of a text for the end of a line, and every text that Python can hold has a defined form on the wire.
"""

from __future__ import annotations

import json
from typing import Any

__all__ = ["DONE", "PIECE", "data", "event", "json_bytes", "no_constant", "pieces"]

DONE = b"data: [DONE]\n\n"
"""How a Chat Completions stream ends."""

PIECE = 24
"""Characters in one delta: shorter than most texts with a marker, so that a client has to join."""

MOST_PIECES = 32
"""A longer text gets longer deltas: the number of events stays bounded."""


def json_bytes(value: Any) -> bytes:
    """Compact ASCII JSON. Raises `ValueError` for numbers that JSON doesn't have."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")


def no_constant(name: str) -> Any:
    """For `json.loads(parse_constant=...)`: NaN and the infinities are Python's, not JSON's. Raises `ValueError`."""
    raise ValueError(f"{name} is not JSON")


def event(name: str, value: Any) -> bytes:
    """One named event."""
    return b"event: " + name.encode("ascii") + b"\n" + data(value)


def data(value: Any) -> bytes:
    """One event without a name."""
    return b"data: " + json_bytes(value) + b"\n\n"


def pieces(text: str) -> list[str]:
    """The text in order, in at most `MOST_PIECES` deltas of at least `PIECE` characters but for the last one."""
    size = max(PIECE, -(-len(text) // MOST_PIECES))
    return [text[start : start + size] for start in range(0, len(text), size)]
