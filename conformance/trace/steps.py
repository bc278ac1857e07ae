"""The steps of a trace's story. Source: design section 3."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, StringConstraints, Tag, model_validator

from forkproof.conformance.trace.base import ItemReference, Many, Name, Reference, kind_of
from forkproof.conformance.trace.expect import Expectations
from forkproof.conformance.trace.step import StepModel
from forkproof.conformance.trace.steps_input import QueueStep, SteerStep
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

STEP_KEYS = ("queue", "steer", "turn", "await", "fork", "cancel", "compact", "release", "check")
CUT_KEYS = ("before", "after", "at", "head")


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
    """Wait for the end of a turn that was queued, or of a turn or compaction that `until` left running."""

    await_: Name = Field(alias="await")


class ForkStep(StepModel):
    """A new session from a session's history up to a cut: `before` or `after` a turn, `at` an item, or the `head`."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": [cut]} for cut in CUT_KEYS]})

    fork: Name
    in_: Reference = Field("main", alias="in")
    before: Reference | None = None
    after: Reference | None = None
    at: ItemReference | None = None
    head: Literal[True] | None = None
    workspace: Literal["shared", "isolated"] = "shared"

    @model_validator(mode="after")
    def _one_cut(self) -> ForkStep:
        given = [cut for cut in CUT_KEYS if getattr(self, cut) is not None]
        if len(given) != 1:
            names = ", ".join(given) or "none"
            cuts = "before: TURN, after: TURN, at: ITEM or head: true"
            msg = f"a fork names exactly one cut ({cuts}), this one names {names}"
            raise ValueError(msg)
        return self


class CancelStep(StepModel):
    """Interrupt the turn that runs in this session."""

    cancel: Name


class CompactStep(StepModel):
    """Compact a session's history; the model answers with the summary.

    With `until`, the step ends when the summary was asked for, and the answer is held back until `release: COMPACT`.
    """

    compact: Name
    in_: Name = Field("main", alias="in")
    model: Annotated[Many[SayStep], Field(min_length=1, max_length=1)]
    until: Literal["asked"] | None = None


class ReleaseStep(StepModel):
    """Let the waiting command of this call finish, or the model answer that a compaction waits for."""

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
    | Annotated[CheckStep, Tag("<check>")]
    | Annotated[SteerStep, Tag("<steer>")]
    | Annotated[QueueStep, Tag("<queue>")],
    Discriminator(
        _kind,
        custom_error_type="step",
        custom_error_message=f"a step is one of {', '.join(STEP_KEYS)}",
    ),
]
