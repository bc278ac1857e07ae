"""The steps that speak to a session while it is busy. Source: design section 3; clauses QUE-1, QUE-2, CMP-7."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from forkproof.conformance.trace.base import Many, Name
from forkproof.conformance.trace.step import StepModel
from forkproof.conformance.trace.tools import ModelStep

__all__ = ["QueueStep", "SteerStep"]


class SteerStep(StepModel):
    """A person speaks into the turn that runs in a session; its model reads that with its next request."""

    steer: Name
    in_: Name = Field("main", alias="in")
    user: Annotated[str, StringConstraints(min_length=1)]


class QueueStep(StepModel):
    """A message held for after what runs in a session, be it a turn or a compaction; it is then a turn of this name."""

    queue: Name
    in_: Name = Field("main", alias="in")
    user: Annotated[str, StringConstraints(min_length=1)]
    model: Annotated[Many[ModelStep], Field(min_length=1)]

    @property
    def turn(self) -> str:
        """The name of the turn that it will be."""
        return self.queue

    @property
    def until(self) -> None:
        """A queued turn is never left running by its own step."""
        return
