"""What must be seen at a step: expectations, each keyed by the clause that it proves. Source: design section 3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from forkproof.conformance.trace.base import ClauseId, ItemName, Many, Name, Policies, RelativePath, TraceModel
from forkproof.conformance.trace.expect_durable import DURABLE_KINDS, DurableExpectations
from forkproof.conformance.trace.expect_tree import TREE_KINDS, TreeExpectations
from forkproof.conformance.trace.items import Item, Status
from forkproof.conformance.trace.provider import ProviderFields, Thinking
from forkproof.conformance.trace.settings import HookInput, UsedSettings

__all__ = ["EXPECTATION_KINDS", "Covers", "Expectation", "Expectations", "Reason", "StopReason"]

StopReason: TypeAlias = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "failed"]
"""How a turn ended, in the Agent Client Protocol's words, or `failed`."""

Reason: TypeAlias = Literal["busy", "unknown-cut", "unknown-session", "cancelled", True]
"""Why an operation was refused; `true` stands for any reason."""

EXPECTATION_KINDS = (
    "prompt", "last_prompt", "prompt_has", "prompt_lacks", "files", "record", "record_has", "refused", "requests",
    "runs", "result", "paired", "stop", "editor", "marks_interruption", "pending",
    "same_next_prompt_without", "same_prefix_as", "no_interruption", "done", "summary_covers",
    "withdrawn", "processes",
    "effective_prompt", "continues", "remote_writers", "provider", "thinking",
    "prompt_once", "asked", "settings", "offered", "hook_runs", "hook_input",
    "todo", "schedules", "usage", "works_in", "accounts_for", "boundary_note", "revision_differs_from",
    *TREE_KINDS,
    *DURABLE_KINDS,
)  # fmt: skip


class Covers(TraceModel):
    """What a summary stands for (clause CMP-8): the conversation, and its first and perhaps its last item."""

    conversation: Name
    first: ItemName
    last: ItemName | None = None


class Expectation(TreeExpectations, DurableExpectations):
    """What one clause demands at this step; every kind that is given must hold.

    prompt: the whole item sequence of the turn's first request; last_prompt: of its last. prompt_has / prompt_lacks:
    items that must / must not stand in the first request. files: the session's workspace, exactly. record: fields of
    the fork record, in the trace's names; record_has: fields that must be stated. refused: the operation was refused
    for this reason (`true`: any). requests: how many model requests the step caused. runs: how often counted side
    effects ran so far. result: the state of calls in the turn's first request. paired: in each of the turn's requests
    every call has one result and every result a call. stop: the turn's stop reason. editor:
    the text that a fork or a move puts back for editing. marks_interruption: the model can tell that this turn was
    interrupted. pending: the operation did not answer yet. same_next_prompt_without: the session's next prompt equals
    the one in a control run without the named steps. same_prefix_as: the first request holds, before its own user
    message, just what the named session's next request holds. no_interruption: nothing tells the model that this turn
    was interrupted. done: what was asked for was carried out. summary_covers: what the compaction states that its
    summary stands for. withdrawn: no question about this call is open any more. processes: the sessions that
    background processes run for. todo: the session's todo list. schedules: the wake-ups that it has, by the calls
    that set them. usage: how many answers of the model all sessions together are charged for. works_in: record,
    statement to the model and tools agree on the directory of this session. accounts_for: each path is as it was
    before the restore's turn, or named as left. boundary_note: something stands between a child agent's copied
    history and its task. revision_differs_from: the record states another revision than that of this earlier fork.
    The kinds that read a session from outside stand in `TreeExpectations`. prompt_once: items that stand exactly once
    in each of the turn's requests. asked: whether the person was asked so far whether a call may run, or the session
    that the question named. settings: what the turn's requests show of them. offered: whether the request that a call
    answers offered its tool. hook_runs: how often hooks ran so far, in all sessions. hook_input: what a hook was told
    when it ran last for this session. effective_prompt: the whole sequence that the model reads at the turn's first
    request, with what the provider kept before; the request was not refused. continues: what the provider kept, and
    this request continues, ends with one of these turns, or is `none`. remote_writers: the sessions that ever wrote
    to the remote conversations of each of these. provider: how the fields that a provider knows a session by stand to
    the source's. thinking: what became of opaque thinking in each of the turn's requests. when: only where the
    harness declares one of these choices of a policy.
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
    done: Literal[True] | None = None
    summary_covers: Covers | None = None
    withdrawn: Name | None = None
    processes: Annotated[dict[Name, Many[Name]], Field(min_length=1)] | None = None
    effective_prompt: Many[Item] | None = None
    continues: Annotated[Many[Name], Field(min_length=1)] | None = None
    remote_writers: Annotated[dict[Name, Annotated[Many[Name], Field(min_length=1)]], Field(min_length=1)] | None = None
    provider: ProviderFields | None = None
    thinking: Annotated[dict[ItemName, Thinking], Field(min_length=1)] | None = None
    prompt_once: Annotated[Many[Item], Field(min_length=1)] | None = None
    asked: Annotated[dict[Name, bool | Name], Field(min_length=1)] | None = None
    settings: UsedSettings | None = None
    offered: Annotated[dict[Name, bool], Field(min_length=1)] | None = None
    hook_runs: Annotated[dict[Name, Annotated[int, Field(ge=0)]], Field(min_length=1)] | None = None
    hook_input: Annotated[dict[Name, HookInput], Field(min_length=1)] | None = None
    todo: Many[str] | None = None
    schedules: Many[Name] | None = None
    usage: Annotated[int, Field(ge=0)] | None = None
    works_in: Name | None = None
    accounts_for: Annotated[Many[RelativePath], Field(min_length=1)] | None = None
    boundary_note: Literal[True] | None = None
    revision_differs_from: Name | None = None

    def kinds(self) -> tuple[str, ...]:
        """The kinds of expectation that are set, in the language's order."""
        given = self.model_fields_set  # one or two of some sixty: to ask the model for each of the others is slow
        return tuple(kind for kind in EXPECTATION_KINDS if kind in given and getattr(self, kind) is not None)

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
