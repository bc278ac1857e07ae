"""What a trace names, and from which step on: sessions, turns, calls, compactions, counters and items of prompts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal, TypeAlias, get_args

from forkproof.conformance.trace.model import (
    CallStep,
    CompactStep,
    ForkStep,
    QueueStep,
    SayStep,
    SteerStep,
    TogetherStep,
    Trace,
    TurnStep,
)
from forkproof.conformance.trace.place import Path
from forkproof.conformance.trace.steps import Step
from forkproof.conformance.trace.steps_side import DelegateStep, UserEditsStep
from forkproof.conformance.trace.steps_tree import BranchStep, CloneStep, EditContextStep, LabelStep, RewindStep
from forkproof.conformance.trace.stream import StallStep, ThinkStep
from forkproof.conformance.trace.tools import ModelStep
from forkproof.conformance.trace.walk import walk

__all__ = ["BEFORE_ALL", "Kind", "Names", "answers", "calls_of", "names_of", "numbered"]

Kind: TypeAlias = Literal[
    "session", "turn", "call", "compaction", "counter", "message", "process", "agent", "wake-up", "edit", "move"
]

BEFORE_ALL = -1
"""The step at which `main` and the imported turns begin."""


@dataclass(frozen=True, slots=True)
class Names:
    """Name -> index of the step that brings it, for each kind; `items` likewise for items of prompts.

    `by_owner` lists them by their turn, call or compaction. `twice` lists the paths of names that were taken already.
    `home` is the session of each turn, `source` the one that a session was forked from. `first`, `last` and `own` are,
    by turn, the turn's own items that its first and its last request can hold, and all of them. `parts` are the names
    that a control run can leave out.
    """

    known: Mapping[Kind, dict[str, int]]
    items: dict[str, int] = field(default_factory=dict)
    by_owner: dict[str, list[str]] = field(default_factory=dict)
    parts: dict[str, int] = field(default_factory=dict)
    home: dict[str, str] = field(default_factory=dict)
    source: dict[str, str] = field(default_factory=dict)
    twice: list[tuple[Path, str]] = field(default_factory=list)
    first: dict[str, frozenset[str]] = field(default_factory=dict)
    last: dict[str, frozenset[str]] = field(default_factory=dict)
    own: dict[str, frozenset[str]] = field(default_factory=dict)

    def kinds(self, name: str) -> list[Kind]:
        """What this name stands for, anywhere in the trace."""
        return [kind for kind, names in self.known.items() if name in names]


def names_of(trace: Trace) -> Names:
    """Read the names of a trace, in its order."""
    known: dict[Kind, dict[str, int]] = {kind: {} for kind in get_args(Kind)}
    names = Names(known)
    known["session"]["main"] = BEFORE_ALL
    for hook in trace.hooks:
        _items(names, BEFORE_ALL, f"{hook.hook}.context")
    for number, imported in enumerate(trace.import_):
        _take(names, "turn", imported.turn, BEFORE_ALL, ("import", number, "turn"))
        _items(names, BEFORE_ALL, f"{imported.turn}.user", f"{imported.turn}.say")
    for index, path, step in walk(trace):
        match step:
            case TurnStep() | QueueStep():
                key = "queue" if isinstance(step, QueueStep) else "turn"
                _take(names, "turn", step.turn, index, (*path, key))
                _turn(names, index, step, path)
            case SteerStep():
                _take(names, "message", step.steer, index, (*path, "steer"))
                _items(names, index, f"{step.steer}.user")
            case ForkStep():
                _take(names, "session", step.fork, index, (*path, "fork"))
                if isinstance(step.in_, str):
                    names.source.setdefault(step.fork, step.in_)
            case CompactStep():
                _take(names, "compaction", step.compact, index, (*path, "compact"))
                _items(names, index, f"{step.compact}.summary")
            case DelegateStep():
                _take(names, "session", step.delegate, index, (*path, "delegate"))
                names.source.setdefault(step.delegate, step.in_)
            case UserEditsStep():
                _take(names, "edit", step.user_edits, index, (*path, "user_edits"))
            case _:
                _tree(names, step, index)
    for _, path, step in walk(trace):
        if "together" in path:
            # What ran at the same time stays together in a control run too.
            names.parts.pop(name_in(step), None)
    return names


def name_in(step: Step) -> str:
    """The name that a turn, a fork or a compaction brings; empty for other steps."""
    return next((name for key in ("turn", "fork", "compact") if (name := getattr(step, key, ""))), "")


def _tree(names: Names, step: Step, index: int) -> None:
    """Names of the steps that move in a session's tree, copy its path, label or edit."""
    match step:
        case CloneStep():
            _take(names, "session", step.clone, index, ("steps", index, "clone"))
            names.source.setdefault(step.clone, step.in_)
        case BranchStep():
            _take(names, "move", step.branch, index, ("steps", index, "branch"))
            if step.summary is not None:
                _items(names, index, f"{step.branch}.summary")
        case RewindStep():
            _take(names, "move", step.rewind, index, ("steps", index, "rewind"))
        case LabelStep():
            _take(names, "move", step.label, index, ("steps", index, "label"))
        case EditContextStep():
            _take(names, "move", step.edit_context, index, ("steps", index, "edit_context"))
            _items(names, index, f"{step.edit_context}.edit")
        case _:
            pass


