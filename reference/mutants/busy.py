"""Mutants of input to busy sessions, and of cuts at an entry. Clauses QUE-1, QUE-2, TOOL-7, CMP-7, SNAP-4, REC-6."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import replace
from typing import Any, Final

from forkproof.reference.cut import Place, Point, cut
from forkproof.reference.entries import Entry, Steered, TurnEnded, UserSaid, append
from forkproof.reference.entrycut import CallGroup, cut_at, pair_safe
from forkproof.reference.fork import Child
from forkproof.reference.harness import Harness
from forkproof.reference.mutants.mutant import Mutant
from forkproof.reference.mutants.surgery import of_forks, of_places, path_after, rebuilt
from forkproof.reference.project import full_path
from forkproof.reference.prompt import Blob
from forkproof.reference.record import Record
from forkproof.reference.refusal import Refusal
from forkproof.reference.session import Session
from forkproof.reference.turn import Ended

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


# --- cuts at an entry ----------------------------------------------------------------------------------------------


def _stays_in_group(place: Place, _leaf: Entry | None, _choice: CallGroup) -> Place | Refusal:
    return place


def _moves_silently(place: Place, leaf: Entry | None, choice: CallGroup) -> Place | Refusal:
    found = pair_safe(place, leaf, choice)
    return found if isinstance(found, Refusal) else found._replace(applied=place.applied)


def _before_the_entry(leaf: Entry | None, id_: str) -> Place | Refusal:
    found = cut_at(leaf, id_)
    entry = next((e for e in full_path(leaf) if e.id == id_), None)
    return found if isinstance(found, Refusal) or entry is None else found._replace(leaf=entry.parent)


def _to_the_end_of_its_turn(leaf: Entry | None, id_: str) -> Place | Refusal:
    found = cut_at(leaf, id_)
    if isinstance(found, Refusal) or found.leaf is None:
        return found
    turn = found.leaf.turn
    last = next((e for e in reversed(full_path(leaf)) if e.turn == turn), found.leaf)
    return found._replace(leaf=last, open_turn="")


def _unknown_is_head(leaf: Entry | None, id_: str) -> Place | Refusal:
    found = cut_at(leaf, id_)
    return Place(leaf, {"head": True}) if isinstance(found, Refusal) else found


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


def _message_alone_left_out(_leaf: Entry | None, _point: Point, place: Place) -> Place:
    """A message at the end that got no answer is not in the child."""
    leaf = place.leaf
    while leaf is not None and isinstance(leaf.body, TurnEnded | UserSaid) and _unanswered(leaf):
        leaf = leaf.parent
    return place._replace(leaf=leaf)


def _unanswered(entry: Entry) -> bool:
    said = entry.parent if isinstance(entry.body, TurnEnded) else entry
    return said is not None and isinstance(said.body, UserSaid)


class _GhostsReturn(Harness):
    """From its third turn on, what was cut off stands in the child again."""

    def _begin(self, session: Session, text: str, attachments: tuple[Blob, ...] = ()) -> Awaitable[Ended]:
        lineage = session.header.lineage
        own = [entry for entry in session.written if isinstance(entry.body, UserSaid)]
        if lineage is not None and len(own) == 2:  # noqa: PLR2004  # the third turn
            for entry in path_after(self._sessions[lineage.source].leaf, session.base):
                session.leaf = append(session.leaf, entry.body, entry.stamp)
        return super()._begin(session, text, attachments)


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
        "cut-inside-a-group",
        "TOOL-7",
        "orphan-call",
        "A cut between the results of a group stays there, though a pair-safe place is declared.",
        rules=lambda rules: replace(rules, pair_safe=_stays_in_group),
    ),
    Mutant(
        "moved-cut-unsaid",
        "REC-6",
        "orphan-call",
        "A cut inside a group moves, and the record gives the place that was asked for.",
        rules=lambda rules: replace(rules, pair_safe=_moves_silently),
    ),
    Mutant(
        "item-of-the-cut-left-out",
        "CUT-2",
        "wrong-cut",
        "A cut at an item leaves that item out.",
        rules=lambda rules: replace(rules, cut_at=_before_the_entry),
    ),
    Mutant(
        "item-cut-takes-its-turn",
        "CUT-1",
        "wrong-cut",
        "A cut at an item keeps the whole turn that it stands in.",
        rules=lambda rules: replace(rules, cut_at=_to_the_end_of_its_turn),
    ),
    Mutant(
        "unknown-item-is-head",
        "CUT-5",
        "missing-source-silent",
        "A cut at an item that is not there is taken for the head.",
        rules=lambda rules: replace(rules, cut_at=_unknown_is_head),
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
        "SNAP-4",
        "mixed-snapshot",
        "A cut after the turn that still runs takes what there is of it for all of it.",
        rules=lambda rules: replace(rules, cut=_open_turns_are_whole),
    ),
    Mutant(
        "unanswered-message-left-out",
        "SNAP-2",
        "mixed-snapshot",
        "A message that the model never answered is not in a fork.",
        rules=lambda rules: replace(rules, cut=of_places(_message_alone_left_out)),
    ),
    Mutant(
        "ghosts-return",
        "CUT-1",
        "abandoned-branch-leak",
        "What was cut off is not in a child's first requests, and comes back in later ones.",
        harness=_GhostsReturn,
    ),
)
