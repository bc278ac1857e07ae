"""The inbox: what is said to busy sessions. Source: clauses QUE-1, QUE-2, CMP-7.

What is steered belongs to the turn that it was said into. What is queued belongs to the session that was spoken to, and
is no part of its history before its own turn begins, so no fork carries it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

from forkproof.reference.prompt import Blob
from forkproof.reference.refusal import Refusal
from forkproof.reference.session import Session
from forkproof.reference.turn import Ended, Turn

__all__ = ["Held", "Inbox"]

Begin: TypeAlias = Callable[[Session, str, tuple[Blob, ...]], Awaitable[Ended]]
"""Begins a turn at once; what it returns is the turn's end."""


@dataclass(slots=True, eq=False)
class Held:
    """One message that waits. `begun` gets its turn, once there is one."""

    ticket: str
    text: str
    attachments: tuple[Blob, ...] = ()
    begun: asyncio.Future[asyncio.Future[Ended]] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class Inbox:
    """The messages that wait, by session, in the order in which they came.

    known: the session of an id. running: the turn that runs in each session. holds: whether a message to a session must
    wait. begin: begins a turn.
    """

    def __init__(
        self,
        known: Callable[[str], Session | Refusal],
        running: Mapping[str, Turn],
        holds: Callable[[str], bool],
        begin: Begin,
    ) -> None:
        self._known = known
        self._running = running
        self._holds = holds
        self._begin = begin
        self._waiting: dict[str, list[Held]] = {}
        self._by_ticket: dict[str, Held] = {}
        self._tickets = count(1)

    def steer(self, session: str, text: str) -> Refusal | None:
        """Speak into the turn that runs in a session; None if it was heard."""
        turn = self._running.get(session)
        if turn is None:
            return Refusal("other", f"no turn runs in session {session!r}")
        turn.steer(text)
        return None

    def queue(self, id_: str, text: str, attachments: tuple[Blob, ...] = ()) -> str | Refusal:
        """Hold a message until nothing is under way in a session; returns its ticket."""
        session = self._known(id_)
        if isinstance(session, Refusal):
            return session
        held = Held(f"held-{next(self._tickets)}", text, attachments)
        self._waiting.setdefault(id_, []).append(held)
        self._by_ticket[held.ticket] = held
        self.go_on(session)
        return held.ticket

    async def ended(self, ticket: str) -> Ended | Refusal:
        """What came of a message that was held: returns when its turn is over."""
        held = self._by_ticket.get(ticket)
        if held is None:
            return Refusal("other", f"no message is held under {ticket!r}")
        await asyncio.wait({held.begun})
        if held.begun.cancelled():
            return Refusal("other", "the harness was closed before the message was begun")
        return await asyncio.shield(held.begun.result())

    def waiting(self, session: str) -> list[Held]:
        """What waits for this session, oldest first."""
        return list(self._waiting.get(session, ()))

    def go_on(self, session: Session) -> None:
        """Begin the oldest message that waits for a session, if nothing is under way in it."""
        waiting = self._waiting.get(session.header.id)
        if not waiting or self._holds(session.header.id):
            return
        held = waiting.pop(0)
        held.begun.set_result(asyncio.ensure_future(self._begin(session, held.text, held.attachments)))

    def close(self) -> None:
        """Nothing that waits now will begin any more."""
        self._waiting.clear()
        for held in self._by_ticket.values():
            held.begun.cancel()
