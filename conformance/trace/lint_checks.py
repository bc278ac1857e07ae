"""Lint rules on expectations: that a trace checks something, and that each check can pass and can fail.

Rules FPL040 to FPL044; `codes` says what each means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from forkproof.conformance.trace.fault import Fault, StepCheck, Story
from forkproof.conformance.trace.model import AwaitStep, CheckStep, ForkStep, QueueStep, SteerStep, TurnStep
from forkproof.conformance.trace.steps import STEP_KEYS
from forkproof.conformance.trace.steps_side import DueStep
from forkproof.conformance.trace.steps_tree import BranchStep, CloneStep, EditContextStep, LabelStep, RewindStep
from forkproof.conformance.trace.suggestion import did_you_mean
from forkproof.conformance.vocabulary import RECORD_FIELDS

__all__ = ["checks_something", "contradictions", "fitting", "record_fields", "vacuous"]

_PROMPTS = (
    "prompt", "last_prompt", "prompt_has", "prompt_lacks", "result", "paired", "marks_interruption", "same_prefix_as",
    "effective_prompt", "continues", "provider", "thinking",
    "no_interruption", "boundary_note", "works_in",
)  # fmt: skip
_TREE_STEPS = ("branch", "rewind", "clone", "label", "edit_context")
_STEPS_OF: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(_PROMPTS, ("turn", "await")),
    **dict.fromkeys(("record", "record_has"), ("fork", "clone", "retry", "check", "turn", "await")),
    "editor": ("fork", "check", "branch", "rewind"),
    "refused": (
        "turn",
        "fork",
        "compact",
        "cancel",
        "steer",
        "queue",
        "restore",
        "set",
        "resume",
        "delete",
        "retry",
        *_TREE_STEPS,
    ),
    "done": ("fork", "clone", "compact", "steer", "queue"),
    "boundary_note": ("check of a child agent",),
    "accounts_for": ("restore",),
    "revision_differs_from": ("fork",),
    **dict.fromkeys(("prompt_once", "settings", "offered", "shown_as_sent"), ("turn", "await")),
    "summary_covers": ("compact", "await"),
    "pending": ("fork",),
    "summarized": ("branch",),
    "stop": ("turn", "await", "cancel"),
    "opens": ("resume",),
    "prefix_of": ("turn", "await"),
    "one_successor": ("together",),
}
"""Kind of expectation -> the steps that give it something to look at; kinds that are not here fit everywhere."""


def checks_something(story: Story) -> Iterator[Fault]:
    """A trace has at least one expectation."""
    if not story.checks:
        yield Fault(("steps",), "FPL040", "no step expects anything", key=True)


def fitting(story: Story) -> Iterator[Fault]:
    """A kind of expectation stands at a step that shows such a thing."""
    for check in story.checks:
        key = _key(check)
        for kind in check.expectation.kinds():
            steps = _STEPS_OF.get(kind, STEP_KEYS)
            if key not in steps and not (kind in _PROMPTS and _of_errand(story, check.step)):
                message = f"`{kind}` has nothing to look at in a `{key}`; it fits {' or '.join(steps)}"
                yield Fault((*check.path, kind), "FPL043", message, key=True)


def _of_errand(story: Story, step: object) -> bool:
    """Whether a step looks at the requests of a child agent, or of a wake-up that is due."""
    agent = isinstance(step, CheckStep) and step.check in story.names.known["agent"]
    return agent or isinstance(step, DueStep)


def record_fields(story: Story) -> Iterator[Fault]:
    """`record` and `record_has` name fields of a fork record."""
    for check in story.checks:
        for name in check.expectation.record or {}:
            if name not in RECORD_FIELDS:
                hint = did_you_mean(name, RECORD_FIELDS)
                yield Fault((*check.path, "record", name), "FPL044", f"no record field `{name}`{hint}", key=True)
        for number, name in enumerate(check.expectation.record_has or ()):
            # Below a field a path may go on: `settings.*.origin`.
            top = name.partition(".")[0]
            if top not in RECORD_FIELDS:
                hint = did_you_mean(top, RECORD_FIELDS)
                yield Fault((*check.path, "record_has", number), "FPL044", f"no record field `{top}`{hint}")


def vacuous(story: Story) -> Iterator[Fault]:
    """A check can fail: what must be absent could be there, and the check is looked at under some policy."""
    for check in story.checks:
        wanted = check.expectation
        for number, pattern in enumerate(wanted.prompt_lacks or ()):
            if pattern.item in _not_yet(story, check, "prompt_lacks"):
                message = f"`{pattern.item}` comes after this request was sent, so the request always lacks it"
                yield Fault((*check.path, "prompt_lacks", number), "FPL041", message)
        if _key(check) == "check" and wanted.requests == 0:
            message = "a `check` does nothing, so it causes no request; ask it of the step that could"
            yield Fault((*check.path, "requests"), "FPL041", message, key=True)
        for policy, meant in (wanted.when or {}).items():
            if set(meant) <= set((check.step.unless or {}).get(policy, ())):
                message = f"the step is left out under {policy}: {', '.join(meant)}"
                yield Fault((*check.path, "when"), "FPL041", message, key=True)


def contradictions(story: Story) -> Iterator[Fault]:
    """A check can pass: it asks for nothing that the trace itself rules out."""
    for check in story.checks:
        yield from _too_early(story, check)
        yield from _own_session(story, check)
        wanted = check.expectation
        lacked = {p.item for p in wanted.prompt_lacks or ()}
        for number, pattern in enumerate(wanted.prompt_has or ()):
            if pattern.item in lacked:
                message = f"`{pattern.item}` must both stand in the prompt and not"
                yield Fault((*check.path, "prompt_has", number), "FPL042", message)
        if _key(check) == "check" and wanted.requests:
            yield Fault((*check.path, "requests"), "FPL042", "a `check` does nothing, so it causes no request")
        if isinstance(check.step, TurnStep) and check.step.until and wanted.stop is not None:
            message = f"the turn still runs at the end of this step; ask it of `await: {check.step.turn}`"
            yield Fault((*check.path, "stop"), "FPL042", message, key=True)


def _too_early(story: Story, check: StepCheck) -> Iterator[Fault]:
    for kind in ("prompt", "prompt_has", "last_prompt", "effective_prompt"):
        late = _not_yet(story, check, kind)
        for number, pattern in enumerate(getattr(check.expectation, kind) or ()):
            if pattern.item in late:
                message = f"`{pattern.item}` comes after this request was sent"
                yield Fault((*check.path, kind, number), "FPL042", message)
    late = _not_yet(story, check, "result")
    for call in check.expectation.result or {}:
        if f"{call}.result" in late:
            message = f"`{call}` is called after this request was sent"
            yield Fault((*check.path, "result", call), "FPL042", message, key=True)


def _not_yet(story: Story, check: StepCheck, kind: str) -> frozenset[str]:
    """The items of the asked turn itself that the request in question can't hold."""
    match check.step:
        case TurnStep():
            turn = check.step.turn
        case AwaitStep():
            turn = check.step.await_
        case QueueStep():
            turn = check.step.turn
        case _:
            return frozenset()
    own = story.names.own.get(turn, frozenset())
    could = story.names.last if kind == "last_prompt" else story.names.first
    return own - could.get(turn, frozenset())


