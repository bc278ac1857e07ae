"""What may not leave the machine: home paths and keys are replaced in everything that is written (design section 8)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["Redactor"]

# `</root>` closes an element and is no path.
_BEGIN = r"(?<!<)"
_END = r"(?![A-Za-z0-9_-])"


class Redactor:
    """Replaces literals in all strings and keys of JSON data: secrets wherever they stand, paths where they end.

    `paths`, e.g. `/home/ada` -> `$HOME`, are replaced only where their last component ends, so that `/home/adam` stays.
    A longer literal wins over a shorter one that it holds. The empty literal and `/` say nothing and are left out.
    Replaced text is not looked at again.
    """

    def __init__(self, secrets: Mapping[str, str] | None = None, paths: Mapping[str, str] | None = None) -> None:
        self._replacements = {**(paths or {}), **(secrets or {})}
        patterns = {k: _BEGIN + re.escape(k) + _END for k in paths or {}} | {k: re.escape(k) for k in secrets or {}}
        telling = sorted((k for k in patterns if k not in {"", "/"}), key=lambda k: (-len(k), k))
        self._pattern = re.compile("|".join(patterns[k] for k in telling)) if telling else None
        # As JSON writes them: what it escapes looks otherwise there.
        self._written = tuple(json.dumps(k)[1:-1] for k in telling)

    @classmethod
    def of(cls, *, homes: Iterable[str] = (), keys: Iterable[str] = ()) -> Redactor:
        """Home directories become `$HOME`, secret values `$KEY`."""
        return cls(dict.fromkeys(keys, "$KEY"), {h.rstrip("/"): "$HOME" for h in homes})

    def text(self, text: str) -> str:
        """The text with every literal replaced."""
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: self._replacements[found.group()], text)

    def silent_on(self, written: str) -> bool:
        """Whether this ASCII JSON text holds no literal, so that `data` would change nothing of what it was made from.

        Nearly no text holds one, and to look at the text as a whole is far cheaper than at each of its strings.
        """
        return not any(literal in written for literal in self._written)

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
