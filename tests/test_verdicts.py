"""Every verdict has an example that earns it: the reference passes, and one broken harness fails for that reason."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forkproof.adapters.inprocess import ReferenceAdapter
from forkproof.adapters.protocol import Adapter
from forkproof.conformance.engine import Played
from tests import broken_references as broken
from tests.broken_references import play

STORY = """
trace: 1
title: A fork before an edit
needs: [fork.before, tool.write]
files: {notes.md: draft}
steps:
  - turn: plan
    user: Plan.
    model: [{say: Planned.}]
  - turn: write
    user: Write.
    model: [{call: edit, write: {parser.py: v1}}, {say: Written.}]
  - fork: alt
    before: write
    expect:
      - REC-1: {record: {source: main, cut: {before: write}}}
      - OPS-2: {requests: 0}
  - turn: retry
    in: alt
    user: Again.
    model: [{say: Fine.}]
    expect:
      - CUT-1: {prompt: [plan.user, plan.say, retry.user]}
      - CUT-2: {prompt_lacks: [write.user, edit.result]}
      - ENV-2: {files: {notes.md: draft, parser.py: v1}}
      - REC-5: {prompt_has: [plan.say]}
  - check: main
    expect:
      - ISO-1: {same_next_prompt_without: [alt]}
"""

UNKNOWN = """
trace: 1
title: An unknown cut
needs: [fork.before]
steps:
  - turn: plan
    user: Plan.
    model: [{say: Planned.}]
  - fork: alt
    before: {unknown: ghost}
    expect:
      - CUT-5: {refused: unknown-cut, requests: 0}
"""

COMPACTED = """
trace: 1
title: A compaction
needs: [compact]
steps:
  - turn: plan
    user: Plan.
    model: [{say: Planned.}]
  - turn: more
    user: More.
    model: [{say: Enough.}]
  - compact: squeeze
    model: [{say: A plan.}]
    expect:
      - CMP-7: {requests: 1}
  - turn: next
    user: Next.
    model: [{say: Done.}]
    expect:
      - CMP-2: {prompt_has: [squeeze.summary]}
      - CMP-4: {prompt_lacks: [squeeze.summary]}
"""


def verdicts(played: Played) -> dict[str, str]:
    """The verdicts of the trace's own checks; its invariants have tests of their own."""
    found = {id_.partition("::")[2]: event.verdict for id_, event in played.checks.items()}
    return {id_: verdict for id_, verdict in found.items() if not id_.startswith("invariant/")}


def reason(played: Played, clause: str) -> str:
    return next(e.reason for e in played.checks.values() if e.clause == clause)


def test_the_reference_passes_with_a_witness_for_each_check() -> None:
    """A PASS names what was seen in this run; without a witness it would be worth nothing (design section 6)."""
    played = play(ReferenceAdapter, STORY)
    assert set(verdicts(played).values()) == {"PASS"}
    assert all(event.witness for event in played.checks.values())
    assert all(not event.fingerprint for event in played.checks.values())


@pytest.mark.parametrize(
    ("factory", "clause", "said"),
    [
        (broken.ForksTheHead, "CUT-1", "write.user leaked from after the cut of main"),
        (broken.ForksTheHead, "CUT-2", "the request holds what it must not"),
        (broken.ForksTheHead, "REC-1", "cut is {'head': True}, not {'before': 'write'}"),
        (broken.CutsOneTooEarly, "CUT-1", "plan.user is lost"),
        (broken.RollsBackFiles, "ENV-2", "parser.py is missing"),
        (broken.RunsAtTheFork, "OPS-2", "1 requests were sent, not 0"),
        (broken.AsksTwice, "CUT-1", "off script"),
        (broken.DerivesItsRecord, "REC-1", "source is nowhere in the record; cut is not reported by the harness"),
        (broken.RefusesForks, "REC-1", "the fork was refused: not today"),
        (broken.CannotFork, "REC-1", "the fork was not supported: forks"),
        (broken.LosesTheAnswer, "REC-1", "the fork was left without a clear answer: the pipe broke"),
    ],
)
def test_a_broken_harness_fails_for_its_own_reason(factory: Callable[[], Adapter], clause: str, said: str) -> None:
    """The clause that the fault breaks fails, and says what is wrong in the trace's own names."""
    played = play(factory, STORY)
    assert verdicts(played)[clause] == "FAIL"
    assert said in reason(played, clause)


def test_a_broken_should_only_warns() -> None:
    """REC-5 is a SHOULD: what would be a FAIL of a MUST is a WARN there."""
    played = play(broken.CutsOneTooEarly, STORY)
    assert verdicts(played)["REC-5"] == "WARN"


def test_without_a_channel_a_field_is_unobservable_not_wrong() -> None:
    """What no route shows is said to be unobservable: neither a pass nor a failure (design section 6)."""
    assert verdicts(play(broken.ShowsNoRecord, STORY))["REC-1"] == "UNOBSERVABLE"


def test_after_a_refused_fork_the_child_can_not_be_tested() -> None:
    """A prerequisite that never happened leaves its checks untestable, never passed and never skipped."""
    found = verdicts(play(broken.RefusesForks, STORY))
    assert {found[c] for c in ("CUT-1", "CUT-2", "ENV-2", "OPS-2")} == {"UNTESTABLE"}
    assert found["ISO-1"] == "PASS", "the refused attempt left the source as it was"