def _own_session(story: Story, check: StepCheck) -> Iterator[Fault]:
    session = _session(story, check)
    if session is None:
        return
    if check.expectation.same_prefix_as == session:
        message = f"`{session}` is this turn's own session: its next request holds this turn"
        yield Fault((*check.path, "same_prefix_as"), "FPL042", message)
    for kind in ("record", "record_has", "editor"):
        moved = kind == "editor" and isinstance(check.step, BranchStep | RewindStep)
        if getattr(check.expectation, kind) is not None and session == "main" and not moved:
            yield Fault((*check.path, kind), "FPL042", "`main` is no fork and has no record", key=True)
    for number, name in enumerate(check.expectation.same_next_prompt_without or ()):
        path = (*check.path, "same_next_prompt_without", number)
        if name in _line(story, session):
            yield Fault(path, "FPL042", f"without `{name}` there is no session `{session}` to compare with")
        elif story.names.home.get(name) == session:
            yield Fault(path, "FPL042", f"`{name}` is a turn of `{session}` itself: without it the prompt is another")


def _line(story: Story, session: str) -> list[str]:
    """The session, its source, the source's source and so on."""
    line = [session]
    while (source := story.names.source.get(line[-1])) and source not in line:
        line.append(source)
    return line


def _session(story: Story, check: StepCheck) -> str | None:
    """The session that a step's expectations look at; None for a release, which is of none."""
    match check.step:
        case TurnStep() | QueueStep() | SteerStep():
            return check.step.in_
        case AwaitStep():
            return story.names.home.get(check.step.await_)
        case ForkStep():
            return check.step.fork
        case CloneStep():
            return check.step.clone
        case BranchStep() | RewindStep() | LabelStep() | EditContextStep():
            return check.step.in_
        case DueStep():
            return story.names.home.get(check.step.due)
        case _:
            return (
                getattr(check.step, "check", None)
                or getattr(check.step, "cancel", None)
                or getattr(check.step, "set_", None)
            )


def _key(check: StepCheck) -> str:
    return next(k for k in STEP_KEYS if hasattr(check.step, k) or hasattr(check.step, f"{k}_"))
