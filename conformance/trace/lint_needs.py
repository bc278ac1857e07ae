"""Lint rules on what a trace asks of a harness: capabilities declared and used, policies spelled out.

Rules FPL030 to FPL034; `codes` says what each means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from forkproof.conformance.trace.fault import Fault, Story
from forkproof.conformance.trace.lint_authority import needs_of_authority, needs_of_trace
from forkproof.conformance.trace.lint_durable import needs_of_durable
from forkproof.conformance.trace.lint_provider import needs_of_check, needs_of_turn
from forkproof.conformance.trace.lint_tree import needs_of_reading, needs_of_step
from forkproof.conformance.trace.model import (
    CancelStep,
    CompactStep,
    ForkStep,
    QueueStep,
    SteerStep,
    Step,
    TogetherStep,
    TurnStep,
)
from forkproof.conformance.trace.names import calls_of
from forkproof.conformance.trace.place import Path
from forkproof.conformance.trace.steps_side import DelegateStep, FoldStep, RestoreStep
from forkproof.conformance.trace.steps_tree import BranchStep, RewindStep
from forkproof.conformance.trace.suggestion import did_you_mean
from forkproof.conformance.trace.walk import walk
from forkproof.conformance.vocabulary import CAPABILITIES, POLICIES

__all__ = ["capabilities", "choices", "policies"]


def capabilities(story: Story) -> Iterator[Fault]:
    """`needs` is exactly what the steps use. `import` may be left out: a history can be played live."""
    declared = story.trace.needs
    used = _used(story)
    for number, name in enumerate(declared):
        path: Path = ("needs", number)
        if name not in CAPABILITIES:
            yield Fault(path, "FPL030", f"no capability `{name}`{did_you_mean(name, CAPABILITIES)}")
        elif name in declared[:number]:
            yield Fault(path, "FPL032", f"`{name}` is declared twice")
        elif name not in used:
            yield Fault(path, "FPL032", f"nothing in the trace uses `{name}`")
    for name, path in used.items():
        if name not in declared and name != "import":
            yield Fault(path, "FPL031", f"this uses `{name}`, which `needs` does not declare")


def _used(story: Story) -> Mapping[str, Path]:
    """Capability -> the first place that uses it."""
    used: dict[str, Path] = {}
    if story.trace.import_:
        used["import"] = ("import",)
    if any(turn.behind is not None for turn in story.trace.import_):
        used["import.tree"] = ("import",)
    for name, path in needs_of_trace(story.trace):
        used.setdefault(name, path)
    for _, place, step in walk(story.trace):
        for name, path in (*_of_step(step), *needs_of_step(step), *needs_of_durable(step), *needs_of_authority(step)):
            used.setdefault(name, (*place, *path))
    for check in story.checks:
        moved = isinstance(check.step, BranchStep | RewindStep)
        if (check.expectation.editor is not None and not moved) or "editor" in (check.expectation.record or {}):
            used.setdefault("fork.editor", (*check.path, "editor"))
        for name, path in needs_of_reading(check.expectation):
            used.setdefault(name, (*check.path, *path))
        for name, path in needs_of_check(check.expectation, story.trace.needs):
            used.setdefault(name, (*check.path, *path))
        fields = {*(check.expectation.record or {}), *(check.expectation.record_has or ())}
        if "snapshot" in fields:
            # Where the suite makes the copy, it is not the harness that could state what it holds.
            used.setdefault("workspace.copy", (*check.path, "record" if check.expectation.record else "record_has"))
        for kind in ("todo", "schedules", "usage", "processes"):
            if getattr(check.expectation, kind) is not None:
                used.setdefault("state", (*check.path, kind))
    return used


def _of_step(step: Step) -> Iterator[tuple[str, Path]]:
    match step:
        case ForkStep():
            cut = next(k for k in ("before", "after", "at", "head") if getattr(step, k) is not None)
            yield f"fork.{cut}", (cut,)
            if step.workspace == "isolated":
                yield "workspace.isolated", ("workspace",)
            if step.copying is not None:
                yield "workspace.copy", ("copying",)
        case CancelStep():
            yield "cancel", ("cancel",)
        case CompactStep():
            yield "compact", ("compact",)
        case SteerStep():
            yield "steer", ("steer",)
        case TurnStep() | QueueStep():
            yield from _of_turn(step)
        case DelegateStep():
            yield "delegate", ("delegate",)
        case FoldStep():
            yield "fold", ("fold",)
        case RestoreStep():
            yield "restore", ("restore",)
        case _:
            pass


def _of_turn(step: TurnStep | QueueStep) -> Iterator[tuple[str, Path]]:
    if isinstance(step, QueueStep):
        yield "queue", ("queue",)
    for path, call in calls_of(step):
        yield f"tool.{call.tool}", (*path, call.tool)
    for number, answer in enumerate(step.model):
        if isinstance(answer, TogetherStep):
            yield "tool.together", ("model", number)
    if isinstance(step, TurnStep):
        yield from needs_of_turn(step)


def policies(story: Story) -> Iterator[Fault]:
    """`when` and `unless` name known policies and known choices."""
    conditions = chain(
        ((("steps", i, "unless"), s.unless) for i, s in enumerate(story.trace.steps)),
        (((*c.path, "when"), c.expectation.when) for c in story.checks),
    )
    for path, condition in conditions:
        for policy, meant in (condition or {}).items():
            known = POLICIES.get(policy)
            if known is None:
                hint = did_you_mean(policy, POLICIES) or f"; known are {', '.join(POLICIES)}"
                yield Fault((*path, policy), "FPL033", f"no policy `{policy}`{hint}", key=True)
                continue
            for choice in meant:
                if choice not in known:
                    message = f"`{policy}` has no choice `{choice}`; it has {', '.join(known)}"
                    yield Fault((*path, policy), "FPL033", message)


def choices(story: Story) -> Iterator[Fault]:
    """Where a step selects expectations by a policy, it says something of every choice, or leaves itself out for it."""
    for index, step in enumerate(story.trace.steps):
        said: dict[str, set[str]] = {}
        for check in (c for entry in step.expect for c in entry.values()):
            for policy, meant in (check.when or {}).items():
                said.setdefault(policy, set()).update(meant)
        for policy, covered in said.items():
            missing = [
                c for c in POLICIES.get(policy, {}) if c not in covered | set((step.unless or {}).get(policy, ()))
            ]
            if missing:
                message = f"nothing is said of {policy}: {', '.join(missing)}"
                yield Fault(("steps", index, "expect"), "FPL034", message, key=True)
