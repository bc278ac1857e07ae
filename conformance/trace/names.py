"""What a trace names, and from which step on: sessions, turns, calls, compactions, counters and items of prompts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from forkproof.conformance.trace.model import (
    CallStep,
    CompactStep,
    FailStep,
    ForkStep,
    QueueStep,
    SayStep,
    SteerStep,
    TogetherStep,
    Trace,
    TurnStep,
)
from forkproof.conformance.trace.place import Path
from forkproof.conformance.trace.tools import ModelStep

__all__ = ["BEFORE_ALL", "Kind", "Names", "answers", "calls_of", "names_of"]

Kind: TypeAlias = Literal["session", "turn", "call", "compaction", "counter", "message"]

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
    names = Names(
        {"session": {"main": BEFORE_ALL}, "turn": {}, "call": {}, "compaction": {}, "counter": {}, "message": {}}
    )
    for number, imported in enumerate(trace.import_):
        _take(names, "turn", imported.turn, BEFORE_ALL, ("import", number, "turn"))
        _items(names, BEFORE_ALL, f"{imported.turn}.user", f"{imported.turn}.say")
    for index, step in enumerate(trace.steps):
        match step:
            case TurnStep() | QueueStep():
                key = "queue" if isinstance(step, QueueStep) else "turn"
                _take(names, "turn", step.turn, index, ("steps", index, key))
                _turn(names, index, step)
            case SteerStep():
                _take(names, "message", step.steer, index, ("steps", index, "steer"))
                _items(names, index, f"{step.steer}.user")
            case ForkStep():
                _take(names, "session", step.fork, index, ("steps", index, "fork"))
                if isinstance(step.in_, str):
                    names.source.setdefault(step.fork, step.in_)
            case CompactStep():
                _take(names, "compaction", step.compact, index, ("steps", index, "compact"))
                _items(names, index, f"{step.compact}.summary")
            case _:
                pass
    return names


def calls_of(turn: TurnStep | QueueStep) -> Iterator[tuple[Path, CallStep]]:
    """The calls of a turn, each with its path below the turn's step."""
    for number, step in enumerate(turn.model):
        match step:
            case CallStep():
                yield ("model", number), step
            case TogetherStep():
                for place, call in enumerate(step.together):
                    yield ("model", number, "together", place), call
            case _:
                pass


def answers(turn: TurnStep | QueueStep) -> list[list[str]]:
    """The items that each answer of the model brings: a say goes out with the call behind it, a call ends an answer."""
    found: list[list[str]] = []
    open_: list[str] = []
    said = 0
    for step in turn.model:
        if isinstance(step, SayStep):
            said += 1
            open_.append(f"{turn.turn}.say" + (f".{said}" if said > 1 else ""))
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
        case FailStep() | SayStep():
            return ()


def _turn(names: Names, index: int, step: TurnStep | QueueStep) -> None:
    for path, call in calls_of(step):
        _take(names, "call", call.call, index, ("steps", index, *path, "call"))
        if call.count is not None:
            names.known["counter"].setdefault(call.count, index)
    names.home[step.turn] = step.in_
    brought = answers(step)
    user = f"{step.turn}.user"
    everything = [item for answer in brought for item in answer]
    _items(names, index, user, *everything)
    names.first[step.turn] = frozenset({user})
    names.last[step.turn] = frozenset({user}.union(*brought[:-1]))
    names.own[step.turn] = frozenset({user, *everything})


def _take(names: Names, kind: Kind, name: str, index: int, path: Path) -> None:
    taken = names.kinds(name)
    if any(k != "counter" for k in taken):
        names.twice.append((path, f"`{name}` is the name of a {taken[0]} already"))
        return
    names.known[kind][name] = index
    if kind in ("turn", "session", "compaction") and index != BEFORE_ALL:
        names.parts[name] = index


def _items(names: Names, index: int, *items: str) -> None:
    for item in items:
        if item not in names.items:
            names.items[item] = index
            names.by_owner.setdefault(item.partition(".")[0], []).append(item)
