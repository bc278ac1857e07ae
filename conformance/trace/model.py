"""The trace language, version 1, as typed data. Source: design section 3.

A trace is a story in steps; each step may carry expectations, and each expectation is keyed by the clause that it proves.
These types are the language's only definition: the JSON Schema, the loader's errors and the linter's names come from them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    model_validator,
)

__all__ = [
    "AwaitStep", "CallStep", "CancelStep", "CheckStep", "CompactStep", "Expectation", "ForkStep", "ImportedTurn", "ItemPattern", "ModelStep",
    "ReleaseStep", "SayStep", "Step", "TogetherStep", "ToolArguments", "Trace", "TurnStep", "UnknownName",
]  # fmt: skip

NAME = r"^[a-z][a-z0-9-]*$"
ITEM = re.compile(
    r"^(?P<item>[a-z][a-z0-9-]*\.(?:user|say|call|result|summary)(?:\.[0-9]+)?)(?: as (?P<role>user|assistant|tool|system))?$"
)

Name = Annotated[str, StringConstraints(pattern=NAME, max_length=40)]
ClauseId = Annotated[str, StringConstraints(pattern=r"^[A-Z]+-[0-9]+$")]
CapabilityName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*)*$")]
RelativePath = Annotated[str, StringConstraints(min_length=1, max_length=200)]


def _choices(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: (v,) if isinstance(v, str) else tuple(v) if isinstance(v, list) else v for k, v in value.items()}
    return value


Policies = Annotated[
    Mapping[str, tuple[str, ...]],
    BeforeValidator(_choices, json_schema_input_type=dict[str, str | list[str]]),
    Field(min_length=1),
]
"""Policy name -> the choices that are meant; a single choice may stand without a list."""

Status: TypeAlias = Literal["done", "failed", "unfinished"]


class _Model(BaseModel):
    """Every part of a trace is frozen, refuses unknown keys and never guesses types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, populate_by_name=True)


class UnknownName(_Model):
    """A name that stands for nothing: a session or a turn that never was (clauses CUT-5, ATO-2)."""

    unknown: Name


@dataclass(frozen=True, slots=True)
class ItemPattern:
    """One expected item of a prompt: `plan.user`, `edit.result: done`, `draft.say as assistant`."""

    item: str
    status: Status | None = None
    role: str | None = None

    def __str__(self) -> str:
        return self.item + (f": {self.status}" if self.status else "") + (f" as {self.role}" if self.role else "")


def _item_pattern(value: Any) -> Any:
    status = None
    if isinstance(value, ItemPattern):
        return value
    if isinstance(value, Mapping) and len(value) == 1:
        ((value, status),) = value.items()
        if status not in ("done", "failed", "unfinished"):
            msg = f"a result's status is done, failed or unfinished, not {status!r}"
            raise ValueError(msg)
    found = ITEM.match(value) if isinstance(value, str) else None
    if found is None:
        msg = f"not an item name: {value!r} (an item is TURN.user, TURN.say, CALL.call, CALL.result or COMPACT.summary, e.g. `plan.user`)"
        raise ValueError(msg)
    if status and ".result" not in found["item"]:
        msg = f"only a result has a status, {found['item']!r} is none"
        raise ValueError(msg)
    return ItemPattern(found["item"], status, found["role"])


Item = Annotated[
    ItemPattern,
    BeforeValidator(_item_pattern, json_schema_input_type=str | dict[str, Status]),
]
Items: TypeAlias = tuple[Item, ...]


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _many(item: Any) -> Any:
    """A list in YAML, a tuple in memory."""
    return Annotated[tuple[item, ...], BeforeValidator(_tuple)]  # type: ignore[valid-type]  # built for pydantic at run time


# --- What the model does -------------------------------------------------------------------------------------------


class SayStep(_Model):
    """The model says something. `say` right before a `call` goes out in the same answer."""

    say: str


class Replacement(_Model):
    """Replace the first occurrence of `old`, which must be there, by `new`."""

    old: Annotated[str, StringConstraints(min_length=1)]
    new: str


