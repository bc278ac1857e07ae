"""What may not leave the machine: home paths and keys are replaced in everything that is written (design section 8)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
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
        self._pattern = _pattern(paths or {}, secrets or {}, lambda literal: literal)
        # As JSON writes the literals: what it escapes looks otherwise there.
        self._written = _pattern(
            paths or {}, secrets or {}, lambda literal: json.dumps(literal, ensure_ascii=False)[1:-1]
        )
        self._written_ascii = _pattern(paths or {}, secrets or {}, _in_ascii)
        self._literals_ascii = tuple(_in_ascii(literal) for literal in self._replacements if _tells(literal))

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

        Nearly no text holds one, and to look at the text as a whole is far cheaper than at each of its strings, as a
        plain search is than one by a pattern.
        """
        if self._written_ascii is None or not any(literal in written for literal in self._literals_ascii):
            return True
        return self._written_ascii.search(written) is None

    def data(self, value: Any) -> Any:
        """The same JSON data with every string and key redacted, tuples as lists; `value` itself stays as it is.

        What is no JSON is handed on.
        """
        if self._pattern is None or self._written is None:
            return value
        try:
            return json.loads(self._written.sub(self._replacement, json.dumps(value, ensure_ascii=False)))
        except (TypeError, ValueError):  # no JSON; or what was found began within an escape of JSON's
            return self._walked(value)

    def _walked(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self._walked(k): self._walked(v) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [self._walked(v) for v in value]
        return value

    def _replacement(self, found: re.Match[str]) -> str:
        literal = json.loads(f'"{found.group()}"')
        return json.dumps(self._replacements[literal], ensure_ascii=False)[1:-1]


def _in_ascii(literal: str) -> str:
    """As ASCII JSON text writes it."""
    return json.dumps(literal)[1:-1]


def _tells(literal: str) -> bool:
    """Whether a literal says anything: the empty one and the root stand everywhere."""
    return literal not in {"", "/"}


def _pattern(paths: Iterable[str], secrets: Iterable[str], written: Callable[[str], str]) -> re.Pattern[str] | None:
    """What finds every literal, the longest first, in a text that writes them in this way; None without any."""
    patterns = {k: _BEGIN + re.escape(written(k)) + _END for k in paths} | {k: re.escape(written(k)) for k in secrets}
    telling = sorted(filter(_tells, patterns), key=lambda k: (-len(k), k))
    return re.compile("|".join(patterns[k] for k in telling)) if telling else None
