"""Mutants of scopes, child agents and side state. Clauses FLD-1 to FLD-4, OPS-5, SUB-1 to SUB-4, STA-1 to STA-4."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from forkproof.reference.agents import Agent
from forkproof.reference.entries import Answered, Body, Entry, Folded, ToolEnded
from forkproof.reference.harness import Harness
from forkproof.reference.listing import Line
from forkproof.reference.mutants.mutant import Mutant
from forkproof.reference.notes import Note, notes_at
from forkproof.reference.project import full_path
from forkproof.reference.prompt import Blob, Message, Text, ToolCall, ToolResult
from forkproof.reference.refusal import Refusal
from forkproof.reference.repair import pair
from forkproof.reference.schedules import Schedule
from forkproof.reference.scopes import crosses
from forkproof.reference.session import Session
from forkproof.reference.turn import Ended
from forkproof.reference.wording import UNKNOWN_RESULT

__all__ = ["MUTANTS"]


# --- scopes ----------------------------------------------------------------------------------------------------------


def _begins_in_main(owner: Session) -> Entry | None:
    return owner.leaf


def _crosses_at_once(entries: Iterable[Entry], roles: Mapping[str, str], *, folded: bool) -> Sequence[Body]:
    del folded
    return crosses(entries, roles, folded=True)


def _with_tools(entries: Iterable[Entry], roles: Mapping[str, str], *, folded: bool) -> Sequence[Body]:
    del roles
    return [entry.body for entry in entries if folded and isinstance(entry.body, Answered | ToolEnded)]


def _as_user(entries: Iterable[Entry], roles: Mapping[str, str], *, folded: bool) -> Sequence[Body]:
    found = crosses(entries, roles, folded=folded)
    return [Folded(body.text, body.author or "agent") for body in found if isinstance(body, Folded)]


def _as_own(entries: Iterable[Entry], roles: Mapping[str, str], *, folded: bool) -> Sequence[Body]:
    del roles
    return crosses(entries, {}, folded=folded)


class _ListsScopes(Harness):
    """A scope is listed among the sessions of the person."""

    def lines(self) -> list[Line]:
        return [*super().lines(), *(Line(id_, "") for id_ in self.delegation.scopes)]


# --- child agents ----------------------------------------------------------------------------------------------------


class _ListsAgents(Harness):
    """A child agent is listed among the sessions of the person."""

    def lines(self) -> list[Line]:
        agents = (agent.session.header for agent in self.delegation.desk.agents)
        return [
            *super().lines(),
            *(Line(header.id, "", header.lineage.source, "fork") for header in agents if header.lineage),
        ]


class _DeliversTwice(Harness):
    """What a child agent found stands in its call's result, and once more as a message behind the turn."""

    async def prompt(self, id_: str, text: str, attachments: tuple[Blob, ...] = ()) -> Ended | Refusal:
        before = len(self.delegation.desk.agents)
        ended = await super().prompt(id_, text, attachments)
        session = self.session(id_)
        if session is not None:
            for agent in self.delegation.desk.agents[before:]:
                for said in _texts(full_path(agent.session.leaf)):
                    self._runtime.append(session, "", Folded(said, "agent"))
        return ended


def _texts(entries: Iterable[Entry]) -> list[str]:
    answers = (entry.body for entry in entries if isinstance(entry.body, Answered))
    return [part.content for answer in answers for part in answer.parts if isinstance(part, Text)]


async def _outlives(work: Awaitable[str]) -> str:
    return await asyncio.shield(asyncio.ensure_future(work))


def _with_siblings(leaf: Entry | None, handle: str, context: str) -> Entry | None:
    del handle
    return leaf if context == "inherit" else None


def _spawns_left_open(entries: Iterable[Entry]) -> list[Message]:
    """A call that started a child agent and has no result yet stands there without one."""
    messages = pair(entries)
    spawns = {p.id for m in messages for p in m.parts if isinstance(p, ToolCall) and p.name == "agent"}
    return [m for m in messages if not any(_unknown(part, spawns) for part in m.parts)]


def _unknown(part: object, calls: set[str]) -> bool:
    return isinstance(part, ToolResult) and part.id in calls and part.response == UNKNOWN_RESULT


def _everybody_owns(agent: Agent, session: str) -> bool:
    del agent, session
    return True


def _bare_task(task: str, leaf: Entry | None) -> str:
    del leaf
    return task


# --- side state ------------------------------------------------------------------------------------------------------


def _every_note(notes: Iterable[Note], leaf: Entry | None) -> tuple[Note, ...]:
    del leaf
    return tuple(notes)


def _every_memory(notes: Iterable[Note], leaf: Entry | None) -> tuple[Note, ...]:
    every = tuple(notes)
    counting = notes_at(every, leaf)
    return tuple(note for note in every if note.kind == "memory" or note in counting)


