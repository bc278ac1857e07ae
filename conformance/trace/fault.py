"""What a lint rule finds: a code and its words, at a path of the trace; the linter finds the line."""

from __future__ import annotations

from dataclasses import dataclass

from forkproof.conformance.contract import Contract
from forkproof.conformance.trace.model import Expectation, Step, Trace
from forkproof.conformance.trace.names import Names
from forkproof.conformance.trace.place import Path

__all__ = ["Fault", "StepCheck", "Story"]


@dataclass(frozen=True, slots=True)
class Fault:
    """One finding. `key` tells that the path's last key is what is wrong, not its value."""

    path: Path
    code: str
    message: str
    key: bool = False


@dataclass(frozen=True, slots=True)
class StepCheck:
    """One expectation at its step, as a rule looks at it."""

    index: int
    step: Step
    clause: str
    expectation: Expectation
    path: Path


@dataclass(frozen=True, slots=True)
class Story:
    """A trace with its names, its expectations and the contract: all that a rule needs."""

    trace: Trace
    names: Names
    contract: Contract
    checks: tuple[StepCheck, ...]
