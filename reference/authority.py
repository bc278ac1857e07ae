"""Authority: with which settings, approvals and hooks a session starts, runs its tools and is forked.

It acts; what holds is decided by `rules`. Source: clauses SET-1 to SET-8, AUT-1 to AUT-5, OPS-4, OPS-6.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from forkproof.reference.cut import Place
from forkproof.reference.entries import Entry, SettingsChanged
from forkproof.reference.fork import ForkRequest
from forkproof.reference.hooks import NO_HOOKS
from forkproof.reference.inherit import Setting, Value
from forkproof.reference.model import Call
from forkproof.reference.refusal import Refusal
from forkproof.reference.runtime import Runtime
from forkproof.reference.session import Session
from forkproof.reference.tools import Outcome

__all__ = ["Authority", "admit"]


async def admit(runtime: Runtime, session: Session, call: Call) -> Outcome | None:
    """Let a call of this session run, or say why it does not. The person is asked where the mode says so (AUT-3)."""
    rules, approvals, settings = runtime.rules, runtime.approvals, runtime.settings(session)
    if call.tool not in rules.runnable(settings):
        return Outcome(done=False, output=f"this session has no tool {call.tool}")
    id_, mode = session.header.id, str(settings.get("permissions", ""))
    match rules.need(mode, call.tool):
        case "run":
            return None
        case "deny":
            return Outcome(done=False, output=f"{mode} mode does not allow it")
        case "ask":
            earlier = rules.answered(approvals.given, id_, call.tool)
            decision = earlier or await rules.hear(approvals.ask(id_, rules.bound_to(session.header), call))
            return Outcome(done=False, output="the person did not allow it") if decision == "reject" else None


class Authority:
    """`idle` gives a session in which nothing is under way."""

    def __init__(self, runtime: Runtime, idle: Callable[[str], Session | Refusal]) -> None:
        self._runtime = runtime
        self._idle = idle

    def configure(self, id_: str, settings: Mapping[str, Value]) -> Entry | Refusal:
        """Change settings of a session, from here on and on this path (clause SET-7)."""
        session = self._idle(id_)
        if isinstance(session, Refusal):
            return session
        return self.unsettable(settings) or self._runtime.append(session, "", SettingsChanged(dict(settings), id_))

    def unsettable(self, settings: Mapping[str, Value]) -> Refusal | None:
        """A definite no to settings that can't be put into force (clause AUT-3)."""
        problem = self._runtime.rules.unsettable(settings)
        return Refusal("other", problem) if problem else None

    def forbids(self, source: Session, request: ForkRequest) -> Refusal | None:
        """Why this fork is not to be made: a setting that can't be, or a hook that cancels it (clause OPS-4)."""
        unsettable = self.unsettable(request.overrides) if request.overrides else None
        return unsettable or self._runtime.rules.cancelled(self._runtime.hooks.before_fork(source.header.id))

    def begin(self, session: Session, inherited: tuple[str, ...] = (), *, again: bool = False) -> None:
        """A session starts, or is opened `again` after a restart.

        Its hooks run, once, and what they say stands before its context (clause SET-4).
        """
        rules, hooks = self._runtime.rules, self._runtime.hooks
        said: tuple[str, ...] = ()
        if hooks is not NO_HOOKS:
            told = rules.start_told(session.header)
            said = hooks.at_start(told._replace(cause="resume") if again else told)
        session.context = rules.start_context(inherited, said)

    def settings_of_child(self, source: Session, place: Place, request: ForkRequest) -> dict[str, Setting]:
        """The settings of a child of `source` at `place`, each with its origin (clauses REC-7, SET-1, SET-2)."""
        runtime, header = self._runtime, source.header
        at_cut = runtime.rules.in_force(header, place.leaf)
        latest = at_cut if place.leaf is source.leaf else runtime.settings(source)
        return runtime.rules.inherit(at_cut, request.overrides, latest, runtime.semantics.settings_source)

    def grants_of_child(self, source: Session) -> tuple[str, ...]:
        """The approvals of the source that hold for its child too, by the calls at which they were given (AUT-1)."""
        return self._runtime.rules.grants_carried(self._runtime.approvals.grants(source.header.id))

    def begin_child(self, source: Session, child: Session, grants: tuple[str, ...]) -> None:
        """A fork starts: with the approvals that its record lists, and its own hooks."""
        self._runtime.approvals.carry(source.header.id, child.header.id, grants)
        self.begin(child, source.context)