class ToolArguments(_Model):
    """Exactly one abstract tool. The adapter maps it to a native call.

    write: path -> new content. edit: path -> replacement. read: a path. run: a command of the small shared vocabulary
    (`pwd`, `ls`, `true`, `false`, `echo WORDS`, `rm PATH`, `mkdir PATH`, `mv FROM TO`). wait: `release` blocks until the
    trace releases it, `forever` until it is killed. count: the name of a counter that the command raises by one.
    """

    write: Annotated[Mapping[RelativePath, str], Field(min_length=1)] | None = None
    edit: Annotated[Mapping[RelativePath, Replacement], Field(min_length=1)] | None = None
    read: RelativePath | None = None
    run: Annotated[str, StringConstraints(min_length=1)] | None = None
    wait: Literal["release", "forever"] | None = None
    count: Name | None = None

    @model_validator(mode="after")
    def _one_tool(self) -> ToolArguments:
        tools = [t for t in ("write", "edit", "read", "run", "wait", "count") if getattr(self, t) is not None]
        if len(tools) != 1:
            msg = f"a call names exactly one tool (write, edit, read, run, wait or count), this one names {', '.join(tools) or 'none'}"
            raise ValueError(msg)
        return self

    @property
    def tool(self) -> str:
        """The name of the one tool that is set."""
        return next(t for t in ("write", "edit", "read", "run", "wait", "count") if getattr(self, t) is not None)


class CallStep(ToolArguments):
    """The model calls a tool; `call` names the call within the trace."""

    call: Name


class TogetherStep(_Model):
    """Several calls in one answer."""

    together: Annotated[_many(CallStep), Field(min_length=2)]  # type: ignore[valid-type]  # see _many


class FailStep(_Model):
    """The model's server fails with this HTTP status."""

    fail: Annotated[int, Field(ge=400, le=599)]


def _model_step_kind(value: Any) -> str | None:
    return _first_key(value, ("say", "call", "together", "fail"))


def _first_key(value: Any, keys: tuple[str, ...]) -> str | None:
    if isinstance(value, Mapping):
        return next((k for k in keys if k in value), None)
    return next((k for k in keys if hasattr(value, k) or hasattr(value, k + "_")), None)


ModelStep = Annotated[
    Annotated[SayStep, Tag("say")]
    | Annotated[CallStep, Tag("call")]
    | Annotated[TogetherStep, Tag("together")]
    | Annotated[FailStep, Tag("fail")],
    Discriminator(
        _model_step_kind,
        custom_error_type="model_step",
        custom_error_message="a model step is one of say, call, together, fail",
    ),
]


# --- What must be seen ---------------------------------------------------------------------------------------------


class Expectation(_Model):
    """What one clause demands at this step; every kind that is given must hold.

    prompt: the whole item sequence of the turn's first request; last_prompt: of its last. prompt_has / prompt_lacks:
    items that must / must not stand in the first request. files: the session's workspace, exactly. record: fields of the
    fork record, in the trace's names. refused: the operation was refused for this reason (`true`: any). requests: how many
    model requests the step caused. runs: how often counted side effects ran so far. result: the state of calls in the
    turn's first request. stop: the turn's stop reason. editor: the text that a fork puts back for editing. marks_interruption: the model can tell that this turn was
    interrupted. pending: the operation did not answer yet. same_next_prompt_without: the session's next prompt equals
    the one in a control run without the named steps. same_prefix_as: the first request holds, before its own user
    message, just what the named session's next request holds. when: only where the harness declares this policy.
    """

    when: Policies | None = None
    prompt: _many(Item) | None = None  # type: ignore[valid-type]  # see _many
    last_prompt: _many(Item) | None = None  # type: ignore[valid-type]  # see _many
    prompt_has: Annotated[_many(Item), Field(min_length=1)] | None = None  # type: ignore[valid-type]  # see _many
    prompt_lacks: Annotated[_many(Item), Field(min_length=1)] | None = None  # type: ignore[valid-type]  # see _many
    files: Mapping[RelativePath, str] | None = None
    record: Annotated[Mapping[str, Any], Field(min_length=1)] | None = None
    record_has: Annotated[_many(str), Field(min_length=1)] | None = None  # type: ignore[valid-type]  # see _many
    refused: Literal["busy", "unknown-cut", "unknown-session", True] | None = None
    requests: Annotated[int, Field(ge=0)] | None = None
    runs: Annotated[Mapping[Name, int], Field(min_length=1)] | None = None
    result: Annotated[Mapping[Name, Status], Field(min_length=1)] | None = None
    stop: str | None = None
    editor: str | None = None
    marks_interruption: Name | None = None
    pending: Literal[True] | None = None
    same_next_prompt_without: Annotated[_many(Name), Field(min_length=1)] | None = None  # type: ignore[valid-type]  # see _many
    same_prefix_as: Name | None = None

    def kinds(self) -> tuple[str, ...]:
        """The kinds of expectation that are set, in the language's order."""
        return tuple(k for k in type(self).model_fields if k != "when" and getattr(self, k) is not None)

    @model_validator(mode="after")
    def _checks_something(self) -> Expectation:
        if not self.kinds():
            msg = "an expectation must expect something (prompt, files, record, ...)"
            raise ValueError(msg)
        return self


