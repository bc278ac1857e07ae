"""What a trace says statically: who acts in which session, what the model will answer, what a control run leaves out.

Pure functions on the trace; the player performs what they say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from forkproof.adapters.model.markers import Markers
from forkproof.adapters.protocol import Drop, ModelReply, Say, Stall, Think, ToolUse
from forkproof.conformance.side import SIDE_TOOLS, side_use
from forkproof.conformance.trace.model import (
    AwaitStep,
    CallStep,
    CompactStep,
    Expectation,
    FailStep,
    ForkStep,
    QueueStep,
    ReleaseStep,
    SayStep,
    TogetherStep,
    Trace,
    TurnStep,
)
from forkproof.conformance.trace.names import calls_of, numbered
from forkproof.conformance.trace.steps import STEP_KEYS, AtOnceStep, StepModel
from forkproof.conformance.trace.steps_authority import ApproveStep, DenyStep
from forkproof.conformance.trace.steps_durable import RestartStep
from forkproof.conformance.trace.steps_side import DelegateStep, DueStep, FoldStep
from forkproof.conformance.trace.steps_tree import CloneStep
from forkproof.conformance.trace.stream import DropStep, StallStep, ThinkStep

__all__ = [
    "PROBE",
    "attached",
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
    key, attribute = _key_of(type(step))
    name = getattr(step, attribute)
    return key, "+".join(name_of(inner)[1] for inner in name) if key == "together" else str(name)


@cache
def _key_of(kind: type[StepModel]) -> tuple[str, str]:
    """A step's key and the attribute behind it, worked out once: to ask a step for what it has not is slow."""
    return next((key, name) for key in STEP_KEYS for name in (key, f"{key}_") if name in kind.model_fields)


def session_of(step: StepModel, trace: Trace) -> str:
    """The session that a step's expectations look at.

    Of a fork it is the child, of an await or a release that of the turn; else the one that the step acts in, or names.
    """
    match step:
        case ForkStep():
            return step.fork
        case CloneStep():
            return step.clone
        case AwaitStep():
            return _home(trace, step.await_)
        case ApproveStep() | DenyStep():
            call = name_of(step)[1]
            return next((s.in_ for s in trace.steps if isinstance(s, TurnStep) and call in _calls(s)), "main")
        case ReleaseStep():
            owner = _turn_of_call(trace, step.release)
            return _home(trace, owner if owner is not None else step.release)
        case RestartStep() | AtOnceStep():
            return "main"
        case FoldStep():
            return next((s.in_ for s in trace.steps if isinstance(s, DelegateStep) and s.delegate == step.fold), "main")
        case DueStep():
            return next((s.in_ for s in trace.steps if isinstance(s, TurnStep) and step.due in _calls(s)), "main")
        case _:
            return str(getattr(step, "in_", None) or name_of(step)[1])


def _home(trace: Trace, name: str) -> str:
    """The session of a turn, a queued turn or a compaction."""
    for step in trace.steps:
        match step:
            case TurnStep() | QueueStep() if step.turn == name:
                return step.in_
            case CompactStep() if step.compact == name:
                return step.in_
            case _:
                pass
    return "main"


def _calls(turn: TurnStep | QueueStep) -> Iterable[str]:
    """The calls of a turn, and the places where its stream is held, which are let go in the same way."""
    held = (part.stall for part in turn.model if isinstance(part, StallStep))
    return (*held, *(call.call for _, call in calls_of(turn)))


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
        if control is None:
            wanted.update(dict.fromkeys(filter(None, (expectation.same_prefix_as, expectation.prefix_of))))
    return tuple(wanted)


def kept_steps(trace: Trace, without: frozenset[str]) -> tuple[bool, ...]:
    """Which steps stay when the named ones, and all that depend on them, are left out."""
    gone = set(without)
    kept = []
    for step in trace.steps:
        _, name = name_of(step)
        source = step.in_ if isinstance(step, ForkStep | CloneStep) and isinstance(step.in_, str) else None
        lost = name in gone or session_of(step, trace) in gone or source in gone
        if isinstance(step, ReleaseStep | AwaitStep | ApproveStep | DenyStep):
            owner = name if isinstance(step, AwaitStep) else _turn_of_call(trace, name) or name
            lost = lost or owner in gone
        if isinstance(step, DueStep):
            lost = lost or _turn_of_call(trace, name) in gone
        if isinstance(step, AtOnceStep):
            parts = {each for inner in step.together for each in (name_of(inner)[1], session_of(inner, trace))}
            lost = lost or bool(parts & gone)
            gone |= {name_of(inner)[1] for inner in step.together} if lost else set()
        if lost:
            gone.add(name)
        kept.append(not lost)
    return tuple(kept)


def _turn_of_call(trace: Trace, call: str) -> str | None:
    return next((s.turn for s in trace.steps if isinstance(s, TurnStep | QueueStep) and call in _calls(s)), None)


def unless(step: Any, policies: Mapping[str, str]) -> str | None:
    """The declared policy for which this step is left out; None if it is to be played."""
    for policy, choices in (step.unless or {}).items():
        if policies.get(policy) in choices:
            return f"{policy}={policies[policy]}"
    return None


def replies(turn: str, steps: Iterable[Any], markers: Markers) -> tuple[ModelReply, ...]:
    """The model's answers, one a request: a say goes out with the call behind it, and each call ends an answer."""
    answers: list[ModelReply] = []
    parts: list[Say | Think | ToolUse | Stall | Drop] = []
    said = thought = 0
    for step in steps:
        match step:
            case SayStep():
                said += 1
                parts.append(Say(markers.mark(step.say, numbered(f"{turn}.say", said))))
                continue
            case ThinkStep():
                thought += 1
                parts.append(_thinking(step, numbered(f"{turn}.think", thought), markers))
                continue
            case StallStep():
                parts.append(Stall(step.stall))
                continue
            case DropStep():
                parts.append(Drop())
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


def _thinking(step: ThinkStep, name: str, markers: Markers) -> Think:
    """The thinking with an opaque form of its own, in which every byte counts."""
    opaque = "" if step.form == "plain" else markers.opaque(name)
    return Think(name, markers.mark(step.think, name), opaque, step.form)


def attached(turn: TurnStep, markers: Markers) -> dict[str, str]:
    """The files that go with a turn's message, by name, each with its marker behind its content."""
    names = enumerate((turn.attach or {}).items(), 1)
    return {file: markers.mark(text, numbered(f"{turn.turn}.attachment", n)) for n, (file, text) in names}


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
    if call.tool in ("count", "background"):
        arguments += _own(markers)
    if call.tool in SIDE_TOOLS:
        return side_use(call, markers)
    return ToolUse(
        id=markers.call_id(call.same_id_as or call.call),
        name=call.call,
        tool=call.tool,
        arguments=arguments,
        start=markers.tag(f"{call.call}.start"),
        end=markers.tag(f"{call.call}.end"),
    )
