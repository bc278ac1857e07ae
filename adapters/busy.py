"""What the suite asks of a harness while a session is busy, and an item as a cut point.

Source: clauses QUE-1, QUE-2, CMP-7, TOOL-7.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["AwaitQueued", "BusyOperation", "ItemRef", "Queue", "Steer"]


@dataclass(frozen=True, slots=True)
class ItemRef:
    """An item that was played before, as a cut point: the entry that holds it is the last one that is kept.

    `name` is the trace's, e.g. `plan.user` or `edit.result`. `marker` is text that stands in that item and nowhere
    else; for a call and its result it is the call's wire id. An item with `exists=False` never was.
    """

    name: str
    marker: str
    exists: bool = True


@dataclass(frozen=True, slots=True)
class Steer:
    """Speak into the turn that runs in this session; acknowledged once the harness has it (capability `steer`)."""

    session: str
    text: str


@dataclass(frozen=True, slots=True)
class Queue:
    """Hold a message until nothing is under way in this session, then run it as a turn (capability `queue`).

    Acknowledged at once; `native` is what `AwaitQueued` goes by.
    """

    session: str
    text: str


@dataclass(frozen=True, slots=True)
class AwaitQueued:
    """Wait for the end of the turn that a queued message became. Answered like `SendPrompt`."""

    session: str
    native: str | None


BusyOperation: TypeAlias = Steer | Queue | AwaitQueued
