"""Text of a harness made safe to show: nothing in it may move the cursor, colour the screen or break the encoding."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["compact", "plain"]


def plain(text: str, *, ascii_only: bool = False) -> str:
    r"""The text with everything that does not print escaped (`\x1b`, `\udc80`, `\n`); printable letters stay."""
    if not text.isprintable():
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    return text.encode("ascii", "backslashreplace").decode("ascii") if ascii_only else text


def compact(value: Any) -> str:
    """A JSON value on one line: words as they are, anything else as JSON with sorted keys."""
    if isinstance(value, str) and value.isprintable() and value.strip() == value != "":
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
