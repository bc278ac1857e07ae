"""Lint rules on storage and identity: a session acts only while it is open, a process that died is restarted.

Rules FPL064 and FPL065; `codes` says what each means.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from forkproof.conformance.trace.fault import Fault, Story
from forkproof.conformance.trace.model import CompactStep, ForkStep, TurnStep
from forkproof.conformance.trace.place import Path
from forkproof.conformance.trace.steps import AtOnceStep
from forkproof.conformance.trace.steps_durable import DeleteStep, RestartStep, ResumeStep, RetryStep
from forkproof.conformance.trace.steps_tree import BranchStep, CloneStep, EditContextStep, LabelStep, RewindStep
from forkproof.conformance.trace.walk import walk

__all__ = ["needs_of_durable", "restarted", "stored"]


def needs_of_durable(step: Any) -> Iterator[tuple[str, Path]]:
    """The capabilities that a step of storage and identity uses, each with its place below the step."""
    match step:
        case RestartStep():
            yield "restart", ("restart",)
        case ResumeStep():
            yield "resume", ("resume",)
        case DeleteStep(turns=None):
            yield "delete", ("delete",)
        case DeleteStep():
            yield "delete.turns", ("turns",)
        case RetryStep():
            yield "fork.retry", ("retry",)
        case ForkStep(dies=str()):
            yield "crash", ("dies",)
        case _:
            pass


def stored(story: Story) -> Iterator[Fault]:
    """After a restart a session is stored: it acts again only after a `resume`. A deleted one never does."""
    asleep: set[str] = set()
    deleted: set[str] = set()
    known = {"main"}
    for _, path, step in walk(story.trace):
        match step:
            case RestartStep():
                asleep = known - deleted
            case ResumeStep():
                asleep.discard(step.resume)
            case DeleteStep(turns=None):
                deleted.add(step.delete)
                asleep.discard(step.delete)
            case ForkStep(dies=None | "after-commit"):
                known.add(step.fork)
            case CloneStep():
                known.add(step.clone)
        for key, session in _acts_in(step):
            if session in asleep:
                message = f"`{session}` is only stored since the restart; `resume: {session}` first"
                yield Fault((*path, key), "FPL064", message, key=True)
            elif session in deleted and not _refused(step):
                yield Fault((*path, key), "FPL024", f"`{session}` was deleted", key=True)


def _acts_in(step: Any) -> Iterator[tuple[str, str]]:
    match step:
        case TurnStep():
            yield "turn", step.in_
        case CompactStep():
            yield "compact", step.in_
        case ForkStep() if isinstance(step.in_, str):
            yield "fork", step.in_
        case BranchStep() | RewindStep() | CloneStep() | LabelStep() | EditContextStep():
            keys = ("branch", "rewind", "clone", "label", "edit_context")
            yield next(key for key in keys if hasattr(step, key)), step.in_
        case ResumeStep():
            yield "resume", step.resume
        case _:
            pass


def _refused(step: Any) -> bool:
    return any(e.refused is not None for entry in step.expect for e in entry.values())


def restarted(story: Story) -> Iterator[Fault]:
    """Where a fork kills the process, a `restart: kill` comes next."""
    steps = story.trace.steps
    for index, step in enumerate(steps):
        inner = step.together if isinstance(step, AtOnceStep) else (step,)
        if not any(isinstance(each, ForkStep) and each.dies for each in inner):
            continue
        after = steps[index + 1] if index + 1 < len(steps) else None
        if not isinstance(after, RestartStep) or after.restart != "kill":
            message = "the process dies over this fork, so the next step is a `restart: kill`"
            yield Fault(("steps", index, "dies"), "FPL065", message, key=True)
