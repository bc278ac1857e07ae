"""The reference harness: sessions in memory, and what can be done with them.

It waits and it writes; what it writes is decided by `rules`. Source: design section 10.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from forkproof.reference.approvals import Approvals, Person, nobody
from forkproof.reference.authority import Authority
from forkproof.reference.clock import Clock, TickingClock
from forkproof.reference.compact import Plan
from forkproof.reference.copying import copy_prefix
from forkproof.reference.cut import Place, Point
from forkproof.reference.delegation import Delegation
from forkproof.reference.desk import Desk
from forkproof.reference.durable import Durable
from forkproof.reference.entries import Entry, TurnEnded, UserSaid, last_within
from forkproof.reference.fork import ForkRequest
from forkproof.reference.hooks import NO_HOOKS, Hooks
from forkproof.reference.ids import CountedIds, Ids
from forkproof.reference.inbox import Inbox
from forkproof.reference.inherit import DEFAULTS, Value
from forkproof.reference.machine import Machine
from forkproof.reference.model import Failure, Model
from forkproof.reference.past import PastTurn, recall
from forkproof.reference.project import summary_prompt
from forkproof.reference.prompt import Blob, Text
from forkproof.reference.provider import Keeping
from forkproof.reference.record import Record, WorkspaceKind
from forkproof.reference.refusal import Refusal
from forkproof.reference.rules import RULES, Rules
from forkproof.reference.runtime import Runtime
from forkproof.reference.semantics import CONTRACT, Semantics
from forkproof.reference.session import Header, Session
from forkproof.reference.tree import Tree, keep_labels
from forkproof.reference.turn import Ended, Turn
from forkproof.reference.undoing import PutBack, put_back
from forkproof.reference.work import Work

__all__ = ["Compacted", "ForkPoint", "Harness", "PastTurn"]


@dataclass(frozen=True, slots=True)
class Compacted:
    """A compaction was recorded under this id."""

    checkpoint: str


@dataclass(frozen=True, slots=True)
class ForkPoint:
    """A turn that a session can be cut at, with its user message: its words, and its entry's id (clause RD-6)."""

    turn: str
    text: str
    entry: str


