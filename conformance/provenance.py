"""Where an item of a prompt comes from, as the trace tells it: own, inherited, summary, or leaked.

The labels turn a difference of two lists into the smallest contradiction that a person can act on. Source: design
section 4; clauses CUT-1, CUT-4, ISO-2.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from forkproof.adapters.model.items import Item
from forkproof.conformance.paths import imported_order
from forkproof.conformance.stage import PROBE
from forkproof.conformance.trace.model import (
    AwaitStep,
    CallStep,
    ForkStep,
    QueueStep,
    SteerStep,
    TogetherStep,
    Trace,
    TurnStep,
    UnknownName,
)
from forkproof.conformance.trace.steps_tree import CloneStep
from forkproof.conformance.trace.walk import walk

__all__ = ["Lineage", "explain"]


@dataclass(frozen=True, slots=True)
class Lineage:
    """Which turns each session holds by right, and which turn each call belongs to."""

    own: dict[str, tuple[str, ...]]
    inherited: dict[str, tuple[str, ...]]
    sources: dict[str, str]
    turn_of_call: dict[str, str]

    @classmethod
    def of(cls, trace: Trace) -> Lineage:
        """Read the lineage off the trace's steps."""
        own: dict[str, list[str]] = {"main": imported_order(trace.import_)}
        inherited: dict[str, tuple[str, ...]] = {"main": ()}
        sources: dict[str, str] = {}
        calls: dict[str, str] = {}
        queued: dict[str, str] = {}
        for _, _, step in walk(trace):
            match step:
                case TurnStep():
                    own.setdefault(step.in_, []).append(step.turn)
                    calls |= dict.fromkeys(_calls(step), step.turn)
                case QueueStep():
                    # It is no part of the session's history before its own turn begins.
                    queued[step.queue] = step.in_
                    calls |= dict.fromkeys(_calls(step), step.queue)
                case AwaitStep() if step.await_ in queued:
                    own.setdefault(queued[step.await_], []).append(step.await_)
                case SteerStep():
                    calls[step.steer] = next(iter(own.get(step.in_, ())[-1:]), step.steer)
                case CloneStep():
                    inherited[step.clone] = (*inherited.get(step.in_, ()), *own.get(step.in_, ()))
                    own[step.clone], sources[step.clone] = [], step.in_
                case ForkStep(in_=str(source)):
                    path = (*inherited.get(source, ()), *own.get(source, ()))
                    anchor = step.before or step.after or _owner(step.at, calls)
                    if isinstance(anchor, str) and anchor in path:
                        path = path[: path.index(anchor) + (0 if step.before else 1)]
                    own[step.fork] = []
                    inherited[step.fork] = path
                    sources[step.fork] = source
                case _:
                    pass
        return cls({k: tuple(v) for k, v in own.items()}, inherited, sources, calls)

    def label(self, item: str, session: str) -> str:
        """One of own, inherited, summary, leaked (with where from) and unknown."""
        name, _, rest = item.partition(".")
        if item.startswith("foreign/"):
            return "leaked from another run of this trace"
        if item.startswith(PROBE):
            asked = item.removeprefix(PROBE).partition(".")[0]
            return "own" if asked == session else f"leaked from session {asked}"
        if rest.startswith("summary"):
            return "summary"
        turn = self.turn_of_call.get(name, name)
        if turn in self.own.get(session, ()):
            return "own"
        if turn in self.inherited.get(session, ()):
            return "inherited"
        owner = next((s for s, turns in self.own.items() if turn in turns), None)
        if owner is None:
            return "unknown"
        ancestors = self.ancestors(session)
        return f"leaked from after the cut of {owner}" if owner in ancestors else f"leaked from session {owner}"

    def ancestors(self, session: str) -> list[str]:
        """The sessions that this one was forked from, the nearest first."""
        line = []
        while session in self.sources:
            session = self.sources[session]
            line.append(session)
        return line


def _owner(item: str | UnknownName | None, calls: dict[str, str]) -> str | None:
    """The turn that an item stands in."""
    if not isinstance(item, str):
        return None
    name = item.partition(".")[0]
    return calls.get(name, name)


def _calls(turn: TurnStep | QueueStep) -> list[str]:
    calls: list[str] = []
    for step in turn.model:
        match step:
            case CallStep():
                calls.append(step.call)
            case TogetherStep():
                calls.extend(c.call for c in step.together)
            case _:
                pass
    return calls


def explain(expected: list[str], seen: tuple[Item, ...], lineage: Lineage, session: str) -> str:
    """The contradiction in one line: what leaked, doubled, is lost, or stands in another order, role or state."""
    names = Counter(i.name for i in seen)
    wanted = Counter(expected)
    said = []
    extra = [n for n in names if not wanted[n]]
    said += [f"{n} {lineage.label(n, session)}" for n in extra if lineage.label(n, session).startswith("leaked")]
    said += [f"{n} is not expected here" for n in extra if not lineage.label(n, session).startswith("leaked")]
    said += [f"{n} stands {c} times" for n, c in names.items() if c > max(1, wanted[n])]
    said += [f"{n} is lost" for n in wanted if not names[n]]
    return "; ".join(said) or "the same items in another order, role or state"
