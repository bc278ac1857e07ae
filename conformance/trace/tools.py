"""What the model does in a trace: it says something, calls tools, or its server fails. Source: design section 3."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, StringConstraints, Tag, model_validator

from forkproof.conformance.trace.base import Many, Name, RelativePath, TraceModel, kind_of

__all__ = [
    "MODEL_STEP_KEYS",
    "TOOLS",
    "CallStep",
    "FailStep",
    "ModelStep",
    "Replacement",
    "SayStep",
    "TogetherStep",
    "ToolArguments",
]

TOOLS = ("write", "edit", "read", "run", "wait", "count")
MODEL_STEP_KEYS = ("say", "call", "together", "fail")


class SayStep(TraceModel):
    """The model says something. `say` right before a `call` goes out in the same answer."""

    say: str


class Replacement(TraceModel):
    """Replace the first occurrence of `old`, which must be there, by `new`."""

    old: Annotated[str, StringConstraints(min_length=1)]
    new: str


class ToolArguments(TraceModel):
    """Exactly one abstract tool. The adapter maps it to a native call.

    write: path -> new content. edit: path -> replacement. read: a path. run: a command of the small shared vocabulary
    (`pwd`, `ls`, `true`, `false`, `echo WORDS`, `rm PATH`, `mkdir PATH`, `mv FROM TO`). wait: `release` blocks until
    the trace releases it, `forever` until it is killed. count: the name of a counter that the command raises by one.
    """

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": [tool]} for tool in TOOLS]})

    write: Annotated[dict[RelativePath, str], Field(min_length=1)] | None = None
    edit: Annotated[dict[RelativePath, Replacement], Field(min_length=1)] | None = None
    read: RelativePath | None = None
    run: Annotated[str, StringConstraints(min_length=1)] | None = None
    wait: Literal["release", "forever"] | None = None
    count: Name | None = None

    @model_validator(mode="after")
    def _one_tool(self) -> ToolArguments:
        tools = [t for t in TOOLS if getattr(self, t) is not None]
        if len(tools) != 1:
            given = ", ".join(tools) or "none"
            msg = f"a call names exactly one tool (write, edit, read, run, wait or count), this one names {given}"
            raise ValueError(msg)
        return self

    @property
    def tool(self) -> str:
        """The name of the one tool that is set."""
        return next(t for t in TOOLS if getattr(self, t) is not None)


class CallStep(ToolArguments):
    """The model calls a tool; `call` names the call within the trace.

    `same_id_as` gives it the wire id of an earlier call, as providers that count per answer do (clause TOOL-5).
    """

    call: Name
    same_id_as: Name | None = None


class TogetherStep(TraceModel):
    """Several calls in one answer."""

    together: Annotated[Many[CallStep], Field(min_length=2)]


class FailStep(TraceModel):
    """The model's server fails with this HTTP status."""

    fail: Annotated[int, Field(ge=400, le=599)]


def _kind(value: Any) -> str | None:
    return kind_of(value, MODEL_STEP_KEYS)


ModelStep = Annotated[
    Annotated[SayStep, Tag("<say>")]
    | Annotated[CallStep, Tag("<call>")]
    | Annotated[TogetherStep, Tag("<together>")]
    | Annotated[FailStep, Tag("<fail>")],
    Discriminator(
        _kind,
        custom_error_type="model_step",
        custom_error_message="a model step is one of say, call, together, fail",
    ),
]