def _doubled(schedules: Sequence[Schedule], source: str, child: str) -> list[Schedule]:
    return [*schedules, *(replace(s, session=child) for s in schedules if s.session == source)]


def _moved(schedules: Sequence[Schedule], source: str, child: str) -> list[Schedule]:
    return [replace(s, session=child) if s.session == source else s for s in schedules]


def _whole_path(session: Session) -> int:
    return sum(isinstance(entry.body, Answered) for entry in full_path(session.leaf))


MUTANTS: Final = (
    Mutant(
        "scope-sees-the-main-thread",
        "FLD-1",
        None,
        "A scope begins with everything that its conversation said so far.",
        rules=lambda rules: replace(rules, scope_start=_begins_in_main),
    ),
    Mutant(
        "scope-reaches-main-unfolded",
        "FLD-1",
        None,
        "What is said in a scope stands in the main thread at once, folded or not.",
        rules=lambda rules: replace(rules, crosses=_crosses_at_once),
    ),
    Mutant(
        "fold-takes-tools-along",
        "FLD-3",
        None,
        "Folding a scope brings its tool calls and their results into the main thread.",
        rules=lambda rules: replace(rules, crosses=_with_tools),
    ),
    Mutant(
        "folded-draft-as-user",
        "FLD-2",
        None,
        "A folded draft stands there as if a person had said it.",
        rules=lambda rules: replace(rules, crosses=_as_user),
    ),
    Mutant(
        "folded-review-as-own-words",
        "FLD-2",
        None,
        "A folded review stands there as the agent's own words, without its author.",
        rules=lambda rules: replace(rules, crosses=_as_own),
    ),
    Mutant(
        "scope-listed-as-session",
        "FLD-4",
        None,
        "A scope inside a conversation is listed as a session of its own.",
        harness=_ListsScopes,
    ),
    Mutant(
        "agent-listed-as-session",
        "OPS-5",
        "subagent-leak",
        "A child agent is listed among the sessions of the person.",
        harness=_ListsAgents,
    ),
    Mutant(
        "agent-result-delivered-twice",
        "OPS-5",
        None,
        "What a child agent found stands in the call's result and in a message behind the turn.",
        harness=_DeliversTwice,
    ),
    Mutant(
        "agent-outlives-its-parent",
        "OPS-5",
        "runtime-ownership",
        "Cancelling a turn leaves the child agents running that work for it.",
        rules=lambda rules: replace(rules, attend=_outlives),
    ),
    Mutant(
        "agent-sees-its-siblings",
        "SUB-2",
        "mixed-snapshot",
        "A child agent's inherited context holds the answer that gave it and its siblings their tasks.",
        rules=lambda rules: replace(rules, agent_start=_with_siblings),
    ),
    Mutant(
        "spawn-call-left-open",
        "SUB-1",
        "orphan-call",
        "A call that started a child agent which still works is copied without a result.",
        rules=lambda rules: replace(rules, pair=_spawns_left_open),
    ),
    Mutant(
        "agent-handle-live-in-fork",
        "SUB-3",
        "runtime-ownership",
        "A fork can speak to the child agents of its source.",
        rules=lambda rules: replace(rules, owns=_everybody_owns),
    ),
    Mutant(
        "agent-without-boundary-note",
        "SUB-4",
        "subagent-leak",
        "Nothing between copied history and task tells a child agent what it is.",
        rules=lambda rules: replace(rules, assignment=_bare_task),
    ),
    Mutant(
        "todo-kept-in-a-column",
        "STA-1",
        "todo-state",
        "The todo list is the newest one of the harness, whatever the cut.",
        rules=lambda rules: replace(rules, notes_at=_every_note),
    ),
    Mutant(
        "memory-feeds-every-session",
        "STA-4",
        "abandoned-branch-leak",
        "What one session was told to remember is put into the prompts of all, and no record says so.",
        rules=lambda rules: replace(rules, notes_at=_every_memory),
    ),
    Mutant(
        "wake-up-doubled",
        "STA-2",
        "runtime-ownership",
        "A fork gets a copy of each wake-up of its source.",
        rules=lambda rules: replace(rules, after_fork=_doubled),
    ),
    Mutant(
        "wake-up-moved",
        "STA-2",
        "runtime-ownership",
        "The wake-ups of a source are its fork's from then on.",
        rules=lambda rules: replace(rules, after_fork=_moved),
    ),
    Mutant(
        "prefix-charged-again",
        "STA-3",
        "accounting",
        "A fork is charged for the answers that it copied.",
        rules=lambda rules: replace(rules, usage=_whole_path),
    ),
)
