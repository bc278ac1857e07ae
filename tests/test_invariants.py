"""Rules for the invariants: which traces have them, what breaks them, and what a harness may do without harm."""

from dataclasses import replace

import pytest

from forkproof.adapters.inprocess import ReferenceAdapter
from forkproof.adapters.mutated import mutated
from forkproof.conformance.contract import load_contract
from forkproof.conformance.histories import Histories
from forkproof.conformance.invariants import INVARIANTS, invariants_of
from forkproof.conformance.trace.load import discover, load, load_bytes
from forkproof.reference import mutants
from forkproof.reference.entries import Answered, Entry
from forkproof.reference.prompt import Message, Text
from forkproof.reference.repair import pair
from forkproof.reference.rules import RULES
from tests.broken_references import play

STORY = """
trace: 1
title: Two sessions with a call
needs: [fork.before]
steps:
  - turn: plan
    user: Plan it.
    model: [{call: look, read: plan.txt}, {say: Three stages.}]
  - turn: build
    user: Build it.
    model: [{say: Built.}]
  - fork: alt
    before: build
  - turn: retry
    in: alt
    user: Try another way.
    model: [{say: Fine.}]
  - turn: again
    in: alt
    user: Once more.
    model: [{say: Fine again.}]
    expect:
      - CUT-2: {prompt_has: [again.user]}
  - turn: back
    user: And here?
    model: [{say: Here too.}]
"""


def verdicts(name: str, story: str = STORY) -> dict[str, str]:
    """The invariants' verdicts on this mutant, by clause; the empty name is the reference."""
    mutant = mutants.named(name)
    adapter = ReferenceAdapter if mutant is None else lambda: mutated(mutant)
    checks = play(adapter, story).checks.values()
    return {check.clause: check.verdict for check in checks if "::invariant/" in check.id}


def test_a_good_harness_passes_with_the_requests_as_witness() -> None:
    """A PASS names the requests that were looked at and that could have broken it."""
    checks = play(ReferenceAdapter, STORY).checks
    assert {c.clause: c.verdict for c in checks.values() if "::invariant/" in c.id} == dict.fromkeys(INVARIANTS, "PASS")
    assert checks["area/story::invariant/CUT-1"].witness == {"requests": [3, 4]}
    assert checks["area/story::invariant/ISO-2"].witness == {"requests": [5]}


@pytest.mark.parametrize(
    ("name", "clause"),
    [
        ("whole-history", "CUT-1"),
        ("cut-keeps-its-message", "CUT-1"),
        ("source-goes-on-in-child", "ISO-2"),
        ("prefix-twice", "CUT-4"),
        ("past-calls-without-results", "TOOL-1"),
        ("past-results-without-calls", "TOOL-1"),
        ("past-results-twice", "TOOL-1"),
    ],
)
def test_a_broken_one_fails_whatever_the_trace_expects(name: str, clause: str) -> None:
    """The story's only expectation holds for all of them."""
    assert verdicts(name)[clause] == "FAIL"


def test_a_failure_shows_the_smallest_contradiction() -> None:
    """One item with where it comes from, not the whole prompt."""
    mutant = mutants.named("whole-history")
    assert mutant is not None
    check = play(lambda: mutated(mutant), STORY).checks["area/story::invariant/CUT-1"]
    assert check.reason == "request 3 (turn retry, session alt): build.user leaked from after the cut of main"
    assert check.expected == {"prompt": []}
    assert check.seen == {
        "prompt": [{"item": "build.user", "role": "user", "label": "leaked from after the cut of main"}]
    }
    assert check.step == 3


def test_order_is_told_by_the_two_items_that_stand_wrong() -> None:
    """The older one is named as what should stand first."""
    story = STORY.replace("before: build", "head: true").replace("fork.before", "fork.head")
    mutant = mutants.named("prefix-turns-swapped")
    assert mutant is not None
    check = play(lambda: mutated(mutant), story).checks["area/story::invariant/CUT-4"]
    assert check.verdict == "FAIL"
    assert "build.say stands before plan.user" in check.reason


