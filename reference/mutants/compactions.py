"""Mutants that lose, keep or misplace what a compaction left. Clauses CMP-1 to CMP-8, REC-10."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from forkproof.reference.compact import Plan, plan
from forkproof.reference.cut import Place, Point
from forkproof.reference.entries import Checkpoint, Entry, append, newest_checkpoint
from forkproof.reference.mutants.mutant import Mutant
from forkproof.reference.mutants.surgery import Cut, of_places, path_after, rebuilt
from forkproof.reference.project import active, full_path
from forkproof.reference.rules import Rules

__all__ = ["MUTANTS"]


def _cutting(rule: Cut) -> Callable[[Rules], Rules]:
    return lambda rules: replace(rules, cut=rule)


def _summary_of_later(leaf: Entry | None, _point: Point, place: Place) -> Place:
    """A cut before a compaction takes its summary for the prefix, in place of the items."""
    later = [entry for entry in path_after(leaf, place.leaf) if isinstance(entry.body, Checkpoint)]
    if not later or not isinstance(later[-1].body, Checkpoint):
        return place
    return place._replace(leaf=append(None, replace(later[-1].body, tail=None), later[-1].stamp))


def _later_stays_active(leaf: Entry | None, _point: Point, place: Place) -> Place:
    """The newest compaction of the source is active in the child, wherever it was cut."""
    checkpoint = newest_checkpoint(leaf)
    if checkpoint is None or checkpoint in full_path(place.leaf):
        return place
    return place._replace(leaf=append(place.leaf, checkpoint.body, checkpoint.stamp))


def _undone(_leaf: Entry | None, _point: Point, place: Place) -> Place:
    return place._replace(leaf=rebuilt(e for e in full_path(place.leaf) if not isinstance(e.body, Checkpoint)))


def _tail_left_behind(_leaf: Entry | None, _point: Point, place: Place) -> Place:
    """The entries are copied, and the tail still points to the source's own."""
    copy: Entry | None = None
    for entry in full_path(place.leaf):
        copy = append(copy, entry.body, entry.stamp)
    return place._replace(leaf=copy)


def _summary_only(_leaf: Entry | None, _point: Point, place: Place) -> Place:
    """Of a compacted context the child gets the summary, and nothing that came behind it."""
    checkpoint = newest_checkpoint(place.leaf)
    return place if checkpoint is None else place._replace(leaf=checkpoint)


def _without_tail(leaf: Entry | None) -> list[Entry]:
    found = active(leaf)
    checkpoint = newest_checkpoint(leaf)
    return found if checkpoint is None else [e for e in found if e is checkpoint or e.depth > checkpoint.depth]


def _summary_last(leaf: Entry | None) -> list[Entry]:
    """The summary stands behind what it keeps."""
    found = active(leaf)
    return [*found[1:], found[0]] if found and isinstance(found[0].body, Checkpoint) else found


def _summary_twice(leaf: Entry | None) -> list[Entry]:
    found = active(leaf)
    return [found[0], *found] if found and isinstance(found[0].body, Checkpoint) else found


def _covered_too(leaf: Entry | None) -> list[Entry]:
    """The summary and what it covers."""
    checkpoint = newest_checkpoint(leaf)
    path = [entry for entry in full_path(leaf) if not isinstance(entry.body, Checkpoint)]
    return path if checkpoint is None else [checkpoint, *path]


def _tail_mid_turn(path: Sequence[Entry], retained_turns: int) -> Plan | None:
    """The kept tail begins behind the user's message."""
    found = plan(path, retained_turns)
    if found is None or found.tail is None:
        return found
    start = path.index(found.tail) + 1
    return Plan(path[:start], path[start])


def _newest_turn_only_user(path: Sequence[Entry], _retained_turns: int) -> Plan | None:
    """Everything is covered, though a tail is declared."""
    return plan(path, 0)


MUTANTS: Final = (
    Mutant(
        "tail-pointer-left-behind",
        "CMP-1",
        "compaction-boundary",
        "A fork copies a compaction and not what its tail pointer names, so the tail is not found.",
        rules=_cutting(of_places(_tail_left_behind)),
    ),
    Mutant(
        "compaction-undone-by-fork",
        "CMP-2",
        "compaction-undone",
        "A fork behind a compaction gives the original items again.",
        rules=_cutting(of_places(_undone)),
    ),
    Mutant(
        "items-behind-compaction-lost",
        "CMP-2",
        "compaction-boundary",
        "A fork behind a compaction keeps the summary and loses what came after it.",
        rules=_cutting(of_places(_summary_only)),
    ),
    Mutant(
        "prefix-from-later-summary",
        "CMP-3",
        "precompaction-lost",
        "A cut before a compaction gives the later summary in place of the original items.",
        rules=_cutting(of_places(_summary_of_later)),
    ),
    Mutant(
        "later-compaction-active",
        "CMP-4",
        "precompaction-lost",
        "A compaction that was made after the cut is active in the child.",
        rules=_cutting(of_places(_later_stays_active)),
    ),
    Mutant(
        "summary-counts-twice",
        "CMP-5",
        "dup-messages",
        "After a compaction the summary is sent twice.",
        rules=lambda rules: replace(rules, active=_summary_twice),
    ),
    Mutant(
        "covered-items-sent-too",
        "CMP-5",
        "compaction-undone",
        "After a compaction the summary is sent, and all that it covers as well.",
        rules=lambda rules: replace(rules, active=_covered_too),
    ),
    Mutant(
        "tail-dropped",
        "CMP-6",
        "precompaction-lost",
        "After a compaction the turns that it keeps are not sent.",
        rules=lambda rules: replace(rules, active=_without_tail),
    ),
    Mutant(
        "tail-without-its-question",
        "CMP-6",
        "orphan-result",
        "The tail that a compaction keeps begins in the middle of a turn.",
        rules=lambda rules: replace(rules, plan=_tail_mid_turn),
    ),
    Mutant(
        "tail-covered-undeclared",
        "CMP-6",
        "precompaction-lost",
        "A compaction covers everything, though a tail is declared.",
        rules=lambda rules: replace(rules, plan=_newest_turn_only_user),
    ),
    Mutant(
        "summary-behind-its-tail",
        "CMP-2",
        "compaction-boundary",
        "After a compaction the summary stands behind the newer messages.",
        rules=lambda rules: replace(rules, active=_summary_last),
    ),
)
