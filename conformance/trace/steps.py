"""The steps of a trace's story. Source: design section 3."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, StringConstraints, Tag, model_validator

from forkproof.conformance.trace.base import ItemReference, Many, Name, Reference, RelativePath, kind_of
from forkproof.conformance.trace.expect import Expectations
from forkproof.conformance.trace.settings import Decision, Settings
from forkproof.conformance.trace.step import StepModel
from forkproof.conformance.trace.steps_authority import ApproveStep, DenyStep, SetStep
from forkproof.conformance.trace.steps_durable import DeleteStep, RestartStep, ResumeStep, RetryStep
from forkproof.conformance.trace.steps_input import QueueStep, SteerStep
from forkproof.conformance.trace.steps_side import DelegateStep, DueStep, FoldStep, RestoreStep, UserEditsStep
from forkproof.conformance.trace.steps_tree import BranchStep, CloneStep, EditContextStep, LabelStep, RewindStep
from forkproof.conformance.trace.tools import ModelStep, SayStep

__all__ = [
    "STEP_KEYS",
    "AtOnceStep",
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

STEP_KEYS = (
    "queue", "steer", "turn", "await", "fork", "cancel", "compact", "release", "check",
    "delegate", "fold", "user_edits", "restore", "due", "branch", "rewind", "clone", "label", "edit_context",
    "set", "approve", "deny",
    "restart", "resume", "delete", "retry", "together",
)  # fmt: skip
CUT_KEYS = ("before", "after", "at", "head")


class TurnStep(StepModel):
    """A person says something and the model answers; in a scope, `role` names who answers there.

    `attach` holds files that go with the message, name -> content; their items are `TURN.attachment` (`.attachment.2`).
    With `until`, the step ends when that call's command has started, the stream has come to that `stall`, or the person
    is asked about the call, and the turn is left running. `answers` says what the person answers about which call;
    about any other they say no.
    """

    turn: Name
    in_: Name = Field("main", alias="in")
    user: Annotated[str, StringConstraints(min_length=1)]
    attach: Annotated[dict[RelativePath, str], Field(min_length=1)] | None = None
    model: Annotated[Many[ModelStep], Field(min_length=1)]
    until: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]*\.(started|asked)$")] | None = None
    answers: Annotated[dict[Name, Decision], Field(min_length=1)] | None = None
    role: Name | None = None


class AwaitStep(StepModel):
    """Wait for the end of a turn that was queued, or of a turn or compaction that `until` left running."""

    await_: Name = Field(alias="await")


class ForkStep(StepModel):
    """A new session from a session's history up to a cut: `before` or `after` a turn, `at` an item, or the `head`.

    With `dies` the harness's process dies over it, at that point; a `restart: kill` has to follow. With `copying:
    blocked` something stands where the copy of the workspace would be made, so that making it fails.
    """

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": [cut]} for cut in CUT_KEYS]})

    fork: Name
    in_: Reference = Field("main", alias="in")
    before: Reference | None = None
    after: Reference | None = None
    at: ItemReference | None = None
    head: Literal[True] | None = None
    workspace: Literal["shared", "isolated"] = "shared"
    settings: Settings | None = None
    dies: Literal["before-commit", "during-commit", "after-commit"] | None = None
    copying: Literal["blocked"] | None = None

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


Inner = Annotated[
    Annotated[TurnStep, Tag("<turn>")]
    | Annotated[ForkStep, Tag("<fork>")]
    | Annotated[CompactStep, Tag("<compact>")]
    | Annotated[RetryStep, Tag("<retry>")],
    Discriminator(
        lambda value: kind_of(value, ("turn", "fork", "compact", "retry")),
        custom_error_type="step",
        custom_error_message="a step within `together` is one of turn, fork, compact, retry",
    ),
]


class AtOnceStep(StepModel):
    """Steps that run at the same time. What they must show is expected of this step as a whole, or of later ones."""

    together: Annotated[Many[Inner], Field(min_length=2)]

    @model_validator(mode="after")
    def _plain(self) -> AtOnceStep:
        if any(step.expect or step.unless or getattr(step, "until", None) for step in self.together):
            msg = "a step within `together` has no `expect`, `unless` or `until` of its own"
            raise ValueError(msg)
        return self


Step = Annotated[
    Annotated[TurnStep, Tag("<turn>")]
    | Annotated[AwaitStep, Tag("<await>")]
    | Annotated[ForkStep, Tag("<fork>")]
    | Annotated[CancelStep, Tag("<cancel>")]
    | Annotated[CompactStep, Tag("<compact>")]
    | Annotated[ReleaseStep, Tag("<release>")]
    | Annotated[CheckStep, Tag("<check>")]
    | Annotated[SteerStep, Tag("<steer>")]
    | Annotated[QueueStep, Tag("<queue>")]
    | Annotated[DelegateStep, Tag("<delegate>")]
    | Annotated[FoldStep, Tag("<fold>")]
    | Annotated[UserEditsStep, Tag("<user_edits>")]
    | Annotated[RestoreStep, Tag("<restore>")]
    | Annotated[DueStep, Tag("<due>")]
    | Annotated[BranchStep, Tag("<branch>")]
    | Annotated[RewindStep, Tag("<rewind>")]
    | Annotated[CloneStep, Tag("<clone>")]
    | Annotated[LabelStep, Tag("<label>")]
    | Annotated[EditContextStep, Tag("<edit_context>")]
    | Annotated[RestartStep, Tag("<restart>")]
    | Annotated[ResumeStep, Tag("<resume>")]
    | Annotated[DeleteStep, Tag("<delete>")]
    | Annotated[RetryStep, Tag("<retry>")]
    | Annotated[AtOnceStep, Tag("<together>")]
    | Annotated[SetStep, Tag("<set>")]
    | Annotated[ApproveStep, Tag("<approve>")]
    | Annotated[DenyStep, Tag("<deny>")],
    Discriminator(
        _kind,
        custom_error_type="step",
        custom_error_message=f"a step is one of {', '.join(STEP_KEYS)}",
    ),
]
