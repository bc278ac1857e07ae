"""Scopes, wake-ups, side state and files put back: what the suite asks, and what a harness answers.

Source: design section 3; clauses FLD-1 to FLD-4, STA-1 to STA-3, ENV-6, ENV-7.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

__all__ = [
    "Advance",
    "Delegate",
    "FilesPutBack",
    "Fold",
    "PutBack",
    "ReadState",
    "ScopeOpened",
    "SideAnswer",
    "SideOperation",
    "StateRead",
]


@dataclass(frozen=True, slots=True)
class Delegate:
    """Open a scope inside this conversation (capability `delegate`). Answered by `ScopeOpened`."""

    session: str


@dataclass(frozen=True, slots=True)
class Fold:
    """Bring what was said in a scope into the main thread (capability `fold`). Answered by `Acknowledged`."""

    scope: str


@dataclass(frozen=True, slots=True)
class PutBack:
    """Put files back as they were before a turn of this session (capability `restore`). Answered by `FilesPutBack`.

    `turn` is the harness's id of the turn; `marker` stands in its user message and nowhere else.
    """

    session: str
    marker: str
    turn: str | None = None


@dataclass(frozen=True, slots=True)
class Advance:
    """Let the harness's time pass by so many seconds (capability `tool.schedule`).

    A harness with a real clock waits for that long. Acknowledged when the turns that this started are over.
    """

    seconds: int


@dataclass(frozen=True, slots=True)
class ReadState:
    """The side state of a session (capability `state`). Answered by `StateRead`."""

    session: str


@dataclass(frozen=True, slots=True)
class ScopeOpened:
    """The scope's id: `SendPrompt` takes it in place of a session's."""

    scope: str


@dataclass(frozen=True, slots=True)
class FilesPutBack:
    """What the harness says of a restore: relative paths that were put back, and paths that it says were not."""

    restored: tuple[str, ...]
    left: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StateRead:
    """A session's todo list, the messages of its wake-ups, and what it is charged for, in answers of the model.

    `processes` are the names of the background processes that are the session's, one each time.
    """

    todo: tuple[str, ...] = ()
    schedules: tuple[str, ...] = ()
    usage: int = 0
    processes: tuple[str, ...] = ()


SideOperation: TypeAlias = Delegate | Fold | PutBack | Advance | ReadState
SideAnswer: TypeAlias = ScopeOpened | FilesPutBack | StateRead
