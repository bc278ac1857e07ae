"""Mutants that lose, mix or invent something when a process ends. Clauses ATO-1 to ATO-6, ISO-3 to ISO-5, SNAP-2."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from typing import Final

from forkproof.reference.cut import Point
from forkproof.reference.entries import Entry, TurnEnded, UserSaid
from forkproof.reference.fork import Child, ForkRequest
from forkproof.reference.harness import Harness
from forkproof.reference.ids import CountedIds
from forkproof.reference.mutants.mutant import Mutant
from forkproof.reference.mutants.surgery import rebuilt
from forkproof.reference.record import Record
from forkproof.reference.refusal import Refusal
from forkproof.reference.restore import Stored, restore
from forkproof.reference.rules import Rules
from forkproof.reference.session import Session
from forkproof.reference.store import Made, Moved, Row, Wrote

__all__ = ["MUTANTS"]

_Restore = Callable[[Sequence[Row]], Stored]


def _restoring(rule: _Restore) -> Callable[[Rules], Rules]:
    return lambda rules: replace(rules, restore=rule)


def _reading(changed: Callable[[Sequence[Row]], Sequence[Row]]) -> Callable[[Rules], Rules]:
    """A store that is read in another way."""
    return _restoring(lambda rows: restore(changed(rows)))


def _of_each(changed: Callable[[Session, Stored], None]) -> Callable[[Rules], Rules]:
    """A store that is read well, and then something happens to each session."""

    def rule(rows: Sequence[Row]) -> Stored:
        stored = restore(rows)
        for session in list(stored.sessions.values()):
            changed(session, stored)
        return stored

    return _restoring(rule)


# --- what a store tells ----------------------------------------------------------------------------------------------


def _by_id(rows: Sequence[Row]) -> Sequence[Row]:
    written = sorted((row for row in rows if isinstance(row, Wrote)), key=lambda row: row.entry.id)
    return [*(row for row in rows if not isinstance(row, Wrote)), *written]


def _without_moves(rows: Sequence[Row]) -> Sequence[Row]:
    return [row for row in rows if not isinstance(row, Moved)]


def _into_the_source(rows: Sequence[Row]) -> Sequence[Row]:
    made = [row for row in rows if isinstance(row, Made)]
    source = {row.header.id: row.header.lineage.source for row in made if row.header.lineage is not None}
    return [
        row._replace(session=source.get(row.session, row.session)) if isinstance(row, Wrote) else row for row in rows
    ]


def _without_lineage(rows: Sequence[Row]) -> Sequence[Row]:
    return [row._replace(header=row.header._replace(lineage=None)) if isinstance(row, Made) else row for row in rows]


def _without_requests(rows: Sequence[Row]) -> Sequence[Row]:
    return [row._replace(request="") if isinstance(row, Made) else row for row in rows]


def _whole_source(rows: Sequence[Row]) -> Sequence[Row]:
    stands: dict[str, Entry | None] = {}
    found: list[Row] = []
    for row in rows:
        if isinstance(row, Made):
            lineage = row.header.lineage
            stands[row.header.id] = row.leaf if lineage is None else stands.get(lineage.source)
            found.append(row._replace(leaf=stands[row.header.id]))
            continue
        if isinstance(row, Wrote):
            stands[row.session] = row.entry
        found.append(row)
    return found


def _in_a_line(session: Session, _stored: Stored) -> None:
    session.leaf = rebuilt([*_path(session.base), *session.written])


def _longest_branch(session: Session, _stored: Stored) -> None:
    ends = [entry for entry in session.written if isinstance(entry.body, TurnEnded)]
    first: dict[int, Entry] = {}
    for entry in ends:
        first.setdefault(entry.depth, entry)
    session.leaf = first[max(first)] if first else session.leaf


def _follows_its_source(session: Session, stored: Stored) -> None:
    lineage = session.header.lineage
    source = stored.sessions.get(lineage.source) if lineage is not None else None
    if source is not None and not session.written:
        session.leaf = source.leaf


def _path(leaf: Entry | None) -> list[Entry]:
    found = []
    while leaf is not None:
        found.append(leaf)
        leaf = leaf.parent
    return found[::-1]


# --- what a process does ---------------------------------------------------------------------------------------------


class _CountsAnew(Harness):
    """Its counter of sessions begins anew with each process."""

    def start_again(self) -> None:
        super().start_again()
        ids = self._runtime.ids
        if isinstance(ids, CountedIds):
            ids._sessions = count(1)  # noqa: SLF001  # the fault


class _HeaderFirst(Harness):
    """The header of a child is safe before its content."""

    def begin(self, child: Child, request: ForkRequest) -> None:
        store = self._runtime.store
        store.write(Made(child.session.header, None, child.record, request.key))
        store.flush()
        super().begin(child, request)


class _FlushesLater(Harness):
    """A child is written down when somebody speaks next."""

    def finish(self, source: Session, child: Child, request: ForkRequest) -> None:
        store = self._runtime.store
        flush = store.flush
        store.flush = lambda: None  # type: ignore[method-assign]  # this fork alone is not flushed
        try:
            super().finish(source, child, request)
        finally:
            store.flush = flush  # type: ignore[method-assign]  # and everything after it is


class _StoppedIsLost(Harness):
    """A session whose turn was interrupted by the end of the process can't be opened any more."""

    def resume(self, id_: str) -> Session | Refusal:
        session = super().resume(id_)
        end = session.leaf.body if isinstance(session, Session) and session.leaf is not None else None
        if isinstance(end, TurnEnded) and end.stop == "cancelled":
            self._asleep.add(id_)
            return Refusal("busy", f"session {id_} is still running")
        return session


