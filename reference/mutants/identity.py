"""Mutants that mix up whose session is whose. Clauses ATO-7, CUT-4, ISO-4 to ISO-8, OPS-1, OPS-6, PERF-1, SNAP-3."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Final

from forkproof.reference.cut import Place, Point
from forkproof.reference.entries import Entry
from forkproof.reference.fork import Child, ForkRequest
from forkproof.reference.harness import Harness
from forkproof.reference.listing import Line, lines
from forkproof.reference.mutants.mutant import Mutant
from forkproof.reference.mutants.surgery import of_forks, of_places, rebuilt
from forkproof.reference.project import full_path
from forkproof.reference.record import Record
from forkproof.reference.refusal import Refusal
from forkproof.reference.rules import Rules
from forkproof.reference.session import Session

__all__ = ["MUTANTS"]

_PAGE: Final = 50


class _Family(Harness):
    """Knows who was forked from whom."""

    def forks_of(self, id_: str) -> list[str]:
        """The ids of the sessions that were forked from this one, oldest first."""
        made = [session.header for session in self._sessions.values()]
        return [header.id for header in made if header.lineage is not None and header.lineage.source == id_]


# --- resume, delete, list --------------------------------------------------------------------------------------------


class _NewestChild(_Family):
    """A resume of a session opens the newest fork of it."""

    def resume(self, id_: str) -> Session | Refusal:
        forks = self.forks_of(id_)
        return super().resume(forks[-1] if forks else id_)


class _ResumeCopies(Harness):
    """A resume opens a copy under a new id."""

    def resume(self, id_: str) -> Session | Refusal:
        session = super().resume(id_)
        if isinstance(session, Refusal):
            return session
        header = session.header._replace(id=self._runtime.ids.session())
        return self._register(Session(header, session.leaf))


class _ForksAgain(Harness):
    """A resume of a fork begins again at its cut."""

    def resume(self, id_: str) -> Session | Refusal:
        session = super().resume(id_)
        if isinstance(session, Session) and session.header.lineage is not None:
            session.leaf = session.base
        return session


class _DeletesForks(_Family):
    """Deleting a session deletes the forks of it."""

    def delete(self, id_: str) -> Refusal | None:
        for fork in self.forks_of(id_):
            self.delete(fork)
        return super().delete(id_)


class _DeletesEverywhere(Harness):
    """Turns are deleted in every session that shares them."""

    def delete_turns(self, id_: str, turns: Collection[str]) -> Refusal | None:
        shared = [
            other
            for other, session in self._sessions.items()
            if other != id_ and set(turns) <= {entry.turn for entry in full_path(session.leaf)}
        ]
        for other in shared:
            super().delete_turns(other, turns)
        return super().delete_turns(id_, turns)


def _without_sources(sessions: Mapping[str, Session]) -> list[Line]:
    shown = lines(sessions)
    return [line for line in shown if all(other.source != line.session for other in shown)]


def _one_title(sessions: Mapping[str, Session]) -> list[Line]:
    return [line._replace(title=line.title.partition(",")[0]) for line in lines(sessions)]


def _first_of_the_line(sessions: Mapping[str, Session]) -> list[Line]:
    family = {id_: session.header.family for id_, session in sessions.items()}
    return [line._replace(source=family[line.session] if line.source else "") for line in lines(sessions)]


def _listing(changed: Callable[[Mapping[str, Session]], list[Line]]) -> Callable[[Rules], Rules]:
    return lambda rules: replace(rules, lines=changed)


# --- at the same time ------------------------------------------------------------------------------------------------


class _IdsOfTheMoment(Harness):
    """The id of a fork is made of what there is when it is asked for, so two at the same time get the same."""

    async def fork(self, id_: str, point: Point, request: ForkRequest) -> Record | Refusal:
        moment = len(self._sessions)
        await asyncio.sleep(0)
        record = await super().fork(id_, point, request)
        session = self._sessions.get(record.session) if isinstance(record, Record) else None
        if session is None or not isinstance(record, Record):
            return record
        del self._sessions[record.session]
        session.header = session.header._replace(id=f"session-of-{moment}")
        self._sessions[session.header.id] = session
        return record._replace(session=session.header.id)


class _ReadsInParts(Harness):
    """A fork reads its source in two parts, and what is written in between makes a hole."""

    async def fork(self, id_: str, point: Point, request: ForkRequest) -> Record | Refusal:
        source = self.session(id_)
        before = full_path(source.leaf) if source is not None else []
        for _ in range(5):
            await asyncio.sleep(0)
        record = await super().fork(id_, point, request)
        child = self.session(record.session) if isinstance(record, Record) else None
        if source is not None and child is not None and full_path(source.leaf) != before:
            grown = full_path(source.leaf)[len(before) :]
            child.leaf = rebuilt([*before[:-2], *grown[:1]])
        return record


class _CompactsTwice(Harness):
    """A session may be compacted while it is being compacted."""

    def _idle(self, id_: str) -> Session | Refusal:
        under_way = self._compacting.pop(id_, None)
        found = super()._idle(id_)
        if under_way is not None:
            self._compacting[id_] = under_way
        return found


class _StopsTheFamily(_Family):
    """Cancelling a session's turn also stops what runs in the forks of it."""

    async def cancel(self, id_: str) -> bool:
        for fork in self.forks_of(id_):
            await self.cancel(fork)
        return await super().cancel(id_)


