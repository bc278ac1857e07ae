"""What must be seen at a step: expectations, each keyed by the clause that it proves. Source: design section 3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from forkproof.conformance.trace.base import ClauseId, ItemName, Many, Name, Policies, RelativePath, TraceModel
from forkproof.conformance.trace.items import Item, Status

__all__ = ["EXPECTATION_KINDS", "Covers", "Expectation", "Expectations", "Reason", "StopReason"]

StopReason: TypeAlias = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "failed"]
"""How a turn ended, in the Agent Client Protocol's words, or `failed`."""

Reason: TypeAlias = Literal["busy", "unknown-cut", "unknown-session", True]
"""Why an operation was refused; `true` stands for any reason."""

EXPECTATION_KINDS = (
    "prompt", "last_prompt", "prompt_has", "prompt_lacks", "files", "record", "record_has", "refused", "requests",
    "runs", "result", "paired", "stop", "editor", "marks_interruption", "pending",
    "same_next_prompt_without", "same_prefix_as", "no_interruption", "queued", "summary_covers",
)  # fmt: skip


class Covers(TraceModel):
    """What a summary stands for (clause CMP-8): the conversation, and its first and perhaps its last item."""

    conversation: Name
    first: ItemName
    last: ItemName | None = None


class Expectation(TraceModel):
    """What one clause demands at this step; every kind that is given must hold.

    prompt: the whole item sequence of the turn's first request; last_prompt: of its last. prompt_has / prompt_lacks:
    items that must / must not stand in the first request. files: the session's workspace, exactly. record: fields of
    the fork record, in the trace's names; record_has: fields that must be stated. refused: the operation was refused
    for this reason (`true`: any). requests: how many model requests the step caused. runs: how often counted side
    effects ran so far. result: the state of calls in the turn's first request. paired: in each of the turn's requests
    every call has one result and every result a call. stop: the turn's stop reason. editor:
    the text that a fork puts back for editing. marks_interruption: the model can tell that this turn was interrupted.
    pending: the operation did not answer yet. same_next_prompt_without: the session's next prompt equals the one in a
    control run without the named steps. same_prefix_as: the first request holds, before its own user message, just
    what the named session's next request holds. no_interruption: nothing tells the model that this turn was
    interrupted. queued: the message was taken. summary_covers: what the compaction states that its summary stands for.
    when: only where the harness declares one of these choices of a policy.
    """

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": [kind]} for kind in EXPECTATION_KINDS]})

    when: Policies | None = None
    prompt: Many[Item] | None = None
    last_prompt: Many[Item] | None = None
    prompt_has: Annotated[Many[Item], Field(min_length=1)] | None = None
    prompt_lacks: Annotated[Many[Item], Field(min_length=1)] | None = None
    files: dict[RelativePath, str] | None = None
    record: Annotated[dict[str, Any], Field(min_length=1)] | None = None
    record_has: Annotated[Many[str], Field(min_length=1)] | None = None
    refused: Reason | None = None
    requests: Annotated[int, Field(ge=0)] | None = None
    runs: Annotated[dict[Name, Annotated[int, Field(ge=0)]], Field(min_length=1)] | None = None
    result: Annotated[dict[Name, Status], Field(min_length=1)] | None = None
    paired: Literal[True] | None = None
    stop: StopReason | None = None
    editor: str | None = None
    marks_interruption: Name | None = None
    pending: Literal[True] | None = None
    same_next_prompt_without: Annotated[Many[Name], Field(min_length=1)] | None = None
    same_prefix_as: Name | None = None
    no_interruption: Name | None = None
    queued: Literal[True] | None = None
    summary_covers: Covers | None = None

    def kinds(self) -> tuple[str, ...]:
        """The kinds of expectation that are set, in the language's order."""
        return tuple(kind for kind in EXPECTATION_KINDS if getattr(self, kind) is not None)

    @model_validator(mode="after")
    def _checks_something(self) -> Expectation:
        if not self.kinds():
            msg = "an expectation must expect something (prompt, files, record, ...)"
            raise ValueError(msg)
        return self


def _one_clause(value: Any) -> Any:
    if isinstance(value, Mapping) and len(value) != 1:
        given = ", ".join(map(str, value)) or "none"
        msg = f"an expectation has one clause id as its key, e.g. `- CUT-1: {{prompt: [...]}}`; this one has {given}"
        raise ValueError(msg)
    return value


Expectations = Many[
    Annotated[
        dict[ClauseId, Expectation],
        Field(min_length=1, max_length=1, json_schema_extra={"additionalProperties": False}),
        BeforeValidator(_one_clause),
    ]
]
"""A list of one-key mappings, clause id -> what it demands: a clause may stand several times in one step."""
