"""Turns of Codex: which run, how they end, and which native turn a trace's turn is within a given thread."""

from __future__ import annotations

import asyncio
import secrets
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from forkproof.adapters.codex.answers import StoredTurn, at, text
from forkproof.adapters.protocol import TurnRef

__all__ = ["Ending", "Ledger", "find_turn", "unknown_id"]


@dataclass(frozen=True, slots=True)
class Ending:
    """How a turn ended: Codex's status (completed, interrupted or failed) and its words if it failed."""

    turn: str
    status: str
    detail: str = ""


class Ledger:
    """Keeps what the notifications `turn/started`, `turn/completed` and `item/started` tell, for whoever waits.

    A turn may end before the answer that names it is read, so endings are kept.
    """

    def __init__(self) -> None:
        self._endings: dict[str, asyncio.Future[Ending]] = {}
        self._latest: dict[str, str] = {}
        self._starts: dict[str, asyncio.Future[str]] = {}
        self._tickets: dict[str, asyncio.Future[str]] = {}
        self._changes: dict[str, asyncio.Future[None]] = {}

    def hear(self, method: str, params: Any) -> None:
        """Take note of one notification; others than the four are ignored. Raises `Garbage`."""
        if method == "item/started":
            self._hear_item(params)
        if method == "thread/settings/updated":
            change = self._changes.pop(text(params, "threadId"), None)
            if change is not None and not change.done():
                change.set_result(None)
        if method not in ("turn/started", "turn/completed"):
            return
        thread, turn = text(params, "threadId"), text(params, "turn", "id")
        if method == "turn/started":
            self.begun(thread, turn)
            waiting = self._starts.pop(thread, None)
            if waiting is not None and not waiting.done():
                waiting.set_result(turn)
            return
        ending = self.ending(turn)
        if not ending.done():
            error = at(params, "turn", "error")
            detail = "" if error is None else str(at(error, "message") or "")
            ending.set_result(Ending(turn, text(params, "turn", "status"), detail))

    def _hear_item(self, params: Any) -> None:
        """A user message with an id of the client's own says which turn a queued message became."""
        ticket = at(params, "item", "clientId")
        if isinstance(ticket, str) and at(params, "item", "type") == "userMessage":
            waiting = self.turn_of(ticket)
            if not waiting.done():
                waiting.set_result(text(params, "turnId"))

    def next_change(self, thread: str) -> asyncio.Future[None]:
        """A future of the thread's next change of settings."""
        return self._changes.setdefault(thread, asyncio.get_running_loop().create_future())

    def begun(self, thread: str, turn: str) -> None:
        """This turn is the thread's latest."""
        self._latest[thread] = turn

    def latest(self, thread: str) -> str | None:
        """The turn that was begun last in this thread, whether or not it still runs; None before the first."""
        return self._latest.get(thread)

    def running(self) -> bool:
        """Whether the latest turn of any thread has not ended."""
        return any(not self.ending(turn).done() for turn in self._latest.values())

    def turn_of(self, ticket: str) -> asyncio.Future[str]:
        """A future of the turn that a queued message became, by the id that the client gave to it; shield it."""
        return self._tickets.setdefault(ticket, asyncio.get_running_loop().create_future())

    def ending(self, turn: str) -> asyncio.Future[Ending]:
        """A future of the turn's end; shield it, as others may wait for it too."""
        return self._endings.setdefault(turn, asyncio.get_running_loop().create_future())

    def next_start(self, thread: str) -> asyncio.Future[str]:
        """A future of the next turn that begins in this thread: a compaction's, whose answer gives no id."""
        return self._starts.setdefault(thread, asyncio.get_running_loop().create_future())


def find_turn(stored: Sequence[StoredTurn], wanted: TurnRef) -> str | None:
    """The native id of a played turn within one thread, else None.

    A fork's copied turns keep their ids (docs/codex.md, "Ids"), so the native id is tried first; the marker in the
    turn's user message finds it where they don't.
    """
    if any(turn.id == wanted.native for turn in stored):
        return wanted.native
    return next((turn.id for turn in stored if any(wanted.marker in words for words in turn.users)), None)


def unknown_id() -> str:
    """An id of the form that Codex gives to threads and turns (a UUID version 7, of now), and gave to none."""
    milliseconds = time.time_ns() // 1_000_000
    bits = milliseconds << 80 | 0x7 << 76 | secrets.randbits(12) << 64 | 0b10 << 62 | secrets.randbits(62)
    return str(uuid.UUID(int=bits))
