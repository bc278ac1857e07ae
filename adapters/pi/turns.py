"""The turns of one pi process, as its events tell of them.

A turn is over when pi settles, or when a message that was queued behind it is taken up: pi runs both in one go. Events
bear no session and no turn: a process has one session, and one turn at a time. Source: docs/pi.md, "Turns".
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from forkproof.adapters.pi.messages import words
from forkproof.adapters.pi.peer import Rejected
from forkproof.adapters.protocol import TurnEnded

__all__ = ["Ledger", "Turn"]

_STOPS: Mapping[str, str] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "aborted": "cancelled",
    "error": "failed",
    "toolUse": "cancelled",
}
"""pi's stop reason of the last answer -> ACP's. A turn that ends on a tool call was stopped before the next request."""

_LEFT = TurnEnded("cancelled", detail="pi opened another session")


@dataclass(slots=True)
class Turn:
    """One turn: the message that it begins with, and the future of its end."""

    text: str
    ended: asyncio.Future[TurnEnded] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Ledger:
    """The turn that runs, and the messages that wait behind it."""

    def __init__(self, *, settles: bool) -> None:
        """`settles`: this release says `agent_settled`; older ones say `agent_end` last."""
        self._last_event = "agent_settled" if settles else "agent_end"
        self._stops = settles
        self.current: Turn | None = None
        self.queued: list[Turn] = []
        self.unseen: list[Turn] = []
        """Turns that go on in sessions that are open no more: pi tells nothing of them."""
        self.unsure = False
        """Whether an `agent_end` came after which an older release may still be busy for a moment."""
        self._stop: TurnEnded | None = None

    @property
    def busy(self) -> bool:
        """Whether a turn runs."""
        return self.current is not None

    def begin(self, text: str) -> Turn:
        """A message was given to pi."""
        self.current = Turn(text)
        self._stop = None
        return self.current

    def queue(self, text: str) -> Turn:
        """A message waits for the end of what runs."""
        turn = Turn(text)
        self.queued.append(turn)
        return turn

    def drop(self, turn: Turn) -> None:
        """The message was not taken."""
        if self.current is turn:
            self.current = None
        if turn in self.queued:
            self.queued.remove(turn)

    def hear(self, event: Mapping[str, Any]) -> None:
        """Take note of one event."""
        match event:
            case {"type": "message_start", "message": {"role": "user", "content": content}}:
                self._taken(words(content))
            case {"type": "message_end", "message": {"role": "assistant", "stopReason": str(reason)} as message}:
                self._stop = TurnEnded(_STOPS.get(reason, reason), detail=str(message.get("errorMessage") or ""))
            case {"type": kind} if kind == self._last_event:
                self.unsure = kind == "agent_end"
                self._believe(aborted=event.get("aborted") is True)
                self._end()

    def replaced(self) -> list[Turn]:
        """Another session is open now: what ran in the one before was stopped, what waited there is gone with it.

        Gives the turns that an older release runs on and tells nothing of: `lose` each once nothing more comes of it.
        """
        ran, self.current, self.unsure = self.current, None, False
        waited, self.queued = self.queued, []
        if not self._stops and ran is not None:
            going = [turn for turn in (ran, *waited) if not turn.ended.done()]
            self.unseen += going
            return going
        if ran is not None and not ran.ended.done():
            ran.ended.set_result(_LEFT)
        for turn in waited:
            _break(turn, Rejected("pi forgot the message that waited when it opened another session"))
        return []

    def lose(self, turn: Turn) -> None:
        """A turn of a session that is open no more is over: pi will not say so."""
        if turn in self.unseen:
            self.unseen.remove(turn)
        if not turn.ended.done():
            turn.ended.set_result(_LEFT)

    def fail(self, error: BaseException) -> None:
        """Nothing will be heard any more."""
        for turn in (self.current, *self.queued, *self.unseen):
            if turn is not None:
                _break(turn, error)

    def _believe(self, *, aborted: bool) -> None:
        # 1.5.0 asks for one more answer after a call that was aborted; that request fails with "This operation was
        # aborted" and stands as an error. That the run was aborted pi says where it settles.
        if aborted and self._stop is not None and self._stop.stop == "failed":
            self._stop = TurnEnded("cancelled", detail=self._stop.detail)

    def _taken(self, text: str) -> None:
        waiting = next((turn for turn in self.queued if turn.text == text), None)
        if waiting is not None:
            self._end()
            self.queued.remove(waiting)
            self.current = waiting

    def _end(self) -> None:
        turn, self.current = self.current, None
        if turn is not None and not turn.ended.done():
            turn.ended.set_result(self._stop or TurnEnded("cancelled", detail="pi gave no answer"))
        self._stop = None


def _break(turn: Turn, error: BaseException) -> None:
    if not turn.ended.done():
        turn.ended.set_exception(error)
        turn.ended.exception()  # seen, also where nobody waits
