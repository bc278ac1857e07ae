"""Mutants of what compactions point to: the range of a summary, and the tail in a copy. Clauses CMP-1, CMP-8."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from forkproof.reference.compact import Plan, checkpoint_of
from forkproof.reference.cut import Place, Point
from forkproof.reference.entries import Checkpoint, Entry, append
from forkproof.reference.mutants.mutant import Mutant
from forkproof.reference.mutants.surgery import of_places
from forkproof.reference.project import full_path
from forkproof.reference.rules import Rules

__all__ = ["MUTANTS"]


def _unnamed(plan: Plan, _session: str, summary: str) -> Checkpoint:
    return checkpoint_of(plan, "", summary)


def _range_of_newest(plan: Plan, session: str, summary: str) -> Checkpoint:
    made = checkpoint_of(plan, session, summary)
    return replace(made, first=made.last)


def _written_in_first(plan: Plan, session: str, summary: str) -> Checkpoint:
    """The conversation that the oldest covered entry was written in, whoever compacts."""
    return checkpoint_of(plan, plan.covered[0].stamp.session or session, summary)


def _copying(tail: Callable[[Entry, Entry, dict[Entry, Entry]], Entry | None]) -> Callable[[Rules], Rules]:
    """Forks that copy, with another way to find the copy's tail: the checkpoint, its own tail and the copies in."""

    def changed(_leaf: Entry | None, _point: Point, place: Place) -> Place:
        leaf: Entry | None = None
        copies: dict[Entry, Entry] = {}
        for entry in full_path(place.leaf):
            body = entry.body
            if isinstance(body, Checkpoint) and body.tail is not None and leaf is not None:
                body = replace(body, tail=tail(leaf, body.tail, copies))
            leaf = copies[entry] = append(leaf, body, entry.stamp)
        return place._replace(leaf=leaf)

    return lambda rules: replace(rules, cut=of_places(changed))


MUTANTS: Final = (
    Mutant(
        "summary-without-conversation",
        "CMP-8",
        "lineage",
        "A summary does not say which conversation it is of.",
        rules=lambda rules: replace(rules, checkpoint_of=_unnamed),
    ),
    Mutant(
        "summary-of-the-first-writer",
        "CMP-8",
        "lineage",
        "A summary made in a fork says that it is of the conversation in which its oldest entry was written.",
        rules=lambda rules: replace(rules, checkpoint_of=_written_in_first),
    ),
    Mutant(
        "summary-range-too-short",
        "CMP-8",
        "lineage",
        "A summary names its newest entry only, as if it stood for nothing else.",
        rules=lambda rules: replace(rules, checkpoint_of=_range_of_newest),
    ),
    Mutant(
        "copied-tail-pinned-to-last",
        "CMP-1",
        "orphan-result",
        "In a copy the tail of a compaction begins at the last entry before it.",
        rules=_copying(lambda leaf, _tail, _copies: leaf),
    ),
    Mutant(
        "copied-tail-forgotten",
        "CMP-1",
        "compaction-boundary",
        "In a copy a compaction keeps nothing of what its original keeps.",
        rules=_copying(lambda _leaf, _tail, _copies: None),
    ),
)
