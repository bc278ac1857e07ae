"""The steps of a trace's story. Source: design section 3."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, StringConstraints, Tag, model_validator

from forkproof.conformance.trace.base import Many, Name, Reference, kind_of
from forkproof.conformance.trace.expect import Expectations
from forkproof.conformance.trace.step import StepModel
from forkproof.conformance.trace.tools import ModelStep, SayStep

__all__ = [
    "STEP_KEYS",
    "AwaitStep",
    "CancelStep",
    "CheckStep",
    "CompactStep",
    "ForkStep",
    "ReleaseStep",
    "Step",
    "StepModel",
    "TurnStep",
]

STEP_KEYS = ("turn", "await", "fork", "cancel", "compact", "release", "check")
CUT_KEYS = ("before", "after", "head")


class TurnStep(StepModel):
    """A person says something and the model answers.

    With `until`, the step ends when that call's command has started, and the turn is left running.
    """

    turn: Name
    in_: Name = Field("main", alias="in")
    user: Annotated[str, StringConstraints(min_length=1)]
    model: Annotated[Many[ModelStep], Field(min_length=1)]
    until: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]*\.started$")] | None = None


class AwaitStep(StepModel):
    """Wait for the end of a turn that `until` left running."""

    await_: Name = Field(alias="await")


class ForkStep(StepModel):
    """A new session from a session's history up to a cut: `before` or `after` a turn, or the `head`."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": [cut]} for cut in CUT_KEYS]})

    fork: Name
    in_: Reference = Field("main", alias="in")
    before: Reference | None = None
    after: Reference | None = None
    head: Literal[True] | None = None
    workspace: Literal["shared", "isolated"] = "shared"

    @model_validator(mode="after")
    def _one_cut(self) -> ForkStep:
        given = [cut for cut in CUT_KEYS if getattr(self, cut) is not None]
        if len(given) != 1:
            names = ", ".join(given) or "none"
            msg = f"a fork names exactly one cut (before: TURN, after: TURN or head: true), this one names {names}"
            raise ValueError(msg)
        return self


class CancelStep(StepModel):
    """Interrupt the turn that runs in this session."""

    cancel: Name


class CompactStep(StepModel):
    """Compact a session's history; the model answers with the summary."""

    compact: Name
    in_: Name = Field("main", alias="in")
    model: Annotated[Many[SayStep], Field(min_length=1, max_length=1)]


class ReleaseStep(StepModel):
    """Let the waiting command of this call finish."""

    release: Name


class CheckStep(StepModel):
    """Do nothing in this session, and look."""

    check: Name
    expect: Annotated[Expectations, Field(min_length=1)]


def _kind(value: Any) -> str | None:
    return kind_of(value, STEP_KEYS)


Step = Annotated[
    Annotated[TurnStep, Tag("<turn>")]
    | Annotated[AwaitStep, Tag("<await>")]
    | Annotated[ForkStep, Tag("<fork>")]
    | Annotated[CancelStep, Tag("<cancel>")]
    | Annotated[CompactStep, Tag("<compact>")]
    | Annotated[ReleaseStep, Tag("<release>")]
    | Annotated[CheckStep, Tag("<check>")],
    Discriminator(
        _kind,
        custom_error_type="step",
        custom_error_message="a step is one of turn, await, fork, cancel, compact, release, check",
    ),
]
