"""Which turns each session may hold, when each turn began, and in which order its items stand: read off a trace.

It judges real harnesses, so it is careful: a session whose origin is not plain, a turn that is not the trace's own, a
step of a kind that may carry items from one session into another: of these it says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from forkproof.adapters.model.items import Item
from forkproof.conformance.paths import imported_order
from forkproof.conformance.provenance import Lineage
from forkproof.conformance.stage import PROBE, name_of, probed
from forkproof.conformance.trace.model import CallStep, SayStep, TogetherStep, Trace, TurnStep

__all__ = ["Histories"]

PLAIN: Final = frozenset({
    "approve", "await", "branch", "cancel", "check", "clone", "compact", "delete", "deny", "edit_context", "fork",
    "label", "queue", "release", "restart", "restore", "resume", "retry", "rewind", "set", "steer", "turn",
    "user_edits",
})  # fmt: skip
"""Steps that carry nothing from one session into another, but for a fork's own prefix."""

_ROLES: Final = {"user": "user", "say": "assistant", "call": "assistant", "result": "tool"}


@dataclass(frozen=True, slots=True)
class Histories:
    """The sessions' histories as the trace means them.

    begun: turn -> index of its step (imported ones -1, probes one after the other behind all). session: turn -> its
    session. order: item -> its place within its turn; items of one answer share a place. plain: whether no step may
    carry items across sessions. ambiguous: calls that share their id on the wire with another one, so that it is no
    more than a guess which of them a request shows.
    """

    lineage: Lineage
    begun: Mapping[str, int]
    session: Mapping[str, str]
    order: Mapping[str, int]
    plain: bool
    ambiguous: frozenset[str] = frozenset()
    _paths: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, trace: Trace) -> Histories:
        """Read them off a trace."""
        lineage = Lineage.of(trace)
        begun = {turn.turn: -1 for turn in trace.import_}
        session = dict.fromkeys(imported_order(trace.import_), "main")
        order = {f"{turn.turn}.{item}": place for turn in trace.import_ for item, place in (("user", -1), ("say", 0))}
        for index, step in enumerate(trace.steps):
            if isinstance(step, TurnStep):
                begun[step.turn], session[step.turn] = index, step.in_
                order |= _order(step)
        for index, label in enumerate(probed(trace), start=len(trace.steps)):
            probe = f"{PROBE}{label}"
            begun[probe], session[probe], order[f"{probe}.user"] = index, label, -1
        plain = all(name_of(step)[0] in PLAIN for step in trace.steps)
        return cls(lineage, begun, session, order, plain, _sharing(trace))

    @property
    def turns(self) -> tuple[str, ...]:
        """The turns of sessions whose history is known."""
        return tuple(turn for turn, session in self.session.items() if session in self.lineage.inherited)

    @property
    def calls(self) -> bool:
        """Whether the model calls any tool."""
        return any(item.endswith(".call") for item in self.order)

    def turn_of(self, item: str) -> str | None:
        """The turn that an item belongs to; None if it is none of a turn that is known."""
        name = item.rpartition(".")[0] if item.startswith(PROBE) else item.partition(".")[0]
        turn = self.lineage.turn_of_call.get(name, name)
        return turn if turn in self.begun else None

    def path_at(self, turn: str) -> tuple[str, ...]:
        """The turns that a request of this turn may hold, oldest first, itself the last; none where it is not known."""
        if turn not in self._paths:
            session = self.session.get(turn, "")
            inherited = self.lineage.inherited.get(session)
            own = [t for t, s in self.session.items() if s == session and self.begun[t] < self.begun[turn]]
            own.sort(key=lambda each: self.begun[each])  # turns that are imported keep their order: the sort is stable
            self._paths[turn] = () if inherited is None else tuple(dict.fromkeys((*inherited, *own, turn)))
        return self._paths[turn]

    def beyond_the_cut(self, turn: str) -> frozenset[str]:
        """Turns of the session's ancestors that a request of this turn must not hold."""
        return self._foreign(turn, ancestors=True)

    def of_strangers(self, turn: str) -> frozenset[str]:
        """The same for turns of sessions that this one was not forked from, its own children and siblings."""
        return self._foreign(turn, ancestors=False)

    def some_begun(self, turns: frozenset[str], turn: str, step: int = -1) -> bool:
        """Whether one of these had begun when this turn began, or at this step of it."""
        return any(self.begun[each] < max(step, self.begun[turn]) for each in turns)

    def _foreign(self, turn: str, *, ancestors: bool) -> frozenset[str]:
        path = frozenset(self.path_at(turn))
        if not path or not self.plain:
            return frozenset()
        own = self.session[turn]
        line = self.lineage.ancestors(own)
        return frozenset(
            other
            for other, session in self.session.items()
            if other not in path and session != own and (session in line) is ancestors
        )

    def counts(self, item: Item) -> bool:
        """Whether an item is told to the model in its own role, and not only spoken of, and is surely what it seems."""
        name = item.name
        role = _ROLES.get("say" if ".say." in name else name.rpartition(".")[2])
        return item.role == role and name.partition(".")[0] not in self.ambiguous


def _order(turn: TurnStep) -> dict[str, int]:
    """The place of each item: the user's words, then each answer with the results of its calls.

    Calls made together may stand all before their results, or each before its own: that is the harness's choice.
    A turn whose model does anything else than to say and to call is left out: what comes twice there may be a retry.
    """
    if not all(isinstance(step, SayStep | CallStep | TogetherStep) for step in turn.model):
        return {}
    places = {f"{turn.turn}.user": -1}
    answer = said = 0
    for step in turn.model:
        if isinstance(step, SayStep):
            said += 1
            places[f"{turn.turn}.say" + (f".{said}" if said > 1 else "")] = answer
            continue
        for call in _given(step) if isinstance(step, CallStep | TogetherStep) else ():
            places |= {f"{call.call}.call": answer, f"{call.call}.result": answer}
        answer += 1
    return places


def _given(step: CallStep | TogetherStep) -> tuple[CallStep, ...]:
    """The calls of one answer."""
    return tuple(step.together) if isinstance(step, TogetherStep) else (step,)


def _sharing(trace: Trace) -> frozenset[str]:
    steps = (step for turn in trace.steps if isinstance(turn, TurnStep) for step in turn.model)
    calls = (call for step in steps if isinstance(step, CallStep | TogetherStep) for call in _given(step))
    return frozenset(name for call in calls if call.same_id_as for name in (call.call, call.same_id_as))
