"""Lint rules on names: clauses, sources, and references to sessions, turns, calls, compactions and items.

Rules FPL020 to FPL025; `codes` says what each means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from forkproof.conformance.trace.base import UnknownName
from forkproof.conformance.trace.expect import Covers
from forkproof.conformance.trace.fault import Fault, StepCheck, Story
from forkproof.conformance.trace.model import (
    AwaitStep,
    CancelStep,
    CheckStep,
    CompactStep,
    ForkStep,
    QueueStep,
    ReleaseStep,
    SteerStep,
    TurnStep,
)
from forkproof.conformance.trace.names import Kind, calls_of
from forkproof.conformance.trace.place import Path
from forkproof.conformance.trace.steps_authority import ApproveStep, DenyStep, SetStep
from forkproof.conformance.trace.steps_durable import DeleteStep, ResumeStep, RetryStep
from forkproof.conformance.trace.steps_side import DelegateStep, DueStep, FoldStep, RestoreStep, UserEditsStep
from forkproof.conformance.trace.suggestion import did_you_mean
from forkproof.conformance.trace.walk import walk

__all__ = ["clauses", "duplicates", "expected_names", "shared_ids", "sources", "step_names"]

_SOURCE = re.compile(r"seed [0-9]{3}|design [0-9]+|[a-z][a-z0-9]*-[0-9]+[a-z]?")
_CUTS = ("before", "after", "interrupted")


def clauses(story: Story) -> Iterator[Fault]:
    """Every clause that is cited stands in the contract."""
    for check in story.checks:
        if check.clause not in story.contract.clauses:
            area = check.clause.partition("-")[0]
            known = [c for c in story.contract.clauses if c.startswith(f"{area}-")] or list(story.contract.clauses)
            hint = did_you_mean(check.clause, known)
            yield Fault(check.path, "FPL020", f"no clause {check.clause} in the contract{hint}", key=True)


def sources(story: Story) -> Iterator[Fault]:
    """`from` holds sources in one of the known forms."""
    for number, source in enumerate(story.trace.from_):
        if not _SOURCE.fullmatch(source):
            yield Fault(("from", number), "FPL025", f"{source!r} is no source: `seed 000`, `codex-9042` or `design 9`")


def duplicates(story: Story) -> Iterator[Fault]:
    """A name stands for one thing."""
    for path, message in story.names.twice:
        yield Fault(path, "FPL023", message)


_Spoken: TypeAlias = tuple[tuple[Kind, str, str], ...]
_IN_SESSION: _Spoken = (("session", "in_", "in"),)
_SPEAKS_OF: Mapping[type, _Spoken] = {
    TurnStep: _IN_SESSION,
    CompactStep: _IN_SESSION,
    QueueStep: _IN_SESSION,
    SteerStep: _IN_SESSION,
    SetStep: (("session", "set_", "set"),),
    ApproveStep: (("call", "approve", "approve"),),
    DenyStep: (("call", "deny", "deny"),),
    CancelStep: (("session", "cancel", "cancel"),),
    RestoreStep: (*_IN_SESSION, ("turn", "before", "before")),
    FoldStep: (("session", "fold", "fold"),),
    DueStep: (("wake-up", "due", "due"),),
}
"""Kind of step -> the names that it speaks of: their kind, the field, and the key in the file."""


def step_names(story: Story) -> Iterator[Fault]:
    """The names that steps go by: sessions they act in, turns they cut at or wait for, calls they release."""
    for number, path, step in walk(story.trace):
        # Steps that run at the same time can't speak of each other.
        index = number - 1 if "together" in path else number
        for kind, field, key in _SPEAKS_OF.get(type(step), ()):
            yield from _refer(story, kind, getattr(step, field), index, (*path, key))
        match step:
            case ResumeStep() | DeleteStep() | RetryStep():
                yield from _stored(story, step, index, path)
            case CheckStep():
                looked_at: Kind = "agent" if step.check in story.names.known["agent"] else "session"
                yield from _refer(story, looked_at, step.check, index, (*path, "check"))
            case DelegateStep() | UserEditsStep():
                yield from _refer(story, "session", step.in_, index - 1, (*path, "in"))
            case AwaitStep():
                awaited = _compaction_or(story, "turn", step.await_)
                yield from _refer(story, awaited, step.await_, index, (*path, "await"))
            case ReleaseStep():
                held = _compaction_or(story, "call", step.release)
                yield from _refer(story, held, step.release, index, (*path, "release"))
            case ForkStep():
                yield from _fork(story, step, index, path)
            case _:
                pass


def shared_ids(story: Story) -> Iterator[Fault]:
    """A call that bears another one's wire id names one that came before it."""
    before: set[str] = set()
    for _, path, step in walk(story.trace):
        for below, call in calls_of(step) if isinstance(step, TurnStep | QueueStep) else ():
            name = call.same_id_as
            if name is not None and name not in before:
                place = (*path, *below, "same_id_as")
                known = name in story.names.known["call"]
                message = f"the call `{name}` comes only later" if known else f"no call `{name}`"
                yield Fault(place, "FPL022" if known else "FPL021", message)
            before.add(call.call)


