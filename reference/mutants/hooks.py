"""Mutants whose hooks run twice, are told of another session, or are not heard. Clauses SET-4, SET-5, OPS-4, OPS-6."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from forkproof.reference import starts
from forkproof.reference.cut import Place, Point
from forkproof.reference.fork import ForkRequest
from forkproof.reference.harness import Harness
from forkproof.reference.hooks import Started
from forkproof.reference.mutants.mutant import Mutant
from forkproof.reference.record import Record, WorkspaceKind
from forkproof.reference.refusal import Refusal
from forkproof.reference.session import Header, Session

__all__ = ["MUTANTS"]


def _told_the_source(header: Header) -> Started:
    told = starts.told(header)
    return Started(told.source or told.session, told.cause, told.source)


def _told_nothing_of_the_fork(header: Header) -> Started:
    return Started(header.id, "new")


class _HooksOnceOnly(Harness):
    """A session that is opened again is started without its hooks, and has lost what they said."""

    def resume(self, id_: str) -> Session | Refusal:
        session = super().resume(id_)
        if isinstance(session, Session):
            session.context = ()
        return session


class _StartsTwice(Harness):
    """A fork is started twice, so its hooks run twice."""

    def _make_child(self, source: Session, place: Place, request: ForkRequest, workspace: WorkspaceKind) -> Record:
        record = super()._make_child(source, place, request, workspace)
        child = self.session(record.session)
        if child is not None:
            self.authority.begin(child)
        return record


class _CancelsTooLate(Harness):
    """A fork that a hook cancels says so, and leaves a session all the same."""

    async def fork(self, id_: str, point: Point, request: ForkRequest) -> Record | Refusal:
        record = await super().fork(id_, point, request)
        if isinstance(record, Refusal) and record.reason == "cancelled":
            self.open(request.directory)
        return record


MUTANTS: Final = (
    Mutant(
        "start-context-stacked",
        "SET-4",
        "hooks",
        "What a start hook says to a fork is put on top of what it said to the source.",
        rules=lambda rules: replace(rules, start_context=lambda inherited, own: (*inherited, *own)),
    ),
    Mutant(
        "start-context-dropped",
        "SET-4",
        "hooks",
        "A start hook of a fork runs, and what it says is lost.",
        rules=lambda rules: replace(rules, start_context=lambda inherited, own: () if inherited else own),
    ),
    Mutant(
        "hook-told-the-source",
        "OPS-6",
        "hooks",
        "The start hook of a fork is told its source's id in place of its own.",
        rules=lambda rules: replace(rules, start_told=_told_the_source),
    ),
    Mutant(
        "hook-not-told-of-the-fork",
        "SET-5",
        "hooks",
        "The start hook of a fork is told neither its source nor that it is a fork.",
        rules=lambda rules: replace(rules, start_told=_told_nothing_of_the_fork),
    ),
    Mutant(
        "hook-can-not-cancel",
        "OPS-4",
        None,
        "A fork that a hook cancels is made all the same.",
        rules=lambda rules: replace(rules, cancelled=lambda _reason: None),
    ),
    Mutant(
        "start-context-lost-in-a-restart",
        "SET-4",
        "hooks",
        "After a restart what the start hooks say is missing.",
        harness=_HooksOnceOnly,
    ),
    Mutant(
        "start-hook-runs-twice",
        "SET-4",
        "hooks",
        "The start hooks of a fork run twice.",
        harness=_StartsTwice,
    ),
    Mutant(
        "cancelled-fork-leaves-a-session",
        "OPS-4",
        "partial-fork",
        "A fork that a hook cancels leaves an empty session behind.",
        harness=_CancelsTooLate,
    ),
)