# --- what a fork copies ----------------------------------------------------------------------------------------------


def _copying(order: Callable[[list[Entry]], list[Entry]]) -> Callable[[Rules], Rules]:
    cut = of_places(lambda _leaf, _point, place: place._replace(leaf=rebuilt(order(full_path(place.leaf)))))
    return lambda rules: replace(rules, cut=cut)


def _at_the_source(child: Child, source: Session, _place: Place) -> Child:
    child.session.header = child.session.header._replace(directory=source.header.directory)
    return child


def _copied_again(child: Child, source: Session, place: Place) -> Child:
    path = full_path(place.leaf)
    if source.header.lineage is not None:
        child.session.leaf = child.session.base = rebuilt([*path, *path])
    return child


MUTANTS: Final = (
    Mutant(
        "resume-opens-the-newest-fork",
        "ISO-5",
        "lineage",
        "A resume of a session opens the newest fork of it.",
        harness=_NewestChild,
    ),
    Mutant(
        "resume-makes-a-copy",
        "OPS-1",
        "refork-on-resume",
        "A resume opens a copy of the session under a new id.",
        harness=_ResumeCopies,
    ),
    Mutant(
        "fork-begins-again-on-resume",
        "ISO-7",
        "refork-on-resume",
        "A fork that is resumed begins again at its cut, without what it said since.",
        harness=_ForksAgain,
    ),
    Mutant(
        "forks-deleted-with-the-source",
        "ISO-4",
        "parent-mutated",
        "Deleting a session deletes the forks of it.",
        harness=_DeletesForks,
    ),
    Mutant(
        "shared-turns-deleted-everywhere",
        "ISO-4",
        "parent-mutated",
        "Turns that are deleted in one session vanish from every session that shares them.",
        harness=_DeletesEverywhere,
    ),
    Mutant(
        "source-hidden-by-its-fork",
        "ISO-8",
        "empty-fork",
        "A session that was forked is not listed any more.",
        rules=_listing(_without_sources),
    ),
    Mutant(
        "titles-copied",
        "REC-5",
        "empty-fork",
        "Every fork is listed under the title of the session that its line began with.",
        rules=_listing(_one_title),
    ),
    Mutant(
        "list-names-the-first-ancestor",
        "REC-3",
        "lineage",
        "The list names the first session of the line as the source of each fork.",
        rules=_listing(_first_of_the_line),
    ),
    Mutant(
        "ids-of-the-moment",
        "ATO-7",
        "dup-ids",
        "Two forks that are asked for at the same time get the same id.",
        harness=_IdsOfTheMoment,
    ),
    Mutant(
        "source-read-in-parts",
        "SNAP-3",
        "mixed-snapshot",
        "A fork reads its source in two parts, and a turn that comes in between makes a hole.",
        harness=_ReadsInParts,
    ),
    Mutant(
        "compacted-twice-at-once",
        "SNAP-3",
        "concurrency",
        "Two compactions that are asked for at the same time both replace the same history.",
        harness=_CompactsTwice,
    ),
    Mutant(
        "only-the-last-page-is-forked",
        "SNAP-5",
        "wrong-cut",
        "A fork holds the newest fifty entries, as many as a view has loaded.",
        rules=_copying(lambda path: path[-_PAGE:]),
    ),
    Mutant(
        "copies-sorted-by-written-time",
        "CUT-4",
        "timestamp-tie",
        "A fork orders what it copies by the times as they are written.",
        rules=_copying(lambda path: sorted(path, key=lambda entry: entry.stamp.written)),
    ),
    Mutant(
        "copies-sorted-by-id",
        "CUT-4",
        "timestamp-tie",
        "A fork orders the turns that it copies by their ids as texts.",
        rules=_copying(lambda path: sorted(path, key=lambda entry: entry.turn)),
    ),
    Mutant(
        "child-tools-run-in-the-source",
        "OPS-6",
        "runtime-ownership",
        "The tools of a fork with a place of its own still work in the source's.",
        rules=of_forks(_at_the_source),
    ),
    Mutant(
        "cancel-stops-the-forks",
        "OPS-6",
        "runtime-ownership",
        "Cancelling a session's turn also stops what runs in the forks of it.",
        harness=_StopsTheFamily,
    ),
    Mutant(
        "prefix-copied-in-each-generation",
        "PERF-1",
        "performance",
        "A fork of a fork holds what it inherits twice, so each generation doubles it.",
        rules=of_forks(_copied_again),
    ),
)
