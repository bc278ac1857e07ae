"""Compaction: what is summarized, what is kept word for word, and the checkpoint that says so.

Source: clauses CMP-2 to CMP-8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forkproof.reference.entries import Checkpoint, Entry, UserSaid, ancestor_at

__all__ = ["Plan", "checkpoint_of", "plan"]


@dataclass(frozen=True, slots=True)
class Plan:
    """A compaction that is decided: the entries that the summary covers, and the first one that is kept, if any."""

    covered: Sequence[Entry]
    tail: Entry | None


def plan(active: Sequence[Entry], retained_turns: int) -> Plan | None:
    """How to compact a context: the newest `retained_turns` turns are kept, all before them is covered.

    The tail is cut at user messages only, so it is pair-valid (CMP-6). At least one turn is covered, so a short history
    keeps fewer turns. None if the context holds no turn, since there is nothing to compact then.
    """
    starts = [index for index, entry in enumerate(active) if type(entry.body) is UserSaid]
    if not starts:
        return None
    kept = min(retained_turns, len(starts) - 1)
    if kept == 0:
        return Plan(active, None)
    first = starts[-kept]
    return Plan(active[:first], active[first])


def checkpoint_of(plan: Plan, session: str, summary: str) -> Checkpoint:
    """The checkpoint that a summary of this plan makes; where it covers another, its range begins with the path."""
    oldest, newest = plan.covered[0], plan.covered[-1]
    root = ancestor_at(oldest, 1) if isinstance(oldest.body, Checkpoint) else oldest
    return Checkpoint(summary, session, (root or oldest).id, newest.id, plan.tail)
