"""A request's body: bytes as they came, unpacked and read as one JSON object."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

from forkproof.adapters.model.codec import MalformedRequestError
from forkproof.adapters.model.sse import no_constant

__all__ = ["LIMIT", "read"]

LIMIT = 64 * 1024 * 1024
"""Bytes of the largest body that is taken, before and after unpacking."""

TOO_LARGE = 413
UNSUPPORTED = 415

WINDOWS = {"gzip": (31,), "x-gzip": (31,), "deflate": (15, -15)}
"""zlib's window sizes to try for an encoding; some clients send `deflate` without zlib's frame."""


def read(raw: bytes, encoding: str = "") -> Mapping[str, Any]:
    """The JSON object in a body. Raises `MalformedRequestError` with status 400, 413 or 415 and the reason."""
    unpacked = raw if encoding in ("", "identity") else _unpack(raw, encoding)
    try:
        value = json.loads(unpacked.decode("utf-8"), parse_constant=no_constant)
    except UnicodeDecodeError as error:
        raise MalformedRequestError(
            f"the body is not UTF-8: byte {error.start} is {unpacked[error.start]:#04x}"
        ) from error
    except json.JSONDecodeError as error:
        raise MalformedRequestError(f"the body is not JSON: {error}") from error
    except (ValueError, RecursionError) as error:
        raise MalformedRequestError(f"the body can't be read as JSON: {error}") from error
    if not isinstance(value, dict):
        raise MalformedRequestError("the body is JSON, but not an object")
    return value


def _unpack(raw: bytes, encoding: str) -> bytes:
    if encoding not in WINDOWS:
        raise MalformedRequestError(
            f"content-encoding {encoding!r} is not supported, send gzip, deflate or none", UNSUPPORTED
        )
    problem = zlib.error()
    for window in WINDOWS[encoding]:
        unpacker = zlib.decompressobj(window)
        try:
            unpacked = unpacker.decompress(raw, LIMIT)
        except zlib.error as error:
            problem = error
            continue
        if unpacker.unconsumed_tail:
            raise MalformedRequestError(f"the body unpacks to more than {LIMIT} bytes", TOO_LARGE)
        if not unpacker.eof:
            raise MalformedRequestError(f"the body's {encoding} data is cut short")
        return unpacked
    raise MalformedRequestError(f"the body is not {encoding} data: {problem}")
