"""What one kind of expectation found, and the case that it looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from forkproof.conformance.observation import Observation, PartSeen, StepSeen
from forkproof.conformance.provenance import Lineage
from forkproof.conformance.trace.model import Expectation, Trace

__all__ = ["Case", "Finding", "Rule", "bad", "ok", "unobservable", "untestable"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind's outcome. `witness` names what was seen, and is never empty for `ok`."""

    status: Literal["ok", "bad", "untestable", "unobservable"]
    reason: str = ""
    expected: Any = None
    seen: Any = None
    witness: Any = None


@dataclass(frozen=True, slots=True)
class Case:
    """One expectation at one played step."""

    trace: Trace
    observation: Observation
    lineage: Lineage
    step: StepSeen
    expectation: Expectation

    @property
    def part(self) -> PartSeen:
        """The trace itself, as it was seen."""
        return self.observation.main


Rule: TypeAlias = Callable[[Case], Finding]


def ok(witness: Any, expected: Any = None, seen: Any = None) -> Finding:
    """It holds, and this is what shows it."""
    return Finding("ok", witness=witness, expected=expected, seen=seen)


def bad(reason: str, expected: Any = None, seen: Any = None) -> Finding:
    """It does not hold."""
    return Finding("bad", reason, expected, seen)


def untestable(reason: str) -> Finding:
    """Its precondition was not seen in this run, so it can't be said."""
    return Finding("untestable", reason)


def unobservable(reason: str) -> Finding:
    """No channel of this route shows it."""
    return Finding("unobservable", reason)
