"""Mutants of cuts at an item, and of what stands at a cut. Clauses CUT-1, CUT-2, CUT-5, SNAP-2, TOOL-7, REC-6."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import replace
from typing import Final

from forkproof.reference.cut import Place, Point
from forkproof.reference.entries import Entry, TurnEnded, UserSaid, append
from forkproof.reference.entrycut import CallGroup, cut_at, pair_safe
from forkproof.reference.harness import Harness
from forkproof.reference.mutants.mutant import Mutant
from forkproof.reference.mutants.surgery import of_places, path_after
from forkproof.reference.project import full_path
from forkproof.reference.prompt import Blob
from forkproof.reference.refusal import Refusal
from forkproof.reference.session import Session
from forkproof.reference.turn import Ended

__all__ = ["MUTANTS"]


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
