"""Invariants: checks that every trace has without writing them down, judged on every request that was captured.

Which of them a trace has is read off its steps: where nothing could be broken there is no check. Their ids are
`slug::invariant/CLAUSE`. Source: issue "the whole contract", Build 4; design section 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from forkproof.conformance.histories import Histories
from forkproof.conformance.trace.checks import Check, check_ids
from forkproof.conformance.trace.load import LoadedTrace

__all__ = ["INVARIANTS", "InvariantCheck", "Judged", "all_checks", "invariants_of"]

INVARIANTS: Final[Mapping[str, str]] = {
    "TOOL-1": "every call has one result, and every result a call",
    "CUT-1": "a session that was forked holds nothing of its ancestors from after the cut",
    "ISO-2": "no session holds what was said in another one that it was not forked from",
    "CUT-4": "nothing stands twice, and what was copied keeps its order",
}
"""Clause -> what is asked of every request."""


@dataclass(frozen=True, slots=True)
class InvariantCheck:
    """One invariant of one trace; `step` is the trace's last one, the place is that of the trace's title."""

    id: str
    step: int
    clause: str
    file: str
    line: int
    column: int


Judged: TypeAlias = Check | InvariantCheck
"""Whatever gets a verdict."""


def all_checks(loaded: LoadedTrace) -> tuple[Judged, ...]:
    """The trace's own checks in the order of the file, then its invariants."""
    return (*check_ids(loaded), *invariants_of(loaded))


def invariants_of(loaded: LoadedTrace) -> tuple[InvariantCheck, ...]:
    """The invariants that this trace could break."""
    place = loaded.positions.key(("title",))
    last = len(loaded.trace.steps) - 1
    return tuple(
        InvariantCheck(f"{loaded.slug}::invariant/{clause}", last, clause, str(loaded.path), place.line, place.column)
        for clause in _at_stake(Histories.of(loaded.trace))
    )


def _at_stake(histories: Histories) -> Iterator[str]:
    turns = histories.turns
    if histories.calls:
        yield "TOOL-1"
    if any(histories.some_begun(histories.beyond_the_cut(turn), turn) for turn in turns):
        yield "CUT-1"
    if any(histories.some_begun(histories.of_strangers(turn), turn) for turn in turns):
        yield "ISO-2"
    if any(len(histories.path_at(turn)) > 1 for turn in turns):
        yield "CUT-4"