def _compaction_or(story: Story, kind: Kind, name: str) -> Kind:
    """A compaction in flight is waited for and let go as turns and calls are."""
    return "compaction" if name in story.names.known["compaction"] else kind


def _stored(story: Story, step: ResumeStep | DeleteStep | RetryStep, index: int, path: Path) -> Iterator[Fault]:
    key, name = next((k, n) for k in ("resume", "delete", "retry") if (n := getattr(step, k, None)))
    yield from _refer(story, "session", name, index, (*path, key))
    if key == "retry" and name == "main":
        yield Fault((*path, key), "FPL021", "`main` is no fork, so there is no request to repeat")
    for number, turn in enumerate(getattr(step, "turns", None) or ()):
        yield from _refer(story, "turn", turn, index, (*path, "turns", number))


def _fork(story: Story, step: ForkStep, index: int, path: Path) -> Iterator[Fault]:
    if isinstance(step.at, str):
        yield from _place(story, step.at, index - 1, (*path, "at"))
    # The fork's own session begins with this step: it can't be its source.
    for kind, name, key in (
        ("session", step.in_, "in"),
        ("turn", step.before, "before"),
        ("turn", step.after, "after"),
        ("item", step.at if isinstance(step.at, UnknownName) else None, "at"),
    ):
        if isinstance(name, UnknownName):
            taken = story.names.kinds(name.unknown)
            if taken:
                yield Fault((*path, key), "FPL021", f"`{name.unknown}` is meant to be unknown, but is a {taken[0]}")
        elif name is not None:
            yield from _refer(story, "session" if kind == "session" else "turn", name, index - 1, (*path, key))


def _place(story: Story, item: str, index: int, path: Path) -> Iterator[Fault]:
    """An item as a place in a history: it was brought by an earlier step."""
    since = story.names.items.get(item)
    if since is None:
        yield Fault(path, "FPL021", _no_item(story, item))
    elif since > index:
        yield Fault(path, "FPL022", f"`{item}` comes to be only in a later step")


def expected_names(story: Story) -> Iterator[Fault]:
    """The names in expectations: each was brought by this step or an earlier one."""
    for check in story.checks:
        yield from _items(story, check)
        yield from _others(story, check)


def _items(story: Story, check: StepCheck) -> Iterator[Fault]:
    for kind in ("prompt", "last_prompt", "prompt_has", "prompt_lacks", "prompt_once", "effective_prompt"):
        for number, pattern in enumerate(getattr(check.expectation, kind) or ()):
            since = story.names.items.get(pattern.item)
            path = (*check.path, kind, number)
            if since is None:
                yield Fault(path, "FPL021", _no_item(story, pattern.item))
            elif since > check.index:
                yield Fault(path, "FPL022", f"`{pattern.item}` comes to be only in a later step")


def _no_item(story: Story, item: str) -> str:
    owner = item.partition(".")[0]
    has = story.names.by_owner.get(owner)
    if has:
        return f"no item `{item}`: `{owner}` brings {', '.join(has)}"
    return f"no item `{item}`{did_you_mean(item, story.names.items)}"


