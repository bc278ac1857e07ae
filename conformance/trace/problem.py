"""A problem in a trace, at its place in the file, and the error that carries all problems of a file at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Problem", "TraceError"]

_LONGEST = 400


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing that is wrong. `line` and `column` count from 1; `code` is one of `codes.RULES`.

    Its text is one line, `file:line:column: code message`, as editors and CI services read it.
    """

    file: str
    line: int
    column: int
    code: str
    message: str

    def __str__(self) -> str:
        return f"{_visible(self.file)}:{self.line}:{self.column}: {self.code} {_visible(self.message)}"


def _visible(text: str) -> str:
    """On one line, without what could steer a terminal, and not longer than one can read."""
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in shown)


class TraceError(Exception):
    """A trace can't be loaded. `problems` holds everything that was found, in the order of the file."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        super().__init__("\n".join(map(str, self.problems)))
