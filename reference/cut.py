"""Cuts: where the history that a fork copies ends.

Source: clauses CUT-1 to CUT-7, SNAP-4, REC-6; seed 000, "explicit snapshot semantics".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from forkproof.reference.entries import Answered, Entry, TurnEnded, UserSaid, last_within, on_path
from forkproof.reference.refusal import Refusal

__all__ = ["Applied", "BusySource", "Place", "Point", "boundary", "cut"]

BusySource: TypeAlias = Literal["interrupt", "last-committed", "refuse", "wait"]
"""What a fork does whose source has a turn in flight (clause SNAP-4)."""

Applied: TypeAlias = Mapping[str, str | bool]
"""A cut as the fork record states it: one of before, after and interrupted with a turn's id, or `{"head": True}`."""


@dataclass(frozen=True, slots=True)
class Point:
    """A cut as it was asked for. `turn` is a turn's id, `entry` that of the entry that a cut `at` it keeps."""

    kind: Literal["before", "after", "at", "head"]
    turn: str = ""
    entry: str = ""


class Place(NamedTuple):
    """A cut that was found: the child's leaf (None: an empty prefix), the cut as it is recorded, and text to edit.

    `open_turn` is the id of a turn that the cut goes through, so that the child can mark it as interrupted. `frozen` is
    the source's leaf that counts, where the source went on since (None: the one that it has).
    """

    leaf: Entry | None
    applied: Applied
    editor: str = ""
    open_turn: str = ""
    frozen: Entry | None = None


def cut(leaf: Entry | None, point: Point, turns: Mapping[str, Entry]) -> Place | Refusal:
    """The place of `point` on the path that ends at `leaf`.

    Before a turn leaves its user message out and gives that text back (CUT-7); after a turn keeps its last item, and
    no compaction that follows it (CMP-3). A turn that is unknown, blank, off this path or not ended on it is refused
    (CUT-5, CUT-6). `turns` maps each turn's id to its user message. O(log n).
    """
    if point.kind == "head":
        return Place(leaf, {"head": True})
    first = turns.get(point.turn)
    # One long search for the turn's end; from there its beginning is near.
    last = last_within(leaf, first.ordinal) if first is not None else None
    if first is None or not on_path(first, last):
        return Refusal("unknown-cut", f"the history of this session holds no turn {point.turn!r}")
    if point.kind == "before":
        text = first.body.text if isinstance(first.body, UserSaid) else ""
        return Place(first.parent, {"before": point.turn}, text)
    while last is not None and last.turn != point.turn:
        last = last.parent
    if last is None or not _complete(last, leaf):
        return Refusal("unknown-cut", f"turn {point.turn!r} has not ended, so nothing can be cut after it")
    return Place(last, {"after": point.turn})


def _complete(last: Entry, leaf: Entry | None) -> bool:
    """Whether a turn whose last entry on the path this is has ended there.

    Navigation may have gone on right behind the turn's last answer, so that its end is not on the path.
    """
    body = last.body
    return isinstance(body, TurnEnded) or (isinstance(body, Answered) and not body.calls and last is not leaf)


def boundary(running: Entry, leaf: Entry, busy_source: BusySource) -> Place | Refusal:
    """The place of a head cut on a source whose turn is in flight; `running` is that turn's user message.

    Only `interrupt` and `last-committed` have a place at once. `interrupt` keeps everything that was recorded so far;
    `last-committed` leaves the turn out. Both say so in the record, as the boundary is not the plain head (REC-6).
    """
    turn = running.turn
    if busy_source == "interrupt":
        return Place(leaf, {"interrupted": turn}, open_turn=turn)
    if busy_source == "last-committed":
        before = running.parent
        earlier = before.turn if before is not None else ""
        return Place(before, {"after": earlier} if earlier else {"before": turn})
    return Refusal("busy", f"turn {turn} is in flight")
