"""What the suite asks about sessions that are stored: end the process, start another, resume, delete.

Source: design section 3; clauses ATO-1 to ATO-7, ISO-3 to ISO-8, OPS-1, REC-2, REC-3, REC-5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = [
    "Crash",
    "Delete",
    "DurableOperation",
    "Restart",
    "Resume",
]

Crash: TypeAlias = Literal["before-commit", "during-commit", "after-commit"]
"""Where the harness's process dies over a fork: before it wrote anything, before what it wrote is safe, or after that
and before it could answer (capability `crash`)."""


@dataclass(frozen=True, slots=True)
class Restart:
    """End the harness's process, in order or with `kill`, and start another one on the same storage.

    Turns that are under way end with it. Afterwards a session is stored, and used again only after a `Resume`. Answered
    by `Acknowledged`.
    """

    kill: bool


@dataclass(frozen=True, slots=True)
class Resume:
    """Open this stored session again. Answered by `SessionOpened` with the id of what was opened."""

    session: str


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete this session; or, where `turns` are given (the harness's ids or the turns' markers), those turns of it.

    Answered by `Acknowledged`.
    """

    session: str
    turns: tuple[str, ...] = ()


DurableOperation: TypeAlias = Restart | Resume | Delete