def calls_of(turn: TurnStep | QueueStep) -> Iterator[tuple[Path, CallStep]]:
    """The calls of a turn, and of child agents in it, each with its path below the turn's step."""
    return _calls(turn.model, ("model",))


def _calls(model: Iterable[ModelStep], path: Path) -> Iterator[tuple[Path, CallStep]]:
    for number, step in enumerate(model):
        match step:
            case CallStep():
                yield from _with_inner(step, (*path, number))
            case TogetherStep():
                for place, call in enumerate(step.together):
                    yield from _with_inner(call, (*path, number, "together", place))
            case _:
                pass


def _with_inner(call: CallStep, path: Path) -> Iterator[tuple[Path, CallStep]]:
    yield path, call
    if call.errand is not None:
        yield from _calls(call.errand.model, (*path, call.tool, "model"))


def answers(turn: TurnStep | QueueStep) -> list[list[str]]:
    """The items that each answer of the model brings: a say goes out with the call behind it, a call ends an answer."""
    return _answers(turn.turn, turn.model)


def _answers(turn: str, model: Iterable[ModelStep]) -> list[list[str]]:
    found: list[list[str]] = []
    open_: list[str] = []
    said = thought = 0
    for step in model:
        if isinstance(step, SayStep):
            said += 1
            open_.append(numbered(f"{turn}.say", said))
            continue
        if isinstance(step, ThinkStep):
            thought += 1
            open_.append(numbered(f"{turn}.think", thought))
            continue
        if isinstance(step, StallStep):
            continue
        found.append([*open_, *_brings(step)])
        open_ = []
    return [*found, open_] if open_ else found


def _brings(step: ModelStep) -> Iterable[str]:
    match step:
        case CallStep():
            return (f"{step.call}.call", f"{step.call}.result")
        case TogetherStep():
            return tuple(f"{call.call}.{part}" for call in step.together for part in ("call", "result"))
        case _:
            return ()


def numbered(item: str, number: int) -> str:
    """The name of a turn's item of one kind: the first has no number."""
    return item if number == 1 else f"{item}.{number}"


def _turn(names: Names, index: int, step: TurnStep | QueueStep, at: Path) -> None:
    for path, call in calls_of(step):
        _take(names, "call", call.call, index, (*at, *path, "call"))
        if call.background is not None:
            names.known["process"].setdefault(call.background, index)
        if call.count is not None:
            names.known["counter"].setdefault(call.count, index)
        _side(names, index, step, call)
    for number, part in enumerate(step.model):
        if isinstance(part, StallStep):
            # A stream that is held is let go as a waiting call is, so both share the names.
            _take(names, "call", part.stall, index, ("steps", index, "model", number, "stall"))
    names.home[step.turn] = step.in_
    brought = answers(step)
    attached = range(1, len(getattr(step, "attach", None) or ()) + 1)
    given = [f"{step.turn}.user", *(numbered(f"{step.turn}.attachment", n) for n in attached)]
    everything = [item for answer in brought for item in answer]
    _items(names, index, *given, *everything)
    names.first[step.turn] = frozenset(given)
    names.last[step.turn] = frozenset(given).union(*brought[:-1])
    names.own[step.turn] = frozenset({*given, *everything})


def _side(names: Names, index: int, turn: TurnStep | QueueStep, call: CallStep) -> None:
    """What a call brings beside its own two items: a note, or a turn of its own that goes by the call's name."""
    if call.tool in ("todo", "memory"):
        _items(names, index, f"{call.call}.{call.tool}")
    if call.errand is None:
        return
    names.known["agent" if call.agent or call.tell else "wake-up"].setdefault(call.call, index)
    names.home[call.call] = turn.in_
    _items(names, index, f"{call.call}.user", *chain.from_iterable(_answers(call.call, call.errand.model)))


def _take(names: Names, kind: Kind, name: str, index: int, path: Path) -> None:
    taken = names.kinds(name)
    if any(k != "counter" for k in taken):
        names.twice.append((path, f"`{name}` is the name of a {taken[0]} already"))
        return
    names.known[kind][name] = index
    if kind in ("turn", "session", "compaction", "edit") and index != BEFORE_ALL:
        names.parts[name] = index


def _items(names: Names, index: int, *items: str) -> None:
    for item in items:
        if item not in names.items:
            names.items[item] = index
            names.by_owner.setdefault(item.partition(".")[0], []).append(item)
