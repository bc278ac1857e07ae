"""Lint rules on the story: turns begin and end, waiting calls are let go, sessions exist when a step acts in them.

Rules FPL024 and FPL060 to FPL063; `codes` says what each means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from forkproof.conformance.trace.fault import Fault, Story
from forkproof.conformance.trace.model import (
    AwaitStep,
    CallStep,
    CancelStep,
    CheckStep,
    CompactStep,
    ForkStep,
    QueueStep,
    ReleaseStep,
    SteerStep,
    Step,
    TogetherStep,
    TurnStep,
)
from forkproof.conformance.trace.names import calls_of
from forkproof.conformance.trace.place import Path
from forkproof.conformance.trace.steps_authority import ApproveStep, DenyStep, SetStep
from forkproof.conformance.trace.steps_durable import RestartStep
from forkproof.conformance.trace.steps_tree import BranchStep, CloneStep, EditContextStep, LabelStep, RewindStep
from forkproof.conformance.trace.stream import StallStep

__all__ = ["absent_sessions", "endings", "flow"]

_ALWAYS: Mapping[str, tuple[str, ...]] = {}


@dataclass(slots=True)
class _Running:
    """A turn in flight: its waiting calls that nobody has let go yet.

    `perhaps` tells that a step ended it which is left out under some policy: from then on it may run or not.
    """

    turn: str
    index: int
    held: dict[str, str] = field(default_factory=dict)
    perhaps: bool = False
    queued: list[_Running] = field(default_factory=list)
    step: str = "until"


def flow(story: Story) -> Iterator[Fault]:
    """Play the turns in the mind: one at a time in a session, each waiting call let go, each turn ended."""
    running: dict[str, _Running] = {}
    # A command of a child agent may be let go also when it should be dead, to see that nobody goes on there.
    of_agents = set(_inside_agents(story))
    for index, step in enumerate(story.trace.steps):
        path: Path = ("steps", index)
        match step:
            case TurnStep():
                yield from _begin(step, index, running)
            case ReleaseStep():
                held = any(step.release in r.held for r in running.values())
                if held or step.release not in of_agents:
                    yield from _release(step, path, running)
            case ApproveStep() | DenyStep():
                yield from _answer(step, path, running)
            case RestartStep():
                running.clear()
            case AwaitStep():
                yield from _await(step, path, running)
            case CancelStep():
                yield from _cancel(step, path, running)
            case SteerStep() | QueueStep():
                yield from _busy_input(step, index, running)
            case CompactStep():
                yield from _compact(step, index, running)
            case _:
                pass
    for left in (r for r in running.values() if not r.perhaps):
        message = f"turn `{left.turn}` is left running at the end; `await` or `cancel` it"
        yield Fault(("steps", left.index, left.step), "FPL060", message, key=True)


def _inside_agents(story: Story) -> Iterator[str]:
    for step in story.trace.steps:
        if isinstance(step, TurnStep):
            yield from (call.call for path, call in calls_of(step) if "agent" in path)


def _begin(step: TurnStep, index: int, running: dict[str, _Running]) -> Iterator[Fault]:
    path: Path = ("steps", index)
    waits: dict[str, tuple[Path, str]] = {
        part.stall: (("model", number), "release")
        for number, part in enumerate(step.model)
        if isinstance(part, StallStep)
    }
    waits |= {call.call: (below, str(call.wait)) for below, call in calls_of(step) if call.wait is not None}
    waits = dict(sorted(waits.items(), key=lambda held: held[1][0][:2]))
    if _surely(running, step.in_):
        yield Fault((*path, "turn"), "FPL063", f"turn `{running[step.in_].turn}` still runs in `{step.in_}`", key=True)
    if step.until is None:
        for name, (below, _) in waits.items():
            yield Fault(
                (*path, *below), "FPL060", f"`{name}` waits within this step: give the turn `until: {name}.started`"
            )
        return
    if step.until.endswith(".asked"):
        yield from _begin_question(step, index, running, {name: kind for name, (_, kind) in waits.items()})
        return
    call = step.until.removesuffix(".started")
    if call not in waits:
        yield Fault((*path, "until"), "FPL061", f"`{call}` is no `wait` call or `stall` of this turn")
    elif call != next(iter(waits)):
        yield Fault((*path, "until"), "FPL060", f"`{next(iter(waits))}` waits before `{call}` can start")
    running[step.in_] = _Running(step.turn, index, {name: str(wait) for name, (_, wait) in waits.items()})


def _begin_question(step: TurnStep, index: int, running: dict[str, _Running], held: dict[str, str]) -> Iterator[Fault]:
    call = (step.until or "").removesuffix(".asked")
    if call not in {own.call for _, own in calls_of(step)}:
        yield Fault(("steps", index, "until"), "FPL061", f"`{call}` is no call of this turn")
    running[step.in_] = _Running(step.turn, index, {**held, call: "asked"})


def _answer(step: ApproveStep | DenyStep, path: Path, running: dict[str, _Running]) -> Iterator[Fault]:
    key, call = ("deny", step.deny) if isinstance(step, DenyStep) else ("approve", step.approve)
    holder = next((r for r in running.values() if r.held.get(call) == "asked"), None)
    if holder is None:
        message = f"no question about `{call}` is open here; `until: {call}.asked` leaves one open"
        yield Fault((*path, key), "FPL061", message)
    else:
        del holder.held[call]


def _cancel(step: CancelStep, path: Path, running: dict[str, _Running]) -> Iterator[Fault]:
    if step.cancel not in running:
        yield Fault((*path, "cancel"), "FPL063", f"no turn runs in `{step.cancel}` here")
    _end(running, step.cancel, step)


def _compact(step: CompactStep, index: int, running: dict[str, _Running]) -> Iterator[Fault]:
    if _surely(running, step.in_) and not _refused(step):
        message = f"turn `{running[step.in_].turn}` still runs in `{step.in_}`"
        yield Fault(("steps", index, "compact"), "FPL063", message, key=True)
    elif step.until is not None:
        running[step.in_] = _Running(step.compact, index, {step.compact: "release"})


def _busy_input(step: SteerStep | QueueStep, index: int, running: dict[str, _Running]) -> Iterator[Fault]:
    """Only a session with something in flight is spoken to so; a queued turn follows what is in flight."""
    key = "steer" if isinstance(step, SteerStep) else "queue"
    busy = running.get(step.in_)
    if busy is None and not _refused(step):
        yield Fault(("steps", index, key), "FPL061", f"nothing runs in `{step.in_}` here; give it a `turn`", key=True)
    elif busy is not None and isinstance(step, QueueStep) and not _refused(step):
        waits = {call.call: str(call.wait) for _, call in calls_of(step) if call.wait is not None}
        busy.queued.append(_Running(step.turn, index, waits, step="queue"))


def _release(step: ReleaseStep, path: Path, running: dict[str, _Running]) -> Iterator[Fault]:
    holder = next((r for r in running.values() if step.release in r.held), None)
    if holder is None:
        yield Fault((*path, "release"), "FPL061", f"no call `{step.release}` waits here")
    elif holder.held[step.release] == "asked":
        yield Fault((*path, "release"), "FPL061", f"`{step.release}` waits for an answer: `approve` or `deny` it")
    elif holder.held[step.release] == "forever":
        yield Fault((*path, "release"), "FPL061", f"`{step.release}` waits forever; only `wait: release` can be let go")
    else:
        del holder.held[step.release]


def _await(step: AwaitStep, path: Path, running: dict[str, _Running]) -> Iterator[Fault]:
    session = next((s for s, r in running.items() if r.turn == step.await_), None)
    if session is None:
        yield Fault(
            (*path, "await"), "FPL061", f"turn `{step.await_}` is not running here; only `until` leaves one running"
        )
        return
    held = running[session].held
    _end(running, session, step)
    if held:
        name, kind = next(iter(held.items()))
        cure = {"forever": "`cancel` the turn", "asked": f"`approve: {name}` or `deny` it first"}.get(
            kind, f"`release: {name}` first"
        )
        yield Fault((*path, "await"), "FPL060", f"`{name}` still waits, so the turn never ends: {cure}")


def _surely(running: Mapping[str, _Running], session: str) -> bool:
    return session in running and not running[session].perhaps


def _end(running: dict[str, _Running], session: str, step: Step) -> None:
    if step.unless and session in running:
        running[session].perhaps = True
        return
    ended = running.pop(session, None)
    if ended is not None and ended.queued:
        following, *rest = ended.queued
        running[session] = following
        following.queued.extend(rest)


def endings(story: Story) -> Iterator[Fault]:
    """A turn's last word is the model's, unless it is cancelled; nothing stands after a call that waits forever."""
    cancelled = _cancelled(story)
    for index, step in enumerate(story.trace.steps):
        if not isinstance(step, TurnStep | QueueStep):
            continue
        last = len(step.model) - 1
        if isinstance(step.model[last], CallStep | TogetherStep) and step.turn not in cancelled:
            message = f"turn `{step.turn}` ends with a call: the model would be asked again and has no answer"
            yield Fault(("steps", index, "model", last), "FPL062", message)
        for path, call in calls_of(step):
            number = path[1]
            if call.wait == "forever" and number != last:
                message = f"never reached: `{call.call}` waits forever"
                yield Fault(("steps", index, "model", int(number) + 1), "FPL062", message)


def _cancelled(story: Story) -> frozenset[str]:
    """The turns that a `cancel` ends: the last one begun in its session."""
    newest: dict[str, str] = {}
    ended = set()
    for step in story.trace.steps:
        if isinstance(step, TurnStep):
            newest[step.in_] = step.turn
        elif isinstance(step, CancelStep) and step.cancel in newest:
            ended.add(newest[step.cancel])
        elif isinstance(step, RestartStep):
            ended |= set(newest.values())
    return frozenset(ended)


# --- sessions that may not exist -------------------------------------------------------------------------------------


def absent_sessions(story: Story) -> Iterator[Fault]:
    """A step acts in a session only where its fork was made, or leaves itself out where it was not."""
    absent: dict[str, list[Mapping[str, tuple[str, ...]]]] = {}
    for index, step in enumerate(story.trace.steps):
        for key, session in _acts_in(step):
            uncovered = next((c for c in absent.get(session, ()) if not _covers(step, c)), None)
            if uncovered is not None:
                yield Fault(("steps", index, key), "FPL024", _absent(session, uncovered))
        if isinstance(step, ForkStep):
            absent[step.fork] = [*_refusals(step), *({p: c} for p, c in (step.unless or {}).items())]
        if isinstance(step, CloneStep):
            absent[step.clone] = [*_refusals(step), *({p: c} for p, c in (step.unless or {}).items())]


def _acts_in(step: Step) -> Iterator[tuple[str, str]]:
    match step:
        case TurnStep() | CompactStep() | QueueStep() | SteerStep():
            yield "in", step.in_
        case BranchStep() | RewindStep() | CloneStep() | LabelStep() | EditContextStep():
            yield "in", step.in_
        case ForkStep() if isinstance(step.in_, str):
            yield "in", step.in_
        case CheckStep():
            yield "check", step.check
        case SetStep():
            yield "set", step.set_
        case CancelStep():
            yield "cancel", step.cancel
        case _:
            pass


def _refusals(step: ForkStep | CloneStep) -> Iterator[Mapping[str, tuple[str, ...]]]:
    for expectation in (e for entry in step.expect for e in entry.values()):
        if expectation.refused is not None:
            yield expectation.when or _ALWAYS


def _covers(step: Step, condition: Mapping[str, tuple[str, ...]]) -> bool:
    return any(set(choices) <= set((step.unless or {}).get(policy, ())) for policy, choices in condition.items())


def _absent(session: str, condition: Mapping[str, tuple[str, ...]]) -> str:
    if not condition:
        return f"`{session}` is never made: its fork is to be refused"
    said = ", ".join(f"{policy}: {' or '.join(choices)}" for policy, choices in condition.items())
    return f"`{session}` is not made under {said}; give this step `unless: {{{said}}}`"


def _refused(step: Step) -> bool:
    return any(e.refused is not None for entry in step.expect for e in entry.values())
