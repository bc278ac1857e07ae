"""What every step of a trace may carry; the kinds of steps stand in modules of their own."""

from __future__ import annotations

from forkproof.conformance.trace.base import Policies, TraceModel
from forkproof.conformance.trace.expect import Expectations

__all__ = ["StepModel"]


class StepModel(TraceModel):
    """What every step may carry."""

    expect: Expectations = ()
    unless: Policies | None = None
    """Leave this step out where the harness declares one of these policies."""
