"""What may not leave the machine: home paths and keys are replaced in everything that is written (design section 8)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["Redactor"]


class Redactor:
    """Replaces literals, e.g. `/home/ada` by `$HOME`, in all strings and keys of JSON data.

    A longer literal wins over a shorter one that it holds. A literal that begins with `/` is a path, replaced only
    where its last component ends, so that `/home/ada` leaves `/home/adam` alone. The empty literal and `/` say nothing
    and are left out. Replaced text is not looked at again.
    """

    def __init__(self, literals: Mapping[str, str] | None = None) -> None:
        self._replacements = {k: v for k, v in (literals or {}).items() if k not in {"", "/"}}
        longest_first = sorted(self._replacements, key=lambda k: (-len(k), k))
        self._pattern = re.compile("|".join(_pattern(k) for k in longest_first)) if longest_first else None

    @classmethod
    def of(cls, *, homes: Iterable[str] = (), keys: Iterable[str] = ()) -> Redactor:
        """Home directories become `$HOME`, secret values `$KEY`."""
        return cls({h.rstrip("/"): "$HOME" for h in homes} | dict.fromkeys(keys, "$KEY"))

    def text(self, text: str) -> str:
        """The text with every literal replaced."""
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: self._replacements[found.group()], text)

    def data(self, value: Any) -> Any:
        """The same JSON data with every string and key redacted; `value` itself stays as it is."""
        if self._pattern is None:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.data(k): self.data(v) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [self.data(v) for v in value]
        return value


def _pattern(literal: str) -> str:
    return re.escape(literal) + (r"(?![A-Za-z0-9_-])" if literal.startswith("/") else "")
