"""What a plain (unquoted) YAML scalar means in a trace: what it means in JSON, or else its own text."""

from __future__ import annotations

import math
import re

__all__ = ["TooLargeError", "unprintable", "value_of"]

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_CONSTANTS: dict[str, bool | None] = {"": None, "~": None, "null": None, "true": True, "false": False}
_LONGEST = 24  # the longest that a JSON writer makes of any float
_UNPRINTABLE = re.compile("[\x00\ud800-\udfff]")


class TooLargeError(ValueError):
    """A number with more digits than any trace needs; reading it could take long."""


def value_of(text: str) -> str | int | float | bool | None:
    """Null, a boolean or a number in JSON's spelling; everything else is text.

    So `yes`, `on`, `NO`, `True`, `0o17`, `0x1f`, `1_000`, `12:30:00` and `2024-01-01`, which YAML 1.1 would turn into
    something else, stay as they are written. Raises `TooLargeError`.
    """
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    found = _NUMBER.fullmatch(text)
    if found is None:
        return text
    if len(text) > _LONGEST:
        raise TooLargeError(text[:_LONGEST])
    if found[1] is None and found[2] is None:
        return int(text)
    number = float(text)
    if not math.isfinite(number):
        raise TooLargeError(text)
    return number


def unprintable(text: str) -> str | None:
    """The name of a character in this text that no harness could carry: NUL, or half a surrogate pair."""
    found = _UNPRINTABLE.search(text)
    if found is None:
        return None
    return "NUL" if found[0] == "\0" else f"lone surrogate U+{ord(found[0]):04X}"