class Harness(Durable):
    """An agent harness in memory. Operations on several sessions may be under way at once, on one event loop.

    An operation that cannot be done answers with a `Refusal`, and then has changed nothing (clauses ATO-1, CUT-5).
    """

    def __init__(  # noqa: PLR0913  # all that is injected
        self,
        model: Model,
        machine: Machine | None = None,
        *,
        semantics: Semantics = CONTRACT,
        rules: Rules = RULES,
        ids: Ids | None = None,
        clock: Clock | None = None,
        keeping: Keeping | None = None,
        person: Person = nobody,
        hooks: Hooks = NO_HOOKS,
    ) -> None:
        self.machine = machine or Machine()
        self._runtime = Runtime(
            model,
            self.machine,
            semantics,
            rules,
            ids := ids or CountedIds(),
            clock or TickingClock(),
            Desk(rules, ids),
            keeping,
            approvals=Approvals(person),
            hooks=hooks,
        )
        self._sessions: dict[str, Session] = {}
        self._turns: dict[str, Entry] = {}
        self._answers: dict[str, Record] = {}
        self._asleep: set[str] = set()
        self._running: dict[str, Turn] = {}
        self._compacting: dict[str, Work[Any]] = {}
        self._closed = False
        self.inbox = Inbox(self._reachable, self._running, self._holds, self._begin)
        self.delegation = Delegation(self._runtime, self._sessions, self._idle, self.prompt)
        self.authority = Authority(self._runtime, self._idle)
        self.tree = Tree(self._runtime, self._known, self._idle, self._compacting, self.inbox.go_on)

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
        points = self._runtime.rules.points(session) if session is not None else []
        return [ForkPoint(e.turn, e.body.text, e.id) for e in points if isinstance(e.body, UserSaid)]

    def open(self, directory: str, settings: Mapping[str, Value] | None = None) -> Session | Refusal:
        """A new, empty session whose tools run in this directory, which must be there."""
        if not self.machine.exists(directory):
            return Refusal("other", f"there is no directory {directory}")
        unsettable = self.authority.unsettable(settings or {})
        if unsettable is not None:
            return unsettable
        header = Header(self._runtime.ids.session(), directory, {**DEFAULTS, **(settings or {})})
        session = self._register(Session(header))
        self._keep(header)
        self.authority.begin(session)
        return session

    def import_history(
        self, directory: str, turns: Sequence[PastTurn], settings: Mapping[str, Value] | None = None
    ) -> Session | Refusal:
        """A new session that holds these turns, in this order whatever their times are (clause CUT-4)."""
        session = self.open(directory, settings)
        if isinstance(session, Session):
            self._turns.update(recall(self._runtime, session, turns))
            self.keep_whole(session)
        return session

    def _register(self, session: Session) -> Session:
        self._sessions[session.header.id] = session
        return session

    # --- turns -----------------------------------------------------------------------------------------------------

    async def prompt(self, id_: str, text: str, attachments: tuple[Blob, ...] = ()) -> Ended | Refusal:
        """Give a session a message, and return when the turn is over."""
        if id_ in self._compacting:
            # What is said during a compaction waits for it, and is answered then (clause CMP-7).
            ticket = self.inbox.queue(id_, text, attachments)
            return ticket if isinstance(ticket, Refusal) else await self.inbox.ended(ticket)
        session = self._idle(id_)
        if isinstance(session, Refusal):
            return session
        return await self._begin(session, text, attachments)

    def _begin(self, session: Session, text: str, attachments: tuple[Blob, ...] = ()) -> Awaitable[Ended]:
        turn = Turn(self._runtime, session, text, attachments)
        self._turns[turn.id] = turn.first
        self._running[session.header.id] = turn
        return self._finish(session, turn)

    async def _finish(self, session: Session, turn: Turn) -> Ended:
        id_ = session.header.id
        try:
            return await turn.work.result()
        finally:
            # After a restart it may be another one's place.
            if self._running.get(id_) is turn:
                del self._running[id_]
                self.inbox.go_on(session)

    def _holds(self, id_: str) -> bool:
        """Whether a message to this session must wait: a turn runs, or a compaction."""
        return id_ in self._running or id_ in self._compacting

    async def cancel(self, id_: str) -> bool:
        """Interrupt what is under way in a session, and return when it is over: whether there was anything."""
        turn = self._running.get(id_)
        work = turn.work if turn is not None else self._compacting.get(id_)
        if work is None:
            return False
        await work.stop()
        return True

    def _known(self, id_: str) -> Session | Refusal:
        return self._sessions.get(id_) or self.delegation.scope(id_) or _unknown_session(id_)

    def _reachable(self, id_: str) -> Session | Refusal:
        if id_ in self._asleep:
            return _asleep(id_)
        return _CLOSED if self._closed else self._known(id_)

    def _idle(self, id_: str) -> Session | Refusal:
        session = self._known(id_)
        if self._closed:
            return _CLOSED
        if isinstance(session, Refusal):
            return session
        if self._holds(id_):
            return Refusal("busy", f"session {id_} is busy")
        if id_ in self._asleep:
            return _asleep(id_)
        return session

    # --- compaction ------------------------------------------------------------------------------------------------

    async def compact(self, id_: str) -> Compacted | Refusal:
        """Let the model summarize a session's context, and record the summary as a checkpoint."""
        session = self._idle(id_)
        if isinstance(session, Refusal):
            return session
        rules = self._runtime.rules
        plan = rules.plan(self._runtime.context(session), self._runtime.semantics.retained_turns)
        if plan is None:
            return Refusal("other", f"session {id_} holds nothing to compact")
        cancelled = Refusal("other", "the compaction was cancelled; nothing was changed")
        work = Work(lambda: self._summarize(session, plan), lambda: cancelled)
        self._compacting[id_] = work
        try:
            return await work.result()
        finally:
            if self._compacting.get(id_) is work:
                del self._compacting[id_]
                self.inbox.go_on(session)

    async def _summarize(self, session: Session, plan: Plan) -> Compacted | Refusal:
        runtime = self._runtime
        covered = runtime.rules.thinking(plan.covered, runtime.model_of(session))
        reply = await runtime.model(summary_prompt(runtime.header(session), covered, runtime.rules.pair))
        if isinstance(reply, Failure):
            return Refusal("other", f"no summary, the model answered {reply.status}: {reply.message}")
        summary = "\n".join(part.content for part in reply.parts if isinstance(part, Text))
        return Compacted(runtime.append(session, "", runtime.rules.checkpoint_of(plan, session.header.id, summary)).id)

    # --- forking ---------------------------------------------------------------------------------------------------

    async def fork(self, id_: str, point: Point, request: ForkRequest) -> Record | Refusal:
        """A new session from this one's history up to `point`; nothing is submitted, nothing runs (clause OPS-2).

        Raises `Died` where the request says that the process dies over it.
        """
        answered = self.answered(request)
        if answered is not None:
            return answered
        source = self._sessions.get(id_)
        if source is None:
            return _unknown_session(id_)
        running, frozen = self._running.get(id_), None
        if running is not None and self._runtime.semantics.busy_source == "wait":
            await running.work.over()
            # A queued message may have begun behind it since.
            frozen = last_within(source.leaf, running.first.ordinal)
            # What was the head at the call is now the end of that turn; later turns stay out (SNAP-1).
            point = Point("after", running.id) if point.kind == "head" else point
            running = None
        if self._closed:
            return _CLOSED
        place = self.authority.forbids(source, request) or self._place(source, point, running)
        if isinstance(place, Refusal):
            return place
        workspace = self._workspace_for(source, request)
        if isinstance(workspace, Refusal):
            return workspace
        place = place if frozen is None else place._replace(frozen=frozen)
        return self._make_child(source, place, request, workspace)

    async def clone(self, id_: str, request: ForkRequest) -> Record | Refusal:
        """A new session from the active path, up to where this one stands (clause OPS-3)."""
        return await self.fork(id_, Point("head"), request)

    def _place(self, source: Session, point: Point, running: Turn | None) -> Place | Refusal:
        runtime = self._runtime
        policy = runtime.semantics.busy_source
        if running is not None and source.leaf is not None and (point.kind == "head" or policy == "refuse"):
            return runtime.rules.boundary(running.first, source.leaf, policy)
        if point.kind == "at":
            place = runtime.rules.cut_at(source.leaf, point.entry)
            safe = runtime.rules.pair_safe
            return place if isinstance(place, Refusal) else safe(place, source.leaf, runtime.semantics.call_group)
        return runtime.rules.cut(source.leaf, point, self._turns_of(source))

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
        settings = self.authority.settings_of_child(source, place, request)
        grants = self.authority.grants_of_child(source)
        child = runtime.rules.fork(runtime.ids.session(), source, place, request.directory, workspace, settings, grants)
        self.begin(child, request)
        if runtime.semantics.prefix == "copied":
            copy_prefix(runtime, source, child.session)
        if place.open_turn:
            runtime.append(child.session, place.open_turn, TurnEnded("forked"))
        if runtime.semantics.prefix == "shared":
            keep_labels(runtime, source, child.session)
        desk = runtime.desk
        if desk.schedules:
            desk.schedules = runtime.rules.after_fork(desk.schedules, source.header.id, child.session.header.id)
        self.finish(source, child, request)
        self.authority.begin_child(source, child.session, grants)
        return child.record

    def put_back(self, id_: str, turn: str) -> PutBack | Refusal:
        """Take back, in its workspace, what this turn of a session and all later ones did to files (ENV-6, ENV-7)."""
        session = self._sessions.get(id_)
        return _unknown_session(id_) if session is None else put_back(self._runtime, session, self._turns.get(turn))


_CLOSED: Final = Refusal("other", "the harness is closed")


def _asleep(id_: str) -> Refusal:
    return Refusal("other", f"session {id_} is stored and not open; resume it first")


def _unknown_session(id_: str) -> Refusal:
    return Refusal("unknown-session", f"there is no session {id_!r}")
