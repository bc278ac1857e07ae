"""The reference harness: sessions in memory, and what can be done with them.

It waits and it writes; what it writes is decided by `rules`. Source: design section 10.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from forkproof.reference.clock import Clock, TickingClock
from forkproof.reference.compact import Plan, checkpoint_of
from forkproof.reference.cut import Place, Point
from forkproof.reference.entries import Answered, Entry, TurnEnded, UserSaid
from forkproof.reference.fork import ForkRequest
from forkproof.reference.ids import CountedIds, Ids
from forkproof.reference.inherit import DEFAULTS
from forkproof.reference.machine import Machine
from forkproof.reference.model import Failure, Model
from forkproof.reference.project import full_path, summary_prompt
from forkproof.reference.prompt import Text
from forkproof.reference.record import Record, WorkspaceKind
from forkproof.reference.refusal import Refusal
from forkproof.reference.rules import RULES, Rules
from forkproof.reference.runtime import Runtime
from forkproof.reference.semantics import CONTRACT, Semantics
from forkproof.reference.session import Header, Session
from forkproof.reference.turn import Ended, Turn
from forkproof.reference.work import Work

__all__ = ["Compacted", "ForkPoint", "Harness", "PastTurn"]


@dataclass(frozen=True, slots=True)
class PastTurn:
    """A finished turn of a history to import; `at` in whole seconds since the epoch."""

    at: int
    user: str
    say: str


@dataclass(frozen=True, slots=True)
class Compacted:
    """A compaction was recorded under this id."""

    checkpoint: str


@dataclass(frozen=True, slots=True)
class ForkPoint:
    """A turn that a session can be cut at, with its user message (clause RD-6)."""

    turn: str
    text: str


class Harness:
    """An agent harness in memory. Operations on several sessions may be under way at once, on one event loop.

    An operation that cannot be done answers with a `Refusal`, and then has changed nothing (clauses ATO-1, CUT-5).
    """

    def __init__(
        self,
        model: Model,
        machine: Machine | None = None,
        *,
        semantics: Semantics = CONTRACT,
        rules: Rules = RULES,
        ids: Ids | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.machine = machine or Machine()
        self._runtime = Runtime(model, self.machine, semantics, rules, ids or CountedIds(), clock or TickingClock())
        self._sessions: dict[str, Session] = {}
        self._turns: dict[str, Entry] = {}
        self._running: dict[str, Turn] = {}
        self._compacting: dict[str, Work[Compacted | Refusal]] = {}
        self._closed = False

    # --- sessions --------------------------------------------------------------------------------------------------

    def sessions(self) -> tuple[str, ...]:
        """The ids of all sessions, oldest first."""
        return tuple(self._sessions)

    def session(self, id_: str) -> Session | None:
        """The session of this id."""
        return self._sessions.get(id_)

    def fork_points(self, id_: str) -> list[ForkPoint]:
        """The turns on the session's path, oldest first; none for an unknown session."""
        session = self._sessions.get(id_)
        path = full_path(session.leaf) if session is not None else []
        return [ForkPoint(entry.turn, entry.body.text) for entry in path if isinstance(entry.body, UserSaid)]

    def open(self, directory: str, settings: Mapping[str, str] | None = None) -> Session | Refusal:
        """A new, empty session whose tools run in this directory, which must be there."""
        if not self.machine.exists(directory):
            return Refusal("other", f"there is no directory {directory}")
        header = Header(self._runtime.ids.session(), directory, {**DEFAULTS, **(settings or {})})
        return self._register(Session(header))

    def import_history(
        self, directory: str, turns: Sequence[PastTurn], settings: Mapping[str, str] | None = None
    ) -> Session | Refusal:
        """A new session that holds these turns, in this order whatever their times are (clause CUT-4)."""
        session = self.open(directory, settings)
        if isinstance(session, Refusal):
            return session
        append = self._runtime.append
        for past in turns:
            turn = self._runtime.ids.turn()
            self._turns[turn] = append(session, turn, UserSaid(past.user), past.at)
            append(session, turn, Answered((Text(past.say),), ()), past.at)
            append(session, turn, TurnEnded("end_turn"), past.at)
        return session

    def _register(self, session: Session) -> Session:
        self._sessions[session.header.id] = session
        return session

    # --- turns -----------------------------------------------------------------------------------------------------

    async def prompt(self, id_: str, text: str) -> Ended | Refusal:
        """Give a session a message, and return when the turn is over."""
        session = self._idle(id_)
        if isinstance(session, Refusal):
            return session
        turn = Turn(self._runtime, session, text)
        self._turns[turn.id] = turn.first
        self._running[id_] = turn
        try:
            return await turn.work.result()
        finally:
            del self._running[id_]

    async def cancel(self, id_: str) -> bool:
        """Interrupt what is under way in a session, and return when it is over: whether there was anything."""
        turn = self._running.get(id_)
        work = turn.work if turn is not None else self._compacting.get(id_)
        if work is None:
            return False
        await work.stop()
        return True

    def _idle(self, id_: str) -> Session | Refusal:
        session = self._sessions.get(id_)
        if self._closed:
            return _CLOSED
        if session is None:
            return _unknown_session(id_)
        if id_ in self._running or id_ in self._compacting:
            return Refusal("busy", f"session {id_} is busy")
        return session

    # --- compaction ------------------------------------------------------------------------------------------------

    async def compact(self, id_: str) -> Compacted | Refusal:
        """Let the model summarize a session's context, and record the summary as a checkpoint."""
        session = self._idle(id_)
        if isinstance(session, Refusal):
            return session
        rules = self._runtime.rules
        plan = rules.plan(rules.active(session.leaf), self._runtime.semantics.retained_turns)
        if plan is None:
            return Refusal("other", f"session {id_} holds nothing to compact")
        cancelled = Refusal("other", "the compaction was cancelled; nothing was changed")
        work = Work(lambda: self._summarize(session, plan), lambda: cancelled)
        self._compacting[id_] = work
        try:
            return await work.result()
        finally:
            del self._compacting[id_]

    async def _summarize(self, session: Session, plan: Plan) -> Compacted | Refusal:
        runtime = self._runtime
        reply = await runtime.model(summary_prompt(session.header, plan.covered, runtime.rules.pair))
        if isinstance(reply, Failure):
            return Refusal("other", f"no summary, the model answered {reply.status}: {reply.message}")
        summary = "\n".join(part.content for part in reply.parts if isinstance(part, Text))
        return Compacted(runtime.append(session, "", checkpoint_of(plan, session.header.id, summary)).id)

    # --- forking ---------------------------------------------------------------------------------------------------

    async def fork(self, id_: str, point: Point, request: ForkRequest) -> Record | Refusal:
        """A new session from this one's history up to `point`; nothing is submitted, nothing runs (clause OPS-2)."""
        source = self._sessions.get(id_)
        if source is None:
            return _unknown_session(id_)
        running = self._running.get(id_)
        if running is not None and self._runtime.semantics.busy_source == "wait":
            await running.work.over()
            # What was the head at the call is now the end of that turn; later turns stay out (SNAP-1).
            point = Point("after", running.id) if point.kind == "head" else point
            running = None
        if self._closed:
            return _CLOSED
        place = self._place(source, point, running)
        if isinstance(place, Refusal):
            return place
        workspace = self._workspace_for(source, request)
        if isinstance(workspace, Refusal):
            return workspace
        return self._make_child(source, place, request, workspace)

    def _place(self, source: Session, point: Point, running: Turn | None) -> Place | Refusal:
        runtime = self._runtime
        policy = runtime.semantics.busy_source
        if running is not None and source.leaf is not None and (point.kind == "head" or policy == "refuse"):
            return runtime.rules.boundary(running.first, source.leaf, policy)
        return runtime.rules.cut(source.leaf, point, self._turns)

    def _workspace_for(self, source: Session, request: ForkRequest) -> WorkspaceKind | Refusal:
        """Make the child's workspace ready. A copy that fails is a fork that fails (clause ENV-5)."""
        own = source.header.directory
        if request.workspace == "shared":
            if not self.machine.exists(request.directory):
                return Refusal("other", f"there is no directory {request.directory}")
            return "shared" if request.directory == own else "other"
        try:
            self.machine.snapshot(own, request.directory)
        except OSError as error:
            return Refusal("other", f"the workspace could not be copied: {error}")
        return "isolated"

    def _make_child(self, source: Session, place: Place, request: ForkRequest, workspace: WorkspaceKind) -> Record:
        runtime = self._runtime
        settings = runtime.rules.inherit(source.header.settings, request.overrides)
        child = runtime.rules.fork(runtime.ids.session(), source, place, request.directory, workspace, settings)
        if place.open_turn:
            runtime.append(child.session, place.open_turn, TurnEnded("forked"))
        self._register(child.session)
        return child.record

    # --- the end ---------------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Interrupt everything that is under way; afterwards nothing can be done any more. May be called twice."""
        self._closed = True
        under_way = [turn.work for turn in self._running.values()], self._compacting.values()
        await asyncio.gather(*(work.stop() for works in under_way for work in works))


_CLOSED: Final = Refusal("other", "the harness is closed")


def _unknown_session(id_: str) -> Refusal:
    return Refusal("unknown-session", f"there is no session {id_!r}")
