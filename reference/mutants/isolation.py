"""Mutants in which source and child are not two sessions. Clauses ISO-1 to ISO-8."""

from __future__ import annotations

from typing import Any, Final

from forkproof.reference.cut import Place, Point
from forkproof.reference.fork import Child, ForkRequest
from forkproof.reference.harness import Harness
from forkproof.reference.mutants.mutant import Mutant
from forkproof.reference.mutants.surgery import of_forks, rebuilt
from forkproof.reference.project import full_path
from forkproof.reference.record import Record
from forkproof.reference.refusal import Refusal
from forkproof.reference.session import Session
from forkproof.reference.turn import Ended

__all__ = ["MUTANTS"]


class _Family(Harness):
    """Knows who was forked from whom."""

    def parent_of(self, id_: str) -> Session | None:
        """The session that this one was forked from."""
        session = self.session(id_)
        lineage = session.header.lineage if session is not None else None
        return self.session(lineage.source) if lineage is not None else None

    def children_of(self, id_: str) -> list[Session]:
        """The sessions that were forked from this one, oldest first."""
        found = [self.session(each) for each in self.sessions()]
        return [s for s in found if s is not None and s.header.lineage is not None and s.header.lineage.source == id_]


class _WritesBoth(_Family):
    """What is said in a child is said in its source too."""

    async def prompt(self, id_: str, *said: Any, **more: Any) -> Ended | Refusal:
        child, source = self.session(id_), self.parent_of(id_)
        known = set(full_path(child.leaf)) if child is not None else set()
        ended = await super().prompt(id_, *said, **more)
        if child is not None and source is not None:
            new = [entry for entry in full_path(child.leaf) if entry not in known]
            source.leaf = rebuilt([*full_path(source.leaf), *new])
        return ended


class _StoresInSource(_Family):
    """A child's turns are kept in its source only."""

    async def prompt(self, id_: str, *said: Any, **more: Any) -> Ended | Refusal:
        child, source = self.session(id_), self.parent_of(id_)
        before = child.leaf if child is not None else None
        ended = await super().prompt(id_, *said, **more)
        if child is not None and source is not None:
            child.leaf, source.leaf = before, child.leaf
        return ended


class _ForgetsItsTurns(_Family):
    """A child starts again at its cut with every prompt."""

    async def prompt(self, id_: str, *said: Any, **more: Any) -> Ended | Refusal:
        child, source = self.session(id_), self.parent_of(id_)
        if child is not None and source is not None:
            entry = child.leaf
            while entry is not None and entry.stamp.session == id_:
                entry = entry.parent
            child.leaf = entry
        return await super().prompt(id_, *said, **more)


class _SourceSeesChild(_Family):
    """A source goes on from where its newest child is."""

    async def prompt(self, id_: str, *said: Any, **more: Any) -> Ended | Refusal:
        session, children = self.session(id_), self.children_of(id_)
        if session is not None and children and children[-1].leaf is not None:
            session.leaf = children[-1].leaf
        return await super().prompt(id_, *said, **more)


class _SiblingsShare(_Family):
    """A second fork of a source starts from the first one's history."""

    async def fork(self, id_: str, point: Point, request: ForkRequest) -> Record | Refusal:
        siblings = self.children_of(id_)
        record = await super().fork(id_, point, request)
        child = None if isinstance(record, Refusal) else self.session(record.session)
        if child is not None and siblings:
            child.leaf = siblings[0].leaf
        return record


class _SecondIsEmpty(_Family):
    """Only the first fork of a source holds anything."""

    async def fork(self, id_: str, point: Point, request: ForkRequest) -> Record | Refusal:
        siblings = self.children_of(id_)
        record = await super().fork(id_, point, request)
        child = None if isinstance(record, Refusal) else self.session(record.session)
        if child is not None and siblings:
            child.leaf = None
        return record


class _HeadOfTheOldBranch(_Family):
    """A turn on a new branch is kept, and the head is where the branch before it ended."""

    async def prompt(self, id_: str, *said: Any, **more: Any) -> Ended | Refusal:
        session = self.session(id_)
        newest = session.written[-1] if session is not None and session.written else None
        moved = session is not None and newest is not None and session.leaf is not newest
        ended = await super().prompt(id_, *said, **more)
        if session is not None and moved:
            session.leaf = newest
        return ended


class _SourceIsGone(_Family):
    """The source is put away when it is forked."""

    async def fork(self, id_: str, point: Point, request: ForkRequest) -> Record | Refusal:
        record = await super().fork(id_, point, request)
        if not isinstance(record, Refusal):
            del self._sessions[id_]
        return record


def _moves_source(child: Child, source: Session, place: Place) -> Child:
    source.leaf = place.leaf
    return child


def _own_turns_only(child: Child, source: Session, place: Place) -> Child:
    """A fork of a fork holds what its source said itself, and not what that one inherited."""
    if source.header.lineage is not None:
        child.session.leaf = rebuilt(e for e in full_path(place.leaf) if e.stamp.session == source.header.id)
    return child


MUTANTS: Final = (
    Mutant(
        "fork-rewinds-source",
        "ISO-1",
        "parent-mutated",
        "A fork sets its source back to the cut.",
        rules=of_forks(_moves_source),
    ),
    Mutant(
        "child-writes-source-too",
        "ISO-1",
        "child-writes-parent",
        "What is said in a child is added to its source as well.",
        harness=_WritesBoth,
    ),
    Mutant(
        "source-goes-on-in-child",
        "ISO-2",
        "child-writes-parent",
        "After a fork the source goes on from the child's last turn.",
        harness=_SourceSeesChild,
    ),
    Mutant(
        "siblings-share-history",
        "ISO-2",
        "abandoned-branch-leak",
        "A second fork of a source starts with the turns of the first one.",
        harness=_SiblingsShare,
    ),
    Mutant(
        "child-turns-kept-in-source",
        "ISO-3",
        "child-writes-parent",
        "A child's turns are kept in its source, and the child stays at its cut.",
        harness=_StoresInSource,
    ),
    Mutant(
        "head-of-the-old-branch",
        "ISO-5",
        "wrong-leaf",
        "After a turn on a new branch the head is again where the branch before it ended.",
        harness=_HeadOfTheOldBranch,
    ),
    Mutant(
        "second-fork-empty",
        "ISO-6",
        "empty-fork",
        "The second fork of a source holds nothing.",
        harness=_SecondIsEmpty,
    ),
    Mutant(
        "fork-of-fork-own-turns-only",
        "ISO-6",
        "empty-fork",
        "A fork of a fork loses what its source had inherited.",
        rules=of_forks(_own_turns_only),
    ),
    Mutant(
        "child-forked-anew-each-time",
        "ISO-7",
        "refork-on-resume",
        "Every prompt to a child starts again at the cut.",
        harness=_ForgetsItsTurns,
    ),
    Mutant(
        "source-put-away",
        "ISO-8",
        "parent-mutated",
        "A source can't be used any more after it was forked.",
        harness=_SourceIsGone,
    ),
)
