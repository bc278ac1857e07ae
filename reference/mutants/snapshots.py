"""Mutants that take the wrong state of the source, or disturb it. Clauses SNAP-1, SNAP-4, REC-6."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from forkproof.reference.cut import BusySource, Place, Point, boundary
from forkproof.reference.entries import Entry
from forkproof.reference.fork import ForkRequest
from forkproof.reference.harness import Harness
from forkproof.reference.mutants.mutant import Mutant
from forkproof.reference.record import Record
from forkproof.reference.refusal import Refusal
from forkproof.reference.turn import Ended

__all__ = ["MUTANTS"]


class _ReadsLate(Harness):
    """The child's prefix is read from the source when the child is first prompted."""

    async def prompt(self, id_: str, *said: Any, **more: Any) -> Ended | Refusal:
        child = self.session(id_)
        lineage = child.header.lineage if child is not None else None
        if child is not None and lineage is not None and lineage.cut == {"head": True}:
            source = self.session(lineage.source)
            if source is not None and (child.leaf is None or child.leaf.stamp.session != id_):
                child.leaf = source.leaf
        return await super().prompt(id_, *said, **more)


class _CancelsTheSource(Harness):
    """The turn that the source is busy with is interrupted first."""

    async def fork(self, id_: str, point: Point, request: ForkRequest) -> Record | Refusal:
        await self.cancel(id_)
        return await super().fork(id_, point, request)


def _unsaid(running: Entry, leaf: Entry, busy_source: BusySource) -> Place | Refusal:
    found = boundary(running, leaf, busy_source)
    return found if isinstance(found, Refusal) else found._replace(applied={"head": True})


MUTANTS: Final = (
    Mutant(
        "prefix-read-late",
        "SNAP-1",
        "mixed-snapshot",
        "A fork reads its prefix when it is first prompted, so the source's later turns are in it.",
        harness=_ReadsLate,
    ),
    Mutant(
        "fork-cancels-source",
        "SNAP-4",
        "parent-mutated",
        "A fork interrupts the turn that its source is busy with.",
        harness=_CancelsTheSource,
    ),
    Mutant(
        "busy-source-refused-undeclared",
        "SNAP-4",
        "concurrency",
        "A fork of a busy source is refused, though another policy is declared.",
        semantics=lambda chosen: replace(chosen, busy_source="refuse"),
    ),
    Mutant(
        "busy-turn-left-out-undeclared",
        "SNAP-4",
        "mixed-snapshot",
        "A fork of a busy source leaves the running turn out, though another policy is declared.",
        semantics=lambda chosen: replace(chosen, busy_source="last-committed"),
    ),
    Mutant(
        "busy-boundary-unsaid",
        "REC-6",
        "interrupted-as-complete",
        "The record of a fork that went through a running turn claims that it was cut at the head.",
        rules=lambda rules: replace(rules, boundary=_unsaid),
    ),
)
