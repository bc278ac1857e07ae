"""Lint rules on settings, questions and hooks: names, capabilities, and checks that can fail.

Rules FPL021, FPL022, FPL031, FPL041 to FPL044 and FPL061 for these parts of the language; `codes` says what each means.
"""

from __future__ import annotations

from collections.abc import Iterator

from forkproof.conformance.trace.fault import Fault, StepCheck, Story
from forkproof.conformance.trace.model import ForkStep, Step, Trace, TurnStep
from forkproof.conformance.trace.names import calls_of
from forkproof.conformance.trace.place import Path
from forkproof.conformance.trace.settings import SETTINGS, Settings
from forkproof.conformance.trace.steps_authority import ApproveStep, DenyStep, SetStep
from forkproof.conformance.trace.suggestion import did_you_mean

__all__ = ["answers", "hooks", "needs_of_authority", "needs_of_trace", "recorded_settings", "vacuous_questions"]


def answers(story: Story) -> Iterator[Fault]:
    """`answers` speaks of calls of its own turn, and of one that is left open it says nothing."""
    for index, step in enumerate(story.trace.steps):
        if not isinstance(step, TurnStep):
            continue
        own = {call.call for _, call in calls_of(step)}
        for call in step.answers or {}:
            path: Path = ("steps", index, "answers", call)
            if call not in own:
                yield Fault(path, "FPL021", f"no call `{call}` in this turn{did_you_mean(call, own)}", key=True)
            elif step.until == f"{call}.asked":
                message = f"`until: {call}.asked` leaves the question open: `approve` or `deny` answers it"
                yield Fault(path, "FPL042", message, key=True)


def hooks(story: Story) -> Iterator[Fault]:
    """Expectations speak of hooks that are installed."""
    known = {hook.hook for hook in story.trace.hooks}
    for check in story.checks:
        for kind in ("hook_runs", "hook_input"):
            for name in getattr(check.expectation, kind) or {}:
                if name not in known:
                    message = f"no hook `{name}`{did_you_mean(name, known)}"
                    yield Fault((*check.path, kind, name), "FPL021", message, key=True)


def recorded_settings(story: Story) -> Iterator[Fault]:
    """`record: {settings: ...}` names settings that there are."""
    for check in story.checks:
        settings = (check.expectation.record or {}).get("settings")
        for name in settings if isinstance(settings, dict) else ():
            if name not in SETTINGS:
                hint = did_you_mean(name, SETTINGS)
                path = (*check.path, "record", "settings", name)
                yield Fault(path, "FPL044", f"no setting `{name}`{hint}", key=True)


def vacuous_questions(story: Story) -> Iterator[Fault]:
    """A question is looked for once its call could have come, and in the session that it can name."""
    for check in story.checks:
        for kind in ("asked", "offered"):
            for call, want in (getattr(check.expectation, kind) or {}).items():
                yield from _call(story, check, kind, call)
                if isinstance(want, str):
                    yield from _session(story, check, want, (*check.path, kind, call))


def _session(story: Story, check: StepCheck, name: str, path: Path) -> Iterator[Fault]:
    since = story.names.known["session"].get(name)
    if since is None:
        yield Fault(path, "FPL021", f"no session `{name}`{did_you_mean(name, story.names.known['session'])}")
    elif since > check.index:
        yield Fault(path, "FPL022", f"the session `{name}` begins only in a later step")


def _call(story: Story, check: StepCheck, kind: str, call: str) -> Iterator[Fault]:
    since = story.names.known["call"].get(call)
    path = (*check.path, kind, call)
    if since is None:
        yield Fault(path, "FPL021", f"no call `{call}`{did_you_mean(call, story.names.known['call'])}", key=True)
    elif since > check.index:
        yield Fault(path, "FPL022", f"the call `{call}` begins only in a later step", key=True)


def needs_of_trace(trace: Trace) -> Iterator[tuple[str, Path]]:
    """The capabilities that a trace's own settings and hooks use, each with its place."""
    yield from _of_settings(trace.settings, ("settings",))
    for number, hook in enumerate(trace.hooks):
        yield f"hooks.{hook.at}", ("hooks", number)


def needs_of_authority(step: Step) -> Iterator[tuple[str, Path]]:
    """The capabilities that a step's settings and answers use, each with its place below the step."""
    match step:
        case SetStep():
            yield from _of_settings(step, ())
        case ApproveStep() | DenyStep():
            yield "approvals", ("approve" if isinstance(step, ApproveStep) else "deny",)
            if isinstance(step, ApproveStep) and step.scope != "once":
                yield f"approvals.{step.scope}", ("scope",)
        case ForkStep(settings=Settings()):
            yield "settings.fork", ("settings",)
            yield from ((n, p) for n, p in _of_settings(step.settings, ("settings",)) if n != "settings")
        case TurnStep():
            if (step.until or "").endswith(".asked"):
                yield "approvals", ("until",)
            for call, answer in (step.answers or {}).items():
                yield "approvals", ("answers", call)
                if answer in _SCOPES:
                    yield _SCOPES[answer], ("answers", call)
        case _:
            pass


_SCOPES = {"allow_for_session": "approvals.session", "allow_always": "approvals.always"}


def _of_settings(settings: Settings | None, path: Path) -> Iterator[tuple[str, Path]]:
    if settings is None:
        return
    for name in ("model", "effort"):
        if getattr(settings, name) is not None:
            yield "settings", (*path, name)
    if settings.permissions is not None:
        yield "approvals", (*path, "permissions")
    if settings.tools is not None:
        yield "settings.tools", (*path, "tools")
