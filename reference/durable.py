"""Durability: sessions that outlive the process. The harness's part that restarts, resumes, lists and deletes.

What a process held in memory is thrown away and made again from the rows of its store. Sources: clauses ATO-1 to ATO-7,
ISO-4, ISO-5, ISO-8, OPS-1, REC-2, REC-3.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from itertools import chain
from typing import TYPE_CHECKING, Any

from forkproof.reference.copying import take_out
from forkproof.reference.entries import Entry
from forkproof.reference.inbox import Inbox
from forkproof.reference.listing import Line
from forkproof.reference.project import full_path
from forkproof.reference.record import Record
from forkproof.reference.refusal import Refusal
from forkproof.reference.runtime import Runtime
from forkproof.reference.session import Header, Session
from forkproof.reference.store import Died, Made, Moved, Rebased, Removed, Wrote

if TYPE_CHECKING:
    from forkproof.reference.authority import Authority
    from forkproof.reference.fork import Child, ForkRequest
    from forkproof.reference.turn import Turn
    from forkproof.reference.work import Work

__all__ = ["Durable"]


class Durable:
    """What a harness keeps, and how it comes back. Mixed into `Harness`, which owns the attributes."""

    _runtime: Runtime
    _sessions: dict[str, Session]
    _turns: dict[str, Entry]
    _answers: dict[str, Record]
    _asleep: set[str]
    _running: dict[str, Turn]
    _compacting: dict[str, Work[Any]]
    _closed: bool
    inbox: Inbox
    authority: Authority

    # --- the end of a process, and the next one ---------------------------------------------------------------------

    async def restart(self, *, kill: bool) -> None:
        """End the process, in order or by a kill, and start another one on the same store.

        A clean end interrupts what is under way and says so in the history. After a kill what was under way has no end
        there; it comes back as interrupted all the same, and usable (clause ATO-4). Sessions are stored until they are
        resumed.
        """
        await (self.die() if kill else self.close())
        self.start_again()

    async def die(self) -> None:
        """The process is gone: nothing that is under way writes any more, what was not flushed is lost."""
        self._runtime.store.close()
        await self.close()

    async def close(self) -> None:
        """Interrupt everything that is under way; afterwards nothing can be done any more. May be called twice."""
        self._closed = True
        self.inbox.close()
        under_way = [turn.work for turn in self._running.values()], self._compacting.values()
        await asyncio.gather(*(work.stop() for work in chain.from_iterable(under_way)))

    def start_again(self) -> None:
        """A new process: all that it knows of sessions is what the store tells."""
        store, rules = self._runtime.store, self._runtime.rules
        store.open_again()
        stored = rules.restore(store.rows())
        self._sessions.clear()
        self._sessions.update(stored.sessions)
        self._turns.clear()
        self._turns.update(stored.turns)
        self._answers = stored.answers
        self._running.clear()
        self._compacting.clear()
        self._asleep = set(stored.sessions)
        self._closed = False
        for session in stored.sessions.values():
            # Where a session was moved to, or forked from, nothing was under way, whatever turn that is in.
            end = rules.unended(session.leaf) if session.header.id in stored.writing else None
            if end is not None and session.leaf is not None:
                self._runtime.append(session, session.leaf.turn, end)

    # --- stored sessions --------------------------------------------------------------------------------------------

    def resume(self, id_: str) -> Session | Refusal:
        """Open a stored session again, where it stands; no new session and no fork comes of it (OPS-1, ISO-5)."""
        session = self._sessions.get(id_)
        if session is None:
            return Refusal("unknown-session", f"there is no session {id_!r}")
        if id_ in self._asleep:
            self._asleep.discard(id_)
            self.authority.begin(session, again=True)
        return session

    def lines(self) -> list[Line]:
        """The list of sessions."""
        return self._runtime.rules.lines(self._sessions)

    def delete(self, id_: str) -> Refusal | None:
        """Delete a session; what others share with it stays theirs (clause ISO-4)."""
        session = self._quiet(id_)
        if isinstance(session, Refusal):
            return session
        del self._sessions[id_]
        self._runtime.store.write(Removed(id_))
        self._runtime.store.flush()
        return None

    def delete_turns(self, id_: str, turns: Collection[str]) -> Refusal | None:
        """Take turns out of a session; what comes behind them is written anew, for it alone (clause ISO-4)."""
        session = self._quiet(id_)
        if isinstance(session, Refusal):
            return session
        path = full_path(session.leaf)
        if not set(turns) <= {entry.turn for entry in path}:
            return Refusal("unknown-cut", f"the history of session {id_} does not hold all of {', '.join(turns)}")
        take_out(self._runtime, session, turns)
        return None

    def _quiet(self, id_: str) -> Session | Refusal:
        session = self._sessions.get(id_)
        if session is None:
            return Refusal("unknown-session", f"there is no session {id_!r}")
        if id_ in self._running or id_ in self._compacting:
            return Refusal("busy", f"session {id_} is busy")
        return session

    def _turns_of(self, session: Session) -> dict[str, Entry]:
        """Each turn's user message, as this session has it."""
        return {**self._turns, **session.moved} if session.moved else self._turns

    # --- forks ------------------------------------------------------------------------------------------------------

    def answered(self, request: ForkRequest) -> Record | None:
        """The answer that this request got before: asking again makes no second child (clause ATO-6)."""
        return self._answers.get(request.key)

    def begin(self, child: Child, request: ForkRequest) -> None:
        """Write a child's beginning down. Nothing of it is safe before `finish`. Raises `Died`."""
        if request.dies == "before-commit":
            raise Died
        store = self._runtime.store
        store.write(Made(child.session.header, child.session.leaf, child.record, request.key))
        if request.dies == "during-commit":
            raise Died

    def finish(self, source: Session, child: Child, request: ForkRequest) -> None:
        """Make a child safe and known, whole or not at all (clauses ATO-1, ATO-3). Raises `Died`."""
        self._runtime.store.flush()
        if request.dies == "after-commit":
            raise Died
        source.children += 1
        if source.moved:
            child.session.moved = source.moved | child.session.moved
        self._sessions[child.session.header.id] = child.session
        if request.key:
            self._answers[request.key] = child.record

    def keep_whole(self, session: Session) -> None:
        """Store an imported history: its entries in their stored order, and where the session stands."""
        store = self._runtime.store
        store.write(Rebased(session.header.id, session.base))
        for entry in session.written:
            store.write(Wrote(session.header.id, entry))
        store.write(Moved(session.header.id, session.leaf))
        store.flush()

    def _keep(self, header: Header) -> None:
        self._runtime.store.write(Made(header, None))
        self._runtime.store.flush()
