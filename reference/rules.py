"""Rules: the pure functions that decide, as one value, so that a harness with one of them changed can be made."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from forkproof.reference import (
    agents,
    approvals,
    edits,
    entrycut,
    links,
    navigate,
    notes,
    permissions,
    project,
    provider,
    reading,
    repair,
    schedules,
    scopes,
    starts,
    store,
    tools,
    undo,
)
from forkproof.reference import compact as compacting
from forkproof.reference import cut as cutting
from forkproof.reference import fork as forking
from forkproof.reference import inherit as inheriting
from forkproof.reference import labels as labelling
from forkproof.reference import listing as listings
from forkproof.reference import restore as restoring
from forkproof.reference import settings as choosing
from forkproof.reference import usage as using
from forkproof.reference.cut import BusySource, Place, Point
from forkproof.reference.entries import Body, BranchLeft, Checkpoint, Entry, TurnEnded
from forkproof.reference.fork import Child
from forkproof.reference.hooks import Started
from forkproof.reference.inherit import Setting, Value
from forkproof.reference.labels import Label
from forkproof.reference.links import Row
from forkproof.reference.listing import Line
from forkproof.reference.model import Call
from forkproof.reference.navigate import Selected
from forkproof.reference.prompt import Message, Text
from forkproof.reference.reading import Node
from forkproof.reference.refusal import Refusal
from forkproof.reference.restore import Stored
from forkproof.reference.schedules import Schedule
from forkproof.reference.session import Header, Session
from forkproof.reference.store import Row as Kept

__all__ = ["RULES", "Rules"]


@dataclass(frozen=True, slots=True)
class Rules:
    """Each field is the function of that name; see there. The harness decides nothing by itself."""

    cut: Callable[[Entry | None, Point, Mapping[str, Entry]], Place | Refusal] = cutting.cut
    cut_at: Callable[[Entry | None, str], Place | Refusal] = entrycut.cut_at
    pair_safe: Callable[[Place, Entry | None, entrycut.CallGroup], Place | Refusal] = entrycut.pair_safe
    boundary: Callable[[Entry, Entry, BusySource], Place | Refusal] = cutting.boundary
    active: Callable[[Entry | None], list[Entry]] = project.active
    pair: Callable[[Iterable[Entry]], list[Message]] = repair.pair
    interrupted: Callable[[Call], str | None] = tools.interrupted
    hear: Callable[[Awaitable[approvals.Decision]], Awaitable[approvals.Decision]] = approvals.hear
    plan: Callable[[Sequence[Entry], int], compacting.Plan | None] = compacting.plan
    checkpoint_of: Callable[[compacting.Plan, str, str], Checkpoint] = compacting.checkpoint_of
    thinking: Callable[[Sequence[Entry], str], Sequence[Entry]] = provider.thinking
    continuation: Callable[..., provider.Continuation] = provider.continuation
    cache_key: Callable[[Header, provider.CacheKey], str | None] = provider.cache_key
    inherit: Callable[..., dict[str, Setting]] = inheriting.inherit
    in_force: Callable[[Header, Entry | None], Mapping[str, Value]] = choosing.in_force
    unsettable: Callable[[Mapping[str, Value]], str] = choosing.problem
    offered: Callable[[Mapping[str, Value]], tuple[str, ...]] = choosing.offered
    runnable: Callable[[Mapping[str, Value]], tuple[str, ...]] = choosing.offered
    need: Callable[[str, str], permissions.Need] = permissions.need
    answered: Callable[[Sequence[approvals.Given], str, str], approvals.Decision | None] = approvals.answered
    grants_carried: Callable[[tuple[str, ...]], tuple[str, ...]] = starts.grants_carried
    start_told: Callable[[Header], Started] = starts.told
    start_context: Callable[[tuple[str, ...], tuple[str, ...]], tuple[str, ...]] = starts.context
    bound_to: Callable[[Header], str] = starts.bound_to
    cancelled: Callable[[str], Refusal | None] = starts.cancelled
    fork: Callable[..., Child] = forking.fork
    select: Callable[[Entry], Selected] = navigate.select
    rewound: Callable[[Entry], Selected] = navigate.select
    movable: Callable[..., Refusal | None] = navigate.movable
    left_behind: Callable[[Entry | None, Entry | None], list[Entry]] = navigate.left_behind
    summarizes: Callable[..., bool] = navigate.summarizes
    farewell: Callable[[str, Entry, str], BranchLeft] = navigate.farewell
    shown: Callable[[Sequence[Entry], Entry | None], Sequence[Entry]] = edits.shown
    carried: Callable[[Mapping[str, Label], Entry | None], list[Label]] = labelling.carried
    linked: Callable[[Sequence[Row]], list[tuple[int, int | None]]] = links.linked
    listing: Callable[[Session], list[Entry]] = reading.listing
    behind: Callable[[Sequence[Entry], str], list[Entry] | Refusal] = reading.behind
    standing: Callable[[Session], str | None] = reading.standing
    forest: Callable[[Sequence[Entry], Mapping[str, Label]], list[Node]] = reading.forest
    history: Callable[[Session, Sequence[Entry]], list[Entry]] = reading.history
    points: Callable[[Session], list[Entry]] = reading.points
    flushed: Callable[[Body], bool] = store.flushed_at_once
    restore: Callable[[Sequence[Kept]], Stored] = restoring.restore
    unended: Callable[[Entry | None], TurnEnded | None] = restoring.unended
    lines: Callable[[Mapping[str, Session]], list[Line]] = listings.lines
    place: Callable[[Header], Message] = project.place_of
    agent_start: Callable[[Entry | None, str, agents.Context], Entry | None] = agents.start
    agent_of: Callable[[str, str, Session, Entry | None], agents.Agent] = agents.agent_of
    assignment: Callable[[str, Entry | None], str] = agents.assignment
    attend: Callable[[Awaitable[str]], Awaitable[str]] = agents.attend
    owns: Callable[[agents.Agent, str], bool] = agents.owns
    scope_start: Callable[[Session], Entry | None] = scopes.scope_start
    crosses: Callable[..., Sequence[Body]] = scopes.crosses
    notes_at: Callable[[Sequence[notes.Note], Entry | None], tuple[notes.Note, ...]] = notes.notes_at
    statement: Callable[[Sequence[notes.Note]], tuple[Text, ...]] = notes.statement
    after_fork: Callable[[Sequence[Schedule], str, str], list[Schedule]] = schedules.after_fork
    usage: Callable[[Session], int] = using.usage
    said_of_restore: Callable[[undo.Restore], undo.Restore] = undo.told
    undo: Callable[[Sequence[undo.Change], Collection[str], Mapping[str, str]], undo.Restore] = undo.undo


RULES: Final = Rules()
"""The contract's own."""
