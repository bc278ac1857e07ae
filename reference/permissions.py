"""Permission modes: what a tool needs before it runs. Source: clauses AUT-1 to AUT-3.

`read-only` runs what only reads and denies the rest, `ask` asks the person before the rest, `auto` runs everything.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

__all__ = ["MODES", "Need", "need", "strictest"]

MODES: Final = ("read-only", "ask", "auto")
"""The modes, the strictest first."""

Need: TypeAlias = Literal["run", "ask", "deny"]
"""What becomes of a call: it runs, the person is asked first, or it is denied."""

_READING: Final = frozenset({"read"})


def need(mode: str, tool: str) -> Need:
    """What a call of this tool needs in this mode.

    A mode that nobody knows allows nothing but reading: what can't be enforced must not run (AUT-3).
    """
    if tool in _READING or mode == "auto":
        return "run"
    if mode == "ask":
        return "ask"
    return "deny"


def strictest(one: str, other: str) -> str:
    """The stricter of two modes (AUT-2)."""
    return min(one, other, key=lambda mode: MODES.index(mode) if mode in MODES else 0)
