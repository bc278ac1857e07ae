"""What the model does in a trace: it says something, calls tools, or its server fails. Source: design section 3."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, StringConstraints, Tag, model_validator

from forkproof.conformance.trace.base import Many, Name, RelativePath, TraceModel, kind_of
from forkproof.conformance.trace.stream import DropStep, StallStep, ThinkStep

__all__ = [
    "MODEL_STEP_KEYS",
    "TOOLS",
    "AgentMessage",
    "AgentTask",
    "CallStep",
    "FailStep",
    "ModelStep",
    "Replacement",
    "SayStep",
    "TogetherStep",
    "ToolArguments",
    "WakeUp",
]

TOOLS = ("write", "edit", "read", "run", "wait", "count", "agent", "tell", "todo", "memory", "schedule", "background")
MODEL_STEP_KEYS = ("say", "call", "together", "fail", "think", "stall", "drop")


class SayStep(TraceModel):
    """The model says something. `say` right before a `call` goes out in the same answer."""

    say: str


class Replacement(TraceModel):
    """Replace the first occurrence of `old`, which must be there, by `new`."""

    old: Annotated[str, StringConstraints(min_length=1)]
    new: str


class AgentTask(TraceModel):
    """A task for a new child agent, which plays `model`. Its items go by the call: `CALL.user` is the task.

    With `context: inherit` it begins with the history of its parent, with `none` it sees the task alone.
    """

    task: Annotated[str, StringConstraints(min_length=1)]
    context: Literal["inherit", "none"] = "none"
    model: Annotated[Many[ModelStep], Field(min_length=1)]


class AgentMessage(TraceModel):
    """A further message to the child agent that the named call made. Its items go by this call."""

    agent: Name
    message: Annotated[str, StringConstraints(min_length=1)]
    model: Annotated[Many[ModelStep], Field(min_length=1)]


class WakeUp(TraceModel):
    """A message that the session is given `after` seconds. Its turn goes by the call."""

    after: Annotated[int, Field(ge=1)]
    message: Annotated[str, StringConstraints(min_length=1)]
    model: Annotated[Many[ModelStep], Field(min_length=1)]


class ToolArguments(TraceModel):
    """Exactly one abstract tool. The adapter maps it to a native call.

    write: path -> new content. edit: path -> replacement. read: a path. run: a command of the small shared vocabulary
    (`pwd`, `ls`, `true`, `false`, `echo WORDS`, `rm PATH`, `mkdir PATH`, `mv FROM TO`). wait: `release` blocks until
    the trace releases it, `forever` until it is killed. count: the name of a counter that the command raises by one.
    agent: a task for a child agent. tell: a further message to one. todo: the whole new todo list. memory: something to
    remember. schedule: a wake-up. background: the
    name of a process that the command starts and leaves running.
    """

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": [tool]} for tool in TOOLS]})

    write: Annotated[dict[RelativePath, str], Field(min_length=1)] | None = None
    edit: Annotated[dict[RelativePath, Replacement], Field(min_length=1)] | None = None
    read: RelativePath | None = None
    run: Annotated[str, StringConstraints(min_length=1)] | None = None
    wait: Literal["release", "forever"] | None = None
    count: Name | None = None
    agent: AgentTask | None = None
    tell: AgentMessage | None = None
    todo: Annotated[Many[Annotated[str, StringConstraints(min_length=1)]], Field(min_length=1)] | None = None
    memory: Annotated[str, StringConstraints(min_length=1)] | None = None
    schedule: WakeUp | None = None
    background: Name | None = None

    @model_validator(mode="after")
    def _one_tool(self) -> ToolArguments:
        tools = [t for t in TOOLS if getattr(self, t) is not None]
        if len(tools) != 1:
            given = ", ".join(tools) or "none"
            offered = f"{', '.join(TOOLS[:-1])} or {TOOLS[-1]}"
            msg = f"a call names exactly one tool ({offered}), this one names {given}"
            raise ValueError(msg)
        return self

    @property
    def tool(self) -> str:
        """The name of the one tool that is set."""
        return next(t for t in TOOLS if getattr(self, t) is not None)

    @property
    def errand(self) -> AgentTask | AgentMessage | WakeUp | None:
        """What brings a turn of its own, in a child agent or at a later time."""
        return self.agent or self.tell or self.schedule


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
    | Annotated[FailStep, Tag("<fail>")]
    | Annotated[ThinkStep, Tag("<think>")]
    | Annotated[StallStep, Tag("<stall>")]
    | Annotated[DropStep, Tag("<drop>")],
    Discriminator(
        _kind,
        custom_error_type="model_step",
        custom_error_message=f"a model step is one of {', '.join(MODEL_STEP_KEYS)}",
    ),
]

for _model in (AgentTask, AgentMessage, WakeUp, ToolArguments, CallStep, TogetherStep):
    # A child agent's model does what any model does, so these types hold each other.
    _model.model_rebuild()
