"""Random histories for tests of the reference: turns with calls answered or not, interrupted ones, and compactions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

from hypothesis import strategies as st

from forkproof.reference.compact import checkpoint_of, plan
from forkproof.reference.entries import (
    Answered,
    Body,
    Entry,
    Stamp,
    Stop,
    ToolEnded,
    TurnEnded,
    UserSaid,
    append,
)
from forkproof.reference.project import active
from forkproof.reference.prompt import Text, ToolCall

CALL_IDS = ("a", "b", "c")
"""Few, so that ids are used again in later turns and sometimes twice in one answer (clause TOOL-5)."""


@dataclass(frozen=True)
class Answer:
    """One answer of the model and the results behind it, in the order in which they came."""

    calls: tuple[str, ...]
    results: tuple[str, ...]


@dataclass(frozen=True)
class Turn:
    """One turn."""

    answers: tuple[Answer, ...]
    stop: Stop


@dataclass(frozen=True)
class Compaction:
    """A compaction, with so many turns kept."""

    retained: int


Event = Turn | Compaction


@dataclass
class Told:
    """A history that was written down. `before` and `after` hold, by turn, the leaf before and behind it."""

    leaf: Entry | None = None
    turns: dict[str, Entry] = field(default_factory=dict)
    before: dict[str, Entry | None] = field(default_factory=dict)
    after: dict[str, Entry] = field(default_factory=dict)
    _numbers: count[int] = field(default_factory=lambda: count(1))

    def add(self, body: Body, turn: str = "") -> Entry:
        """Write one entry; all share one timestamp, since nothing may depend on times (clauses CUT-3, CUT-4)."""
        self.leaf = append(self.leaf, body, Stamp(f"e{next(self._numbers)}", "s", turn, 1000))
        return self.leaf

    def tell(self, event: Event) -> None:
        """Write one event."""
        if isinstance(event, Compaction):
            planned = plan(active(self.leaf), event.retained)
            if planned is not None:
                self.add(checkpoint_of(planned, "s", f"summary {next(self._numbers)}"))
            return
        turn = f"t{next(self._numbers)}"
        self.before[turn] = self.leaf
        self.turns[turn] = self.add(UserSaid(f"ask {turn}"), turn)
        for answer in event.answers:
            parts = tuple(ToolCall(call, "run", "true") for call in answer.calls)
            self.add(Answered((Text(f"say {next(self._numbers)}"), *parts), answer.calls), turn)
            for result in answer.results:
                self.add(ToolEnded(result, f"output {next(self._numbers)}"), turn)
        self.after[turn] = self.add(TurnEnded(event.stop), turn)


def told(events: Sequence[Event]) -> Told:
    """These events, written down."""
    story = Told()
    for event in events:
        story.tell(event)
    return story


_calls = st.lists(st.sampled_from(CALL_IDS), max_size=3).map(tuple)
_results = st.lists(st.sampled_from((*CALL_IDS, "orphan")), max_size=4).map(tuple)
_stops: st.SearchStrategy[Stop] = st.sampled_from(("end_turn", "failed", "cancelled"))


def _sound(calls: tuple[str, ...]) -> Answer:
    return Answer(calls, calls)


def turns(answers: st.SearchStrategy[Answer]) -> st.SearchStrategy[Turn]:
    """Turns of such answers."""
    return st.builds(Turn, st.lists(answers, max_size=3).map(tuple), _stops)


wild_answers = st.builds(Answer, _calls, _results)
"""Results may be missing, doubled, out of order or without a call."""

sound_answers = _calls.map(_sound)
"""Each call has its result, in order."""

compactions = st.builds(Compaction, st.integers(0, 3))

wild_histories = st.lists(turns(wild_answers) | compactions, max_size=8).map(told)
plain_histories = st.lists(turns(wild_answers), min_size=1, max_size=8).map(told)
"""Without compactions, and with one turn at least."""

histories_with_turns = (
    st.lists(turns(wild_answers) | compactions, min_size=1, max_size=8)
    .map(told)
    .filter(lambda story: bool(story.turns))
)