def _speaks_of(entries: list[Entry]) -> list[Message]:
    """A harness that tells the model, in a reminder, of what was called and said before."""
    said = [
        part.content for e in entries if isinstance(e.body, Answered) for part in e.body.parts if isinstance(part, Text)
    ]
    return [Message("system", (Text("Said so far: " + " ".join(said)),)), *pair(entries)]


def test_text_that_only_speaks_of_items_breaks_nothing() -> None:
    """An item counts in its own role: a reminder that quotes an answer is no second answer."""
    rules = replace(RULES, pair=lambda entries: _speaks_of(list(entries)))
    checks = play(lambda: ReferenceAdapter(rules=rules), STORY).checks
    assert {c.verdict for c in checks.values() if "::invariant/" in c.id} == {"PASS"}


def test_calls_that_did_not_end_may_be_left_out() -> None:
    """A harness need not show a call that was interrupted, as long as it shows no half of it."""
    story = """
trace: 1
title: An interrupted call
needs: [fork.head, cancel]
steps:
  - turn: long
    user: Run it.
    model: [{call: job, wait: forever}]
    until: job.started
  - cancel: main
  - fork: alt
    head: true
  - turn: ask
    in: alt
    user: What ran?
    model: [{say: Nothing.}]
    expect:
      - TOOL-3: {prompt_has: [ask.user]}
"""
    assert verdicts("interruption-forgotten", story) == {"TOOL-1": "NOT_APPLICABLE", "CUT-4": "PASS"}
    assert verdicts("unfinished-call-alone", story)["TOOL-1"] == "FAIL"


def test_a_trace_has_only_the_invariants_that_it_could_break() -> None:
    """Where no call, no fork and no second turn is, nothing could be found."""
    story = """
trace: 1
title: One turn
steps:
  - turn: only
    user: Hello.
    model: [{say: Hello.}]
    expect:
      - SET-3: {stop: end_turn}
"""
    assert invariants_of(load_bytes(story.encode(), slug="area/one")) == ()


def test_nothing_is_said_of_sessions_that_items_may_be_carried_into() -> None:
    """A step of a kind that is not known to leave histories apart switches leaks off."""
    loaded = load_bytes(STORY.encode(), slug="area/story")
    histories = Histories.of(loaded.trace)
    assert histories.beyond_the_cut("retry") == {"build", "back"}
    assert replace(histories, plain=False).beyond_the_cut("retry") == frozenset()


def test_invariants_are_clauses_of_the_contract() -> None:
    """Their level and text come from there."""
    assert set(INVARIANTS) <= set(load_contract().clauses)


def test_most_shipped_traces_have_some() -> None:
    """They are the net below every trace: most tell of a fork, or of a call."""
    found = [invariants_of(load(path)) for path in discover()]
    assert sum(map(bool, found)) > len(found) * 0.8


def test_calls_that_share_an_id_are_not_judged() -> None:
    """Which of them a request shows is a guess, and a guess fails nobody."""
    story = """
trace: 1
title: One id for two calls
needs: [fork.head]
steps:
  - turn: first
    user: Look.
    model: [{call: one, read: a.txt}, {say: Seen.}]
  - turn: second
    user: Look again.
    model: [{call: two, same_id_as: one, read: b.txt}, {call: three, read: c.txt}, {say: Seen.}]
    expect:
      - TOOL-5: {stop: end_turn}
"""
    assert Histories.of(load_bytes(story.encode(), slug="area/ids").trace).ambiguous == {"one", "two"}


def test_calls_made_together_may_each_stand_before_its_own_result() -> None:
    """Providers differ there: all calls and then all results, or one pair after the other."""
    story = """
trace: 1
title: Two calls at once
needs: [fork.head]
steps:
  - turn: both
    user: Read both.
    model: [{together: [{call: one, read: a.txt}, {call: two, read: b.txt}]}, {say: Read.}]
  - turn: next
    user: And?
    model: [{say: Nothing.}]
    expect:
      - TOOL-5: {stop: end_turn}
"""
    order = Histories.of(load_bytes(story.encode(), slug="area/both").trace).order
    assert order["one.call"] == order["one.result"] == order["two.call"] == order["two.result"] < order["both.say"]
