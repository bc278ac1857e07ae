"""Mutants of input to busy sessions, and of what these have open. Clauses QUE-1, QUE-2, CMP-7, CUT-8, SNAP-4, ENV-9."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import replace
from typing import Any, Final

from forkproof.reference.approvals import Decision
from forkproof.reference.cut import Place, Point, cut
from forkproof.reference.entries import Entry, Steered, UserSaid, append
from forkproof.reference.fork import Child
from forkproof.reference.harness import Harness
from forkproof.reference.mutants.mutant import Mutant
from forkproof.reference.mutants.surgery import of_forks, of_places, path_after, rebuilt
from forkproof.reference.project import full_path
from forkproof.reference.record import Record
from forkproof.reference.refusal import Refusal
from forkproof.reference.session import Session

__all__ = ["MUTANTS"]


# --- steered and queued messages -----------------------------------------------------------------------------------


def _keep_steered(child: Child, source: Session, place: Place) -> Child:
    """What was said into a turn behind the cut stands in the child all the same."""
    for entry in path_after(source.leaf, place.leaf):
        if isinstance(entry.body, Steered):
            child.session.leaf = append(child.session.leaf, entry.body, entry.stamp)
    return child


def _without_steered(_leaf: Entry | None, _point: Point, place: Place) -> Place:
    return place._replace(leaf=rebuilt(e for e in full_path(place.leaf) if not isinstance(e.body, Steered)))


class _ForksTheQueue(Harness):
    def _make_child(self, source: Session, *asked: Any) -> Record:
        record = super()._make_child(source, *asked)
        for held in self.inbox.waiting(source.header.id):
            self.inbox.queue(record.session, held.text)
        return record


class _WritesTheQueue(Harness):
    def _make_child(self, source: Session, *asked: Any) -> Record:
        record = super()._make_child(source, *asked)
        child = self._sessions[record.session]
        for held in self.inbox.waiting(source.header.id):
            self._runtime.append(child, self._runtime.ids.turn(), UserSaid(held.text))
        return record


class _CompactsIdly(Harness):
    def _holds(self, id_: str) -> bool:
        return id_ in self._running


# --- busy sources --------------------------------------------------------------------------------------------------


class _MovesCutsToTheBoundary(Harness):
    def _place(self, source: Session, point: Point, running: Any) -> Place | Refusal:
        if running is not None and source.leaf is not None:
            runtime = self._runtime
            return runtime.rules.boundary(running.first, source.leaf, runtime.semantics.busy_source)
        return super()._place(source, point, running)


def _open_turns_are_whole(leaf: Entry | None, point: Point, turns: Mapping[str, Entry]) -> Place | Refusal:
    found = cut(leaf, point, turns)
    if isinstance(found, Refusal) and leaf is not None and leaf.turn == point.turn:
        return Place(leaf, {"after": point.turn})
    return found


# --- questions and processes ---------------------------------------------------------------------------------------


_OPEN: set[asyncio.Future[Decision]] = set()
"""Questions that nobody waits for any more."""


def _left_open(answer: Awaitable[Decision]) -> Awaitable[Decision]:
    question = asyncio.ensure_future(answer)
    _OPEN.add(question)
    question.add_done_callback(_OPEN.discard)
    return asyncio.shield(question)


class _ProcessesFollow(Harness):
    def _make_child(self, source: Session, *asked: Any) -> Record:
        record = super()._make_child(source, *asked)
        for name in self.machine.processes_of(source.header.id):
            self.machine.end(name, source.header.id)
            self.machine.start(name, record.session)
        return record


class _ProcessesEnd(Harness):
    def _make_child(self, source: Session, *asked: Any) -> Record:
        for name in self.machine.processes_of(source.header.id):
            self.machine.end(name, source.header.id)
        return super()._make_child(source, *asked)


class _ProcessesDouble(Harness):
    def _make_child(self, source: Session, *asked: Any) -> Record:
        record = super()._make_child(source, *asked)
        for name in self.machine.processes_of(source.header.id):
            self.machine.start(name, record.session)
        return record


MUTANTS: Final = (
    Mutant(
        "steered-message-kept",
        "QUE-2",
        "queued-messages",
        "A fork holds what was said into a turn that it does not hold.",
        rules=of_forks(_keep_steered),
    ),
    Mutant(
        "steered-message-left-out",
        "QUE-2",
        "queued-messages",
        "A fork holds a turn without what was said into it while it ran.",
        rules=lambda rules: replace(rules, cut=of_places(_without_steered)),
    ),
    Mutant(
        "queue-forked",
        "QUE-1",
        "queued-messages",
        "A fork gets a copy of its source's waiting messages, and runs them.",
        harness=_ForksTheQueue,
    ),
    Mutant(
        "queue-in-the-history",
        "QUE-1",
        "queued-messages",
        "A message that waits in the source is the last one of the fork's history.",
        harness=_WritesTheQueue,
    ),
    Mutant(
        "compacting-reads-idle",
        "CMP-7",
        "orphan-result",
        "A session that is compacted counts as idle, so input runs in the middle of it.",
        harness=_CompactsIdly,
    ),
    Mutant(
        "busy-source-moves-every-cut",
        "SNAP-4",
        "concurrency",
        "While the source runs, a cut after an earlier turn goes to where the running one stands.",
        harness=_MovesCutsToTheBoundary,
    ),
    Mutant(
        "running-turn-cut-as-whole",
        "CUT-5",
        "mixed-snapshot",
        "A cut after the turn that still runs takes what there is of it for all of it.",
        rules=lambda rules: replace(rules, cut=_open_turns_are_whole),
    ),
    Mutant(
        "question-outlives-its-turn",
        "CUT-8",
        "approvals-leaked",
        "A question stays open when the turn that asked it was stopped and taken off.",
        rules=lambda rules: replace(rules, hear=_left_open),
    ),
    Mutant(
        "processes-follow-the-fork",
        "ENV-9",
        "runtime-ownership",
        "The background processes of a source are its fork's from then on.",
        harness=_ProcessesFollow,
    ),
    Mutant(
        "processes-killed-by-fork",
        "ENV-9",
        "runtime-ownership",
        "Making a fork ends the background processes of its source.",
        harness=_ProcessesEnd,
    ),
    Mutant(
        "processes-doubled",
        "ENV-9",
        "runtime-ownership",
        "A fork starts the background processes of its source once more, for itself.",
        harness=_ProcessesDouble,
    ),
)
