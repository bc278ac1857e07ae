"""What a trace says statically: who acts in which session, what the model will answer, what a control run leaves out.

Pure functions on the trace; the player performs what they say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from forkproof.adapters.model.markers import Markers
from forkproof.adapters.protocol import ModelReply, Say, ToolUse
from forkproof.conformance.trace.model import (
    AwaitStep,
    CallStep,
    Expectation,
    FailStep,
    ForkStep,
    ReleaseStep,
    SayStep,
    TogetherStep,
    Trace,
    TurnStep,
)
from forkproof.conformance.trace.steps import STEP_KEYS, StepModel

__all__ = [
    "PROBE",
    "control_sets",
    "expectations",
    "kept_steps",
    "name_of",
    "own_counters",
    "probed",
    "replies",
    "session_of",
    "unless",
]

PROBE = "probe."
"""Turns that the suite adds to ask for a session's next prompt; a trace's own names have no dot."""


def name_of(step: StepModel) -> tuple[str, str]:
    """The step's key and the name behind it, e.g. `("fork", "alt")`."""
    for key in STEP_KEYS:
        name = getattr(step, key, None) or getattr(step, f"{key}_", None)
        if name is not None:
            return key, str(name)
    raise TypeError(step)


def session_of(step: StepModel, trace: Trace) -> str:
    """The session that a step's expectations look at.

    Of a fork it is the child, of an await or a release that of the turn; else the one that the step acts in, or names.
    """
    match step:
        case ForkStep():
            return step.fork
        case AwaitStep():
            return next((s.in_ for s in trace.steps if isinstance(s, TurnStep) and s.turn == step.await_), "main")
        case ReleaseStep():
            return next((s.in_ for s in trace.steps if isinstance(s, TurnStep) and step.release in _calls(s)), "main")
        case _:
            return str(getattr(step, "in_", None) or name_of(step)[1])


def _calls(turn: TurnStep) -> Iterable[str]:
    for step in turn.model:
        match step:
            case CallStep():
                yield step.call
            case TogetherStep():
                yield from (c.call for c in step.together)
            case _:
                pass


def expectations(trace: Trace) -> Iterable[tuple[int, str, Expectation]]:
    """Every expectation with its step's index and its clause."""
    for index, step in enumerate(trace.steps):
        for entry in step.expect:
            for clause, expectation in entry.items():
                yield index, clause, expectation


def control_sets(trace: Trace) -> tuple[frozenset[str], ...]:
    """The sets of steps that control runs leave out, each once, in order."""
    named = (frozenset(e.same_next_prompt_without) for _, _, e in expectations(trace) if e.same_next_prompt_without)
    return tuple(dict.fromkeys(named))


def probed(trace: Trace, control: frozenset[str] | None = None) -> tuple[str, ...]:
    """The sessions whose next prompt is needed: in the trace itself, or in one of its control runs."""
    wanted: dict[str, None] = {}
    for index, _, expectation in expectations(trace):
        if expectation.same_next_prompt_without and control in (None, frozenset(expectation.same_next_prompt_without)):
            wanted[session_of(trace.steps[index], trace)] = None
        if expectation.same_prefix_as and control is None:
            wanted[expectation.same_prefix_as] = None
    return tuple(wanted)


def kept_steps(trace: Trace, without: frozenset[str]) -> tuple[bool, ...]:
    """Which steps stay when the named ones, and all that depend on them, are left out."""
    gone = set(without)
    kept = []
    for step in trace.steps:
        _, name = name_of(step)
        source = step.in_ if isinstance(step, ForkStep) and isinstance(step.in_, str) else None
        lost = name in gone or session_of(step, trace) in gone or source in gone
        if isinstance(step, ReleaseStep | AwaitStep):
            owner = name if isinstance(step, AwaitStep) else _turn_of_call(trace, name)
            lost = lost or owner in gone
        if lost:
            gone.add(name)
        kept.append(not lost)
    return tuple(kept)


def _turn_of_call(trace: Trace, call: str) -> str | None:
    return next((s.turn for s in trace.steps if isinstance(s, TurnStep) and call in _calls(s)), None)


def unless(step: Any, policies: Mapping[str, str]) -> str | None:
    """The declared policy for which this step is left out; None if it is to be played."""
    for policy, choices in (step.unless or {}).items():
        if policies.get(policy) in choices:
            return f"{policy}={policies[policy]}"
    return None


def replies(turn: str, steps: Iterable[Any], markers: Markers) -> tuple[ModelReply, ...]:
    """The model's answers, one a request: a say goes out with the call behind it, and each call ends an answer."""
    answers: list[ModelReply] = []
    parts: list[Say | ToolUse] = []
    said = 0
    for step in steps:
        match step:
            case SayStep():
                said += 1
                parts.append(Say(markers.mark(step.say, f"{turn}.say" + (f".{said}" if said > 1 else ""))))
                continue
            case CallStep():
                parts.append(_use(step, markers))
            case TogetherStep():
                parts.extend(_use(call, markers) for call in step.together)
            case FailStep():
                answers.extend([ModelReply(tuple(parts))] if parts else [])
                answers.append(ModelReply(status=step.fail, message=f"scripted failure of turn {turn}"))
                parts = []
                continue
        answers.append(ModelReply(tuple(parts)))
        parts = []
    if parts:
        answers.append(ModelReply(tuple(parts)))
    return tuple(answers)


def _own(markers: Markers) -> str:
    """What makes a counter's name this part's own: a control run on the same process counts apart."""
    return f".{markers.nonce}"


def own_counters(counters: Mapping[str, int], markers: Markers) -> dict[str, int]:
    """The counters of this part, by the names that the trace gave them."""
    own = _own(markers)
    return {name.removesuffix(own): runs for name, runs in counters.items() if name.endswith(own)}


def _use(call: CallStep, markers: Markers) -> ToolUse:
    arguments = getattr(call, call.tool)
    if call.tool == "edit":
        arguments = {path: {"old": r.old, "new": r.new} for path, r in arguments.items()}
    if call.tool == "count":
        arguments += _own(markers)
    return ToolUse(
        id=markers.call_id(call.call),
        name=call.call,
        tool=call.tool,
        arguments=arguments,
        start=markers.tag(f"{call.call}.start"),
        end=markers.tag(f"{call.call}.end"),
    )
