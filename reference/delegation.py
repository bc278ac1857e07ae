"""Delegation: scopes and child agents of a harness's sessions, the wake-ups of its models, and what it says of them.

Source: seed 000, "Four operations that look similar" and "Sidekick"; clauses OPS-5, FLD-1 to FLD-4, STA-1 to STA-3.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple

from forkproof.reference.desk import Desk
from forkproof.reference.notes import todo
from forkproof.reference.project import full_path
from forkproof.reference.refusal import Refusal
from forkproof.reference.runtime import Runtime
from forkproof.reference.schedules import due
from forkproof.reference.scopes import Scope
from forkproof.reference.session import Header, Session
from forkproof.reference.turn import Ended, Turn

__all__ = ["Delegation", "State"]


class State(NamedTuple):
    """A session's side state: its todo list, the messages of its wake-ups, and the usage of it and its agents."""

    todo: tuple[str, ...]
    schedules: tuple[str, ...]
    usage: int


class Delegation:
    """Part of a harness. `idle` gives a session that nothing runs in; `prompt` gives a session a message."""

    def __init__(
        self,
        runtime: Runtime,
        sessions: Mapping[str, Session],
        idle: Callable[[str], Session | Refusal],
        prompt: Callable[[str, str], Awaitable[Ended | Refusal]],
    ) -> None:
        self._runtime = runtime
        self._sessions = sessions
        self._idle = idle
        self._prompt = prompt
        self._scopes: dict[str, Scope] = {}
        self.desk.begin = self._begin

    @property
    def desk(self) -> Desk:
        """What the tools of the sessions reach."""
        return self._runtime.desk

    async def _begin(self, session: Session, text: str) -> str:
        return (await Turn(self._runtime, session, text).work.result()).stop

    # --- scopes ----------------------------------------------------------------------------------------------------

    def scope(self, id_: str) -> Session | None:
        """The messages of a scope; it is no session, and nothing lists it as one (FLD-4)."""
        scope = self._scopes.get(id_)
        return None if scope is None else scope.session

    @property
    def scopes(self) -> tuple[str, ...]:
        """The ids of all scopes, oldest first."""
        return tuple(self._scopes)

    def delegate(self, id_: str) -> str | Refusal:
        """Open a scope inside this conversation, and return its id."""
        owner = self._idle(id_)
        if isinstance(owner, Refusal):
            return owner
        runtime, header = self._runtime, owner.header
        inside = Header(f"{header.id}/{len(self._scopes) + 1}", header.directory, runtime.settings(owner))
        self._scopes[inside.id] = Scope(owner, Session(inside, runtime.rules.scope_start(owner)))
        return inside.id

    async def prompt(self, id_: str, text: str, role: str) -> Ended | Refusal:
        """Give a scope a message; `role` names who answers, empty for the agent itself."""
        ended = await self._prompt(id_, text)
        if isinstance(ended, Ended):
            self._scopes[id_].roles[ended.turn] = role
            self._cross(self._scopes[id_], folded=False)
        return ended

    def fold(self, id_: str) -> Refusal | None:
        """Bring what was said in a scope into the main thread of its conversation (FLD-2, FLD-3)."""
        scope = self._scopes.get(id_)
        if scope is None:
            return Refusal("other", f"there is no scope {id_!r}")
        owner = self._idle(scope.owner.header.id)
        if isinstance(owner, Refusal):
            return owner
        self._cross(scope, folded=True)
        return None

    def _cross(self, scope: Scope, *, folded: bool) -> None:
        own = [e for e in full_path(scope.session.leaf) if e.stamp.session == scope.session.header.id]
        for body in self._runtime.rules.crosses(own, scope.roles, folded=folded):
            self._runtime.append(scope.owner, "", body)

    # --- wake-ups --------------------------------------------------------------------------------------------------

    async def advance(self, seconds: int) -> None:
        """Let time pass; each wake-up that comes due gives its session its message, and its turn is waited for."""
        desk = self.desk
        desk.now += seconds
        ready, desk.schedules = due(desk.schedules, desk.now)
        for schedule in ready:
            await self._prompt(schedule.session, schedule.text)

    # --- reading ---------------------------------------------------------------------------------------------------

    def state(self, id_: str) -> State | Refusal:
        """A session's side state, at its active position."""
        session = self._sessions.get(id_)
        if session is None:
            return Refusal("unknown-session", f"there is no session {id_!r}")
        rules, desk = self._runtime.rules, self.desk
        usage = rules.usage(session) + sum(rules.usage(a.session) for a in desk.agents if a.owner == id_)
        waking = tuple(s.text for s in desk.schedules if s.session == id_)
        return State(todo(desk.notes_of(session)), waking, usage)