_NAMED: Mapping[str, Kind] = {
    "marks_interruption": "turn",
    "no_interruption": "turn",
    "withdrawn": "call",
    "works_in": "session",
    "revision_differs_from": "session",
    "prefix_of": "session",
    "opens": "session",
    "same_prefix_as": "session",
}
_LISTED: Mapping[str, Kind] = {"schedules": "wake-up", "titles_differ": "session"}
_KEYED: Mapping[str, Kind] = {"result": "call", "runs": "counter", "processes": "process", "lineage": "session"}
"""Kind of expectation -> the kind of the name, the names in the list, or the keys that it holds."""


def _others(story: Story, check: StepCheck) -> Iterator[Fault]:
    wanted, index = check.expectation, check.index
    for field, kind in _NAMED.items():
        if getattr(wanted, field) is not None:
            yield from _refer(story, kind, getattr(wanted, field), index, (*check.path, field))
    for field, kind in _LISTED.items():
        for number, name in enumerate(getattr(wanted, field) or ()):
            yield from _refer(story, kind, name, index, (*check.path, field, number))
    for field, kind in _KEYED.items():
        for name in getattr(wanted, field) or {}:
            yield from _refer(story, kind, name, index, (*check.path, field, name), key=True)
    yield from _sessions(story, check)
    yield from _left_out(story, check)
    if wanted.summary_covers is not None:
        yield from _covers(story, wanted.summary_covers, index, (*check.path, "summary_covers"))
    yield from _record(story, check)


def _sessions(story: Story, check: StepCheck) -> Iterator[Fault]:
    """The sessions that stand behind another name: its sources, and for whom a process runs."""
    for label, source in (check.expectation.lineage or {}).items():
        if source != "none":
            yield from _refer(story, "session", source, check.index, (*check.path, "lineage", label))
    for process, sessions in (check.expectation.processes or {}).items():
        for number, session in enumerate(sessions):
            yield from _refer(story, "session", session, check.index, (*check.path, "processes", process, number))


def _left_out(story: Story, check: StepCheck) -> Iterator[Fault]:
    """The steps that a control run leaves out."""
    for number, name in enumerate(check.expectation.same_next_prompt_without or ()):
        path = (*check.path, "same_next_prompt_without", number)
        since = story.names.parts.get(name)
        if since is None:
            hint = did_you_mean(name, story.names.parts)
            yield Fault(path, "FPL021", f"no turn, fork or compaction `{name}` that could be left out{hint}")
        elif since > check.index:
            yield Fault(path, "FPL022", f"`{name}` comes only in a later step")


def _covers(story: Story, covers: Covers, index: int, path: Path) -> Iterator[Fault]:
    yield from _refer(story, "session", covers.conversation, index, (*path, "conversation"))
    for key, item in (("first", covers.first), ("last", covers.last)):
        if item is not None:
            yield from _place(story, item, index, (*path, key))


def _record(story: Story, check: StepCheck) -> Iterator[Fault]:
    record, path = check.expectation.record or {}, (*check.path, "record")
    for name in ("session", "source"):
        if isinstance(record.get(name), str):
            yield from _refer(story, "session", record[name], check.index, (*path, name))
    checkpoint = record.get("checkpoint")
    if isinstance(checkpoint, str) and checkpoint != "none":
        yield from _refer(story, "compaction", checkpoint, check.index, (*path, "checkpoint"))
    cut = record.get("cut")
    if isinstance(cut, dict) and isinstance(cut.get("at"), str):
        yield from _place(story, cut["at"], check.index, (*path, "cut", "at"))
    for name in _CUTS:
        if isinstance(cut, dict) and isinstance(cut.get(name), str):
            yield from _refer(story, "turn", cut[name], check.index, (*path, "cut", name))


def _refer(story: Story, kind: Kind, name: str, index: int, path: Path, *, key: bool = False) -> Iterator[Fault]:
    """A reference from a step to a name of one kind: it must be there, and not only later."""
    since = story.names.known[kind].get(name)
    if since is not None:
        if since > index:
            yield Fault(path, "FPL022", f"the {kind} `{name}` begins only in a later step", key=key)
        return
    others = story.names.kinds(name)
    hint = f"; `{name}` is a {others[0]}" if others else did_you_mean(name, story.names.known[kind])
    yield Fault(path, "FPL021", f"no {kind} `{name}`{hint}", key=key)