@pytest.mark.parametrize(
    ("factory", "verdict", "said"),
    [
        (broken.DiesAtStart, "CRASH", "[start-failed] exit code 127 (hint: reinstall it)"),
        (broken.DiesAtTheFork, "CRASH", "[harness-died] killed by SIGSEGV"),
        (broken.TalksGarbage, "CRASH", "[garbage] not JSON"),
        (broken.HangsAtTheFork, "TIMEOUT", "[harness-hung] no answer within 0.2 s to Fork"),
    ],
)
def test_a_harness_that_breaks_ends_its_trace(factory: Callable[[], Adapter], verdict: str, said: str) -> None:
    """Every check that was not reached gets the error's verdict, with cause and hint; what was seen is kept."""
    played = play(factory, STORY, deadline=0.2)
    assert set(verdicts(played).values()) == {verdict}
    assert said in reason(played, "CUT-1")
    assert played.observed.status == "ended"
    assert played.observed.error is not None
    if factory is not broken.DiesAtStart:
        assert [r["turn"] for r in played.observed.requests] == ["plan", "write", "write"]


def test_an_exception_of_ours_is_a_suite_error() -> None:
    """What is our fault is never the harness's failure; the record keeps the traceback."""
    played = play(broken.BreaksOurCode, STORY)
    assert set(verdicts(played).values()) == {"SUITE_ERROR"}
    assert "KeyError" in reason(played, "CUT-1")
    assert "Traceback" in played.notes[0].volatile["traceback"]


def test_a_record_that_can_not_be_made_is_a_suite_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was seen but can't be written down ends as a verdict too, and not in silence."""

    def spoiled(*_: object) -> None:
        raise TypeError("not JSON")

    monkeypatch.setattr("forkproof.conformance.engine.observed", spoiled)
    played = play(ReferenceAdapter, STORY)
    assert set(verdicts(played).values()) == {"SUITE_ERROR"}
    assert "not JSON" in reason(played, "CUT-1")


def test_an_undeclared_capability_is_not_applicable() -> None:
    """What a harness does not declare is no pass and no failure, and no process is started for it."""
    played = play(broken.DeclaresNothing, STORY)
    assert {event.verdict for event in played.checks.values()} == {"NOT_APPLICABLE"}
    assert "does not declare fork.before, tool.write" in reason(played, "CUT-1")


def test_an_unknown_cut_must_be_refused() -> None:
    """CUT-5: the reference refuses; a harness that forks something else fails."""
    assert verdicts(play(ReferenceAdapter, UNKNOWN)) == {"CUT-5": "PASS"}
    accepted = play(broken.AcceptsUnknownCuts, UNKNOWN)
    assert verdicts(accepted) == {"CUT-5": "FAIL"}
    assert "was not refused" in reason(accepted, "CUT-5")
    both = UNKNOWN + "  - check: main\n    expect:\n      - ISO-1: {same_next_prompt_without: [alt]}\n"
    assert verdicts(play(broken.CannotFork, both)) == {"CUT-5": "UNOBSERVABLE", "ISO-1": "UNOBSERVABLE"}


def test_lacking_what_never_was_proves_nothing() -> None:
    """A harness that never asked for a summary can't pass a check that the summary is left out (vacuity)."""
    found = verdicts(play(broken.CompactsWithoutAsking, COMPACTED))
    assert found["CMP-7"] == "UNTESTABLE"
    assert found["CMP-4"] == "UNTESTABLE"
    assert found["CMP-2"] == "FAIL"
    assert verdicts(play(ReferenceAdapter, COMPACTED)) == {"CMP-7": "PASS", "CMP-2": "PASS", "CMP-4": "FAIL"}


PAIRS = """
trace: 1
title: Pairs
needs: [tool.run]
steps:
  - turn: look
    user: Look.
    model: [{call: here, run: pwd}, {say: Here.}]
    expect:
      - TOOL-1: {paired: true}
  - turn: more
    user: More.
    model: [{say: No more.}]
    expect:
      - TOOL-1: {paired: true}
"""


def test_pairing_is_judged_on_every_request_of_the_turn() -> None:
    """TOOL-1: a call whose result is left out fails, and where no call was sent nothing was tested."""
    assert verdicts(play(ReferenceAdapter, PAIRS)) == {"TOOL-1": "PASS", "TOOL-1#2": "PASS"}
    dropped = play(broken.DropsResults, PAIRS)
    assert verdicts(dropped)["TOOL-1#2"] == "FAIL"
    assert "here.call without its counterpart" in dropped.checks["area/story::TOOL-1#2"].reason
    silent = play(ReferenceAdapter, PAIRS.replace("{call: here, run: pwd}, ", "").replace("needs: [tool.run]", ""))
    assert set(verdicts(silent).values()) == {"UNTESTABLE"}


def test_a_control_run_that_left_nothing_out_proves_nothing() -> None:
    """Equal prompts of two equal runs are no witness: a step that never was played can't be what made no difference."""
    story = STORY.replace("same_next_prompt_without: [alt]", "same_next_prompt_without: [nobody]")
    assert verdicts(play(ReferenceAdapter, story))["ISO-1"] == "UNTESTABLE"


def test_the_same_failure_has_the_same_fingerprint() -> None:
    """Another seed, another run: the fingerprint tells the failure, nothing that varies."""
    first, second = play(broken.ForksTheHead, STORY), play(broken.ForksTheHead, STORY)
    other = play(broken.CutsOneTooEarly, STORY)
    prints = [{e.clause: e.fingerprint for e in p.checks.values()} for p in (first, second, other)]
    assert prints[0] == prints[1]
    assert prints[0]["CUT-1"] != prints[2]["CUT-1"]


def test_a_replay_command_names_the_check_and_the_seed() -> None:
    """A person can play the one check again as it was."""
    event = play(broken.ForksTheHead, STORY).checks["area/story::CUT-1"]
    assert event.replay == f"forkproof run broken area/story::CUT-1 --seed {broken.SEED}"
