"""The steps about storage and identity: restart, open a session again, delete, ask for a fork twice.

Source: design section 3; clauses ATO-3 to ATO-6, ISO-4, ISO-5, ISO-7, OPS-1.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from forkproof.conformance.trace.base import Many, Name
from forkproof.conformance.trace.step import StepModel

__all__ = ["DeleteStep", "RestartStep", "ResumeStep", "RetryStep"]


class RestartStep(StepModel):
    """End the harness's process, in order or by a kill, and start another one on the same storage.

    Turns that run end with it. From then on each session is stored, and acts again only after a `resume`.
    """

    restart: Literal["clean", "kill"]


class ResumeStep(StepModel):
    """Open a session again that is stored; of one that is open, nothing changes."""

    resume: Name


class DeleteStep(StepModel):
    """Delete a session, or with `turns` these turns of it."""

    delete: Name
    turns: Annotated[Many[Name], Field(min_length=1)] | None = None


class RetryStep(StepModel):
    """Ask for this fork once more, by the same request id, as a client does that never got the answer."""

    retry: Name