class _StrayChild(Harness):
    """A fork that is refused leaves an empty session on the list."""

    async def fork(self, id_: str, point: Point, request: ForkRequest) -> Record | Refusal:
        record = await super().fork(id_, point, request)
        if isinstance(record, Refusal):
            self.open(request.directory)
        return record


class _StopsFirst(Harness):
    """A fork stops its source before it looks whether the cut is there."""

    async def fork(self, id_: str, point: Point, request: ForkRequest) -> Record | Refusal:
        if point.kind != "head":
            await self.cancel(id_)
        return await super().fork(id_, point, request)


class _NoMemory(Harness):
    """A fork that is asked for again is another one."""

    def answered(self, request: ForkRequest) -> Record | None:
        del request
        return None


MUTANTS: Final = (
    Mutant(
        "last-words-not-flushed",
        "SNAP-2",
        "mixed-snapshot",
        "Only what the person said is flushed at once, so a kill takes the newest answer away.",
        rules=lambda rules: replace(rules, flushed=lambda body: isinstance(body, UserSaid)),
    ),
    Mutant(
        "killed-turn-counts-as-complete",
        "TOOL-3",
        "interrupted-as-complete",
        "A turn that ended with its process comes back as one that ended by itself.",
        rules=lambda rules: replace(rules, unended=lambda _leaf: TurnEnded("end_turn")),
    ),
    Mutant(
        "killed-session-stays-busy",
        "ATO-4",
        "interrupted-as-complete",
        "A session whose turn ended with its process still counts as running and can't be opened.",
        harness=_StoppedIsLost,
    ),
    Mutant(
        "log-read-by-id",
        "ATO-4",
        "timestamp-tie",
        "The log is read in the order of its ids as texts, so entry 10 comes before entry 9.",
        rules=_reading(_by_id),
    ),
    Mutant(
        "log-read-as-one-line",
        "ATO-4",
        "abandoned-branch-leak",
        "After a restart a session holds everything that was ever written in it, branch or not.",
        rules=_of_each(_in_a_line),
    ),
    Mutant(
        "cut-forgotten-by-the-store",
        "ATO-4",
        "wrong-cut",
        "The store holds no cut of a fork, so after a restart it begins with all that its source held.",
        rules=_reading(_whole_source),
    ),
    Mutant(
        "header-before-content",
        "ATO-3",
        "partial-fork",
        "The header of a fork is safe before its content, so a crash in between leaves an empty child.",
        harness=_HeaderFirst,
    ),
    Mutant(
        "fork-flushed-with-the-next-turn",
        "REC-3",
        "lineage",
        "A fork is stored when somebody speaks next, so a kill right after it leaves no trace of it.",
        harness=_FlushesLater,
    ),
    Mutant(
        "source-forgotten-by-the-store",
        "REC-3",
        "lineage",
        "The store holds no source of a fork, so none is known after a restart.",
        rules=_reading(_without_lineage),
    ),
    Mutant(
        "ids-counted-anew",
        "REC-2",
        "dup-ids",
        "After a restart new sessions get ids that were given before.",
        harness=_CountsAnew,
    ),
    Mutant(
        "stray-child-of-a-failed-fork",
        "ATO-1",
        "partial-fork",
        "A fork that is refused leaves an empty session on the list.",
        harness=_StrayChild,
    ),
    Mutant(
        "fork-stops-the-source-first",
        "ATO-5",
        "partial-fork",
        "A fork stops the turn of its source before it looks whether the cut is there.",
        harness=_StopsFirst,
    ),
    Mutant(
        "retry-makes-a-second-child",
        "ATO-6",
        "dup-ids",
        "A fork that is asked for again is another one.",
        harness=_NoMemory,
    ),
    Mutant(
        "requests-forgotten-by-the-store",
        "ATO-6",
        "dup-ids",
        "After a restart a fork that is asked for again is another one.",
        rules=_reading(_without_requests),
    ),
    Mutant(
        "child-log-in-the-source",
        "ISO-3",
        "child-writes-parent",
        "What a child says is stored in its source.",
        rules=_reading(_into_the_source),
    ),
    Mutant(
        "resumed-at-the-old-branch",
        "ISO-5",
        "wrong-leaf",
        "A session with several branches is resumed on the one that was there first.",
        rules=_of_each(_longest_branch),
    ),
    Mutant(
        "position-not-stored",
        "ISO-5",
        "wrong-leaf",
        "Where a person went in a session is forgotten unless they spoke there.",
        rules=_reading(_without_moves),
    ),
    Mutant(
        "child-follows-its-source",
        "SNAP-1",
        "mixed-snapshot",
        "A child that has not spoken is read from its source, which has gone on since.",
        rules=_of_each(_follows_its_source),
    ),
)