def _one_clause(value: Any) -> Any:
    if isinstance(value, Mapping) and len(value) != 1:
        msg = f"an expectation has exactly one clause id as its key, e.g. `- CUT-1: {{prompt: [...]}}`; this one has {', '.join(map(str, value)) or 'none'}"
        raise ValueError(msg)
    return value


Expectations = _many(Annotated[dict[ClauseId, Expectation], BeforeValidator(_one_clause)])


# --- Steps ---------------------------------------------------------------------------------------------------------


class _Step(_Model):
    expect: Expectations = ()  # type: ignore[valid-type]  # see _many
    unless: Policies | None = None
    """Leave this step out where the harness declares one of these policies."""


class TurnStep(_Step):
    """A person says something and the model answers. With `until`, the step ends when that call's command has started."""

    turn: Name
    in_: Name = Field("main", alias="in")
    user: Annotated[str, StringConstraints(min_length=1)]
    model: Annotated[_many(ModelStep), Field(min_length=1)]  # type: ignore[valid-type]  # see _many
    until: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]*\.started$")] | None = None


class AwaitStep(_Step):
    """Wait for the end of a turn that `until` left running."""

    await_: Name = Field(alias="await")


class ForkStep(_Step):
    """A new session from a session's history up to a cut: `before` or `after` a turn, or the `head`."""

    fork: Name
    in_: Name | UnknownName = Field("main", alias="in")
    before: Name | UnknownName | None = None
    after: Name | UnknownName | None = None
    head: Literal[True] | None = None
    workspace: Literal["shared", "isolated"] = "shared"

    @model_validator(mode="after")
    def _one_cut(self) -> ForkStep:
        given = [k for k in ("before", "after", "head") if getattr(self, k) is not None]
        if len(given) != 1:
            msg = f"a fork names exactly one cut (before: TURN, after: TURN or head: true), this one names {', '.join(given) or 'none'}"
            raise ValueError(msg)
        return self


class CancelStep(_Step):
    """Interrupt the turn that runs in this session."""

    cancel: Name


class CompactStep(_Step):
    """Compact a session's history; the model answers with the summary."""

    compact: Name
    in_: Name = Field("main", alias="in")
    model: Annotated[_many(SayStep), Field(min_length=1, max_length=1)]  # type: ignore[valid-type]  # see _many


class ReleaseStep(_Step):
    """Let the waiting command of this call finish."""

    release: Name


class CheckStep(_Step):
    """Do nothing in this session, and look."""

    check: Name
    expect: Annotated[Expectations, Field(min_length=1)]  # type: ignore[valid-type]  # see _many


STEP_KEYS = ("turn", "await", "fork", "cancel", "compact", "release", "check")


def _step_kind(value: Any) -> str | None:
    return _first_key(value, STEP_KEYS)


Step = Annotated[
    Annotated[TurnStep, Tag("turn")]
    | Annotated[AwaitStep, Tag("await")]
    | Annotated[ForkStep, Tag("fork")]
    | Annotated[CancelStep, Tag("cancel")]
    | Annotated[CompactStep, Tag("compact")]
    | Annotated[ReleaseStep, Tag("release")]
    | Annotated[CheckStep, Tag("check")],
    Discriminator(
        _step_kind,
        custom_error_type="step",
        custom_error_message="a step is one of turn, await, fork, cancel, compact, release, check",
    ),
]


class ImportedTurn(_Model):
    """A finished turn with a chosen time, in whole seconds since the epoch."""

    turn: Name
    at: Annotated[int, Field(ge=0)]
    user: Annotated[str, StringConstraints(min_length=1)]
    say: str


class Trace(_Model):
    """One scenario.

    `needs` are the capabilities without which it does not apply; `from` names the reports that it comes from. `import` is
    a history that `main` starts with; a harness that can't import plays it live, as fast as it can.
    """

    trace: Literal[1]
    title: Annotated[str, StringConstraints(min_length=1, max_length=160)]
    from_: Annotated[_many(str), Field(alias="from")] = ()  # type: ignore[valid-type]  # see _many
    needs: _many(CapabilityName) = ()  # type: ignore[valid-type]  # see _many
    files: Mapping[RelativePath, str] = {}
    import_: Annotated[_many(ImportedTurn), Field(alias="import")] = ()  # type: ignore[valid-type]  # see _many
    steps: Annotated[_many(Step), Field(min_length=1)]  # type: ignore[valid-type]  # see _many
