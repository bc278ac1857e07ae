"""The rules of the invariants: each looks at one request of one turn, and says what is wrong with it, if anything is.

They judge what a harness says to the model in a turn, each item in its own role: what it asks for a summary or a title,
and text that only speaks of other items, is its own business. Clauses TOOL-1, CUT-1, ISO-2, CUT-4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeAlias

from forkproof.adapters.model.items import Item
from forkproof.adapters.model.script import SeenRequest
from forkproof.conformance.histories import Histories
from forkproof.conformance.judge.finding import Finding, bad, ok, unobservable
from forkproof.conformance.judge.prompts import item_json
from forkproof.conformance.observation import Observation, PartSeen

__all__ = ["Contradiction", "invariant"]


@dataclass(frozen=True, slots=True)
class Contradiction:
    """The fewest items that show what is wrong, as they should stand and as they do."""

    said: str
    expected: list[dict[str, str]]
    seen: list[dict[str, str]]


Verdict: TypeAlias = Contradiction | bool
"""What is wrong with a request; else whether it held anything to judge."""

Rule: TypeAlias = Callable[[SeenRequest, tuple[Item, ...], Histories], Verdict]


def invariant(clause: str, histories: Histories, observation: Observation) -> tuple[Finding, int | None]:
    """The finding for this clause over all requests of the trace and its control runs, and the step where it broke."""
    witness: dict[str, list[int]] = {}
    for name, part in _parts(observation):
        for request in part.requests:
            turn = request.turn
            if request.kind != "turn" or turn is None or not histories.path_at(turn):
                continue
            items = tuple(filter(histories.counts, request.items))
            found = RULES[clause](request, items, histories)
            if isinstance(found, Contradiction):
                where = f"request {request.index} (turn {turn}, session {histories.session[turn]}{name})"
                return bad(f"{where}: {found.said}", {"prompt": found.expected}, {"prompt": found.seen}), request.step
            if found:
                witness.setdefault(f"requests{name}", []).append(request.index)
    if not witness:
        return unobservable("no request of this run held anything that it could be judged by"), None
    return ok(witness), None


def _parts(observation: Observation) -> Iterator[tuple[str, PartSeen]]:
    yield "", observation.main
    for without, part in observation.controls.items():
        yield f" of the run without {', '.join(sorted(without))}", part


def _paired(_request: SeenRequest, items: tuple[Item, ...], _histories: Histories) -> Verdict:
    calls = Counter(i.name.removesuffix(".call") for i in items if i.name.endswith(".call"))
    results = Counter(i.name.removesuffix(".result") for i in items if i.name.endswith(".result"))
    wrong = next((name for name in (*calls, *results) if calls[name] != results[name]), None)
    if wrong is None:
        return bool(calls)
    said = f"{wrong} stands there with {_times(calls[wrong], 'call')} and {_times(results[wrong], 'result')}"
    pair = [{"item": f"{wrong}.call", "role": "assistant"}, {"item": f"{wrong}.result", "role": "tool"}]
    seen = [item_json(i) for i in items if i.name in {f"{wrong}.call", f"{wrong}.result"}]
    return Contradiction(said, pair, [{k: v for k, v in each.items() if k != "status"} for each in seen])


def _nothing_from_after(request: SeenRequest, items: tuple[Item, ...], histories: Histories) -> Verdict:
    return _without(request, items, histories, histories.beyond_the_cut(request.turn or ""))


def _nothing_from_others(request: SeenRequest, items: tuple[Item, ...], histories: Histories) -> Verdict:
    foreign = next((item for item in items if item.name.startswith("foreign/")), None)
    if foreign is not None:
        said = f"{foreign.name.removeprefix('foreign/')} leaked from another run of this trace"
        return Contradiction(said, [], [item_json(foreign) | {"label": "leaked from another run"}])
    return _without(request, items, histories, histories.of_strangers(request.turn or ""))


def _without(request: SeenRequest, items: tuple[Item, ...], histories: Histories, foreign: frozenset[str]) -> Verdict:
    turn = request.turn or ""
    leaked = next((item for item in items if histories.turn_of(item.name) in foreign), None)
    if leaked is None:
        return histories.some_begun(foreign, turn, request.step)
    label = histories.lineage.label(leaked.name, histories.session[turn])
    return Contradiction(f"{leaked.name} {label}", [], [item_json(leaked) | {"label": label}])


def _once_and_in_order(request: SeenRequest, items: tuple[Item, ...], histories: Histories) -> Verdict:
    turns = {turn: place for place, turn in enumerate(histories.path_at(request.turn or ""))}
    known = [i for i in items if i.name in histories.order and histories.turn_of(i.name) in turns]

    def place(item: Item) -> tuple[int, int]:
        return turns[histories.turn_of(item.name) or ""], histories.order[item.name]

    count = Counter(item.name for item in known)
    twice = next((item for item in known if count[item.name] > 1), None)
    if twice is not None:
        one = [item_json(twice)]
        return Contradiction(f"{twice.name} stands {count[twice.name]} times", one, one * count[twice.name])
    wrong = next((pair for pair in pairwise(known) if place(pair[1]) < place(pair[0])), None) or _before_call(known)
    if wrong is not None:
        late, early = wrong
        pair = [item_json(early), item_json(late)]
        return Contradiction(f"{late.name} stands before {early.name}, which is older", pair, pair[::-1])
    return len(known) > 1


def _before_call(known: list[Item]) -> tuple[Item, Item] | None:
    """A result that stands before its own call, and the call."""
    begun: dict[str, Item] = {}
    for item in known:
        name, _, kind = item.name.rpartition(".")
        if kind == "result":
            begun[name] = item
        elif kind == "call" and name in begun:
            return begun[name], item
    return None


RULES: Final[Mapping[str, Rule]] = {
    "TOOL-1": _paired,
    "CUT-1": _nothing_from_after,
    "ISO-2": _nothing_from_others,
    "CUT-4": _once_and_in_order,
}


def _times(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
