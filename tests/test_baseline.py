"""The baseline is strict both ways (design section 6)."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner

from forkproof.conformance.baseline import Baseline, BaselineError, Deviation, check_baseline, load_baseline
from forkproof.conformance.baseline_update import write_baseline
from forkproof.conformance.cli.baseline import baseline as command
from forkproof.conformance.verdict import CheckResult, Verdict, exit_code, fingerprint
from forkproof.reports.events import RunStarted
from forkproof.reports.redaction import Redactor
from forkproof.reports.runlog import RunLog
from tests import sample_runs as sample

FAILED = CheckResult(
    id="cut/story::CUT-1", trace="cut/story", clause="CUT-1", level="MUST", step=3, verdict=Verdict.FAIL,
    reason="write.user leaked", fingerprint="0123456789ab",
)  # fmt: skip
PASSED = replace(FAILED, verdict=Verdict.PASS, reason="", fingerprint="")
TEXT = """
harness: codex
versions: [1.0.0]
deviations:
  - check: cut/story::CUT-1
    fingerprint: 0123456789ab
    reason: Codex keeps the message after the cut.
"""


def baseline(tmp_path: Path, text: str = TEXT, today: date = date(2026, 1, 1)) -> Baseline:
    path = tmp_path / "deviations.yaml"
    path.write_text(text, encoding="utf-8")
    return load_baseline(path, today)


def test_a_known_failure_is_expected(tmp_path: Path) -> None:
    """The same check failing in the same way is XFAIL, with the reason that was written down."""
    result = baseline(tmp_path).apply(FAILED)
    assert (result.verdict, result.baseline) == (Verdict.XFAIL, "Codex keeps the message after the cut.")


def test_an_unexpected_pass_is_no_good_news_for_ci(tmp_path: Path) -> None:
    """A known failure that passes means a stale baseline: exit 1."""
    result = baseline(tmp_path).apply(PASSED)
    assert result.verdict is Verdict.XPASS
    assert exit_code([result.verdict]) == 1


def test_another_failure_of_a_known_check_is_unexpected(tmp_path: Path) -> None:
    """Another fingerprint is another failure, and says so."""
    result = baseline(tmp_path).apply(replace(FAILED, fingerprint="ffffffffffff"))
    assert result.verdict is Verdict.FAIL
    assert "fails in another way: ffffffffffff" in result.reason


def test_an_expired_deviation_no_longer_excuses(tmp_path: Path) -> None:
    """The last day counts, the day after does not."""
    text = TEXT.rstrip() + "\n    expires: 2026-03-01\n"
    assert baseline(tmp_path, text, date(2026, 3, 1)).apply(FAILED).verdict is Verdict.XFAIL
    late = baseline(tmp_path, text, date(2026, 3, 2)).apply(FAILED)
    assert late.verdict is Verdict.FAIL
    assert "expired on 2026-03-01" in late.reason


def test_an_entry_without_a_check_is_stale(tmp_path: Path) -> None:
    """An id that the played traces do not have is found; entries of traces that were not played are left alone."""
    known = baseline(tmp_path)
    assert known.unknown(["cut/story::CUT-2"], ["cut/story"]) == ("cut/story::CUT-1",)
    assert known.unknown(["cut/story::CUT-1"], ["cut/story"]) == ()
    assert known.unknown(["iso/other::ISO-1"], ["iso/other"]) == ()


def test_an_entry_for_a_check_that_no_longer_applies_is_found(tmp_path: Path) -> None:
    """A deviation whose check came to no verdict that could fail proves nothing any more."""
    known = baseline(tmp_path)
    assert known.silent({"cut/story::CUT-1": "NOT_APPLICABLE"}) == ("cut/story::CUT-1",)
    assert known.silent({"cut/story::CUT-1": "XFAIL"}) == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("harness: [", "no YAML"),
        ("harness: codex\n", "versions: Field required"),
        (TEXT.replace("0123456789ab", "123"), "deviations.0.fingerprint"),
        (TEXT.replace("Codex keeps the message after the cut.", "why"), "deviations.0.reason"),
        (TEXT + TEXT.split("deviations:\n")[1], "cut/story::CUT-1 stands twice"),
        (TEXT.replace("CUT-1", "cut one"), "deviations.0.check"),
    ],
)
def test_a_bad_baseline_is_refused_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    """One clear message that names the file and what is wrong in it."""
    with pytest.raises(BaselineError) as error:
        baseline(tmp_path, text)
    assert said in str(error.value)
    assert "deviations.yaml" in str(error.value)


def test_a_baseline_is_for_one_harness(tmp_path: Path) -> None:
    """Codex's deviations excuse nobody else."""
    path = baseline(tmp_path).path
    check_baseline(path, "codex")
    with pytest.raises(BaselineError, match="for codex, the run is for goose"):
        check_baseline(path, "goose")
    with pytest.raises(BaselineError, match="can't read"):
        check_baseline(tmp_path / "missing.yaml", "codex")


RACE = TEXT.rstrip() + "\n    sometimes: 3 of 8\n    or: [ffffffffffff]\n"


@pytest.mark.parametrize(
    ("result", "verdict"),
    [
        (PASSED, Verdict.PASS),
        (FAILED, Verdict.XFAIL),
        (replace(FAILED, fingerprint="ffffffffffff"), Verdict.XFAIL),
        (replace(FAILED, fingerprint="eeeeeeeeeeee"), Verdict.FAIL),
        (replace(FAILED, verdict=Verdict.TIMEOUT, fingerprint="dddddddddddd"), Verdict.TIMEOUT),
    ],
)
def test_a_race_may_pass_and_fails_only_as_it_is_known_to(
    result: CheckResult, verdict: Verdict, tmp_path: Path
) -> None:
    """It is strict in what it fails with; a pass says how often it fails."""
    found = baseline(tmp_path, RACE).apply(result)
    assert found.verdict is verdict
    if verdict is Verdict.PASS:
        assert "known as FAIL in 3 of 8 plays" in found.reason


@pytest.mark.parametrize("often", ["often", "0 of 8", "8 of 8", "9 of 8", "3", "3 of 8 plays", "-1 of 8"])
def test_what_shows_in_no_play_or_in_each_is_no_race(often: str, tmp_path: Path) -> None:
    """`sometimes` is a count of plays, so that a reader can judge what the entry is worth."""
    with pytest.raises(BaselineError, match="in how many plays of how many"):
        baseline(tmp_path, TEXT.rstrip() + f"\n    sometimes: {often!r}\n")


FRESH = replace(FAILED, id="iso/x::ISO-1", verdict=Verdict.TIMEOUT, fingerprint="f" * 12, reason="it hangs")
KNOWN = replace(FAILED, verdict=Verdict.XFAIL)
OTHERWISE = replace(FAILED, fingerprint="e" * 12)


def update(path: Path, *runs: list[CheckResult]) -> tuple[tuple[int, int], dict[str, Deviation]]:
    """How many entries are kept and how many are new, and what stands in the file then."""
    told = write_baseline(path, "codex", "1.1.0", runs)
    return told, dict(load_baseline(path, date.min).deviations)


def test_update_keeps_reasons_that_are_still_true(tmp_path: Path) -> None:
    """A failure that is still the same keeps its reason, a new one gets a TODO, one that is gone goes."""
    path = baseline(tmp_path).path
    told, found = update(path, [FAILED, FRESH])
    assert told == (1, 1)
    assert load_baseline(path, date.min).versions == ("1.1.0",)
    assert found[FAILED.id].reason == "Codex keeps the message after the cut."
    assert found[FRESH.id].reason == "TODO say why: it hangs"
    assert list(update(path, [PASSED, FRESH])[1]) == [FRESH.id]
    assert load_baseline(path, date.min).unexplained() == (FRESH.id,)


def test_update_from_an_excused_run_keeps_what_the_entry_says(tmp_path: Path) -> None:
    """A run with the baseline shows XFAIL: the entry stays as it was, its verdict, url and last day too."""
    text = TEXT.rstrip() + "\n    verdict: TIMEOUT\n    url: https://example.org/1\n    expires: 2026-03-01\n"
    path = baseline(tmp_path, text).path
    before = load_baseline(path, date.min).deviations
    assert update(path, [KNOWN]) == ((1, 0), before)
    assert before[FAILED.id].verdict == "TIMEOUT"


def test_update_leaves_a_race_alone(tmp_path: Path) -> None:
    """One run more, passed or lost in a known way, changes nothing; only what no run had is taken out."""
    path = baseline(tmp_path, RACE).path
    before = load_baseline(path, date.min).deviations
    assert update(path, [PASSED]) == ((1, 0), before)
    assert update(path, [KNOWN]) == ((1, 0), before)
    assert update(path, [replace(KNOWN, fingerprint="f" * 12)]) == ((1, 0), before)
    assert update(path, []) == ((0, 0), {})


def test_update_asks_why_a_race_is_lost_in_a_new_way(tmp_path: Path) -> None:
    """What was known of it stays in the entry."""
    (told, found) = update(baseline(tmp_path, RACE).path, [OTHERWISE])
    entry = found[FAILED.id]
    assert told == (0, 1)
    assert entry.reason.startswith("TODO")
    assert (entry.sometimes, entry.fingerprints) == ("3 of 8", {FAILED.fingerprint, "f" * 12, "e" * 12})


def test_several_runs_tell_a_race(tmp_path: Path) -> None:
    """Failed in some and passed in others; a run without the check says nothing, one that shows no verdict neither."""
    path = tmp_path / "deviations.yaml"
    silent = replace(FAILED, verdict=Verdict.UNOBSERVABLE)
    told, found = update(path, [OTHERWISE, FRESH], [FAILED, FRESH], [PASSED], [], [silent], [FAILED])
    race, always = found[FAILED.id], found[FRESH.id]
    assert told == (0, 2)
    assert (race.sometimes, race.fingerprint, race.or_) == ("3 of 4", FAILED.fingerprint, (OTHERWISE.fingerprint,))
    assert (always.sometimes, always.or_) == ("", ())


def test_several_runs_make_a_race_of_what_was_known_to_fail_each_time(tmp_path: Path) -> None:
    """Its reason stays."""
    told, found = update(baseline(tmp_path).path, [KNOWN], [replace(PASSED, verdict=Verdict.XPASS)])
    assert told == (1, 0)
    assert found[FAILED.id].reason == "Codex keeps the message after the cut."
    assert found[FAILED.id].sometimes == "1 of 2"


def test_the_command_takes_several_runs_of_one_harness(tmp_path: Path) -> None:
    """Runs of two harnesses are refused, and nothing is written."""
    runs = []
    for number, (name, verdict) in enumerate((("codex", "FAIL"), ("codex", "PASS"), ("goose", "FAIL"))):
        check = sample.check("cut/story", "CUT-1", verdict, reason="it leaks", fingerprint="0" * 12)
        began, *events, ended = sample.whole(sample.of_trace("cut/story", check), 1)
        assert isinstance(began, RunStarted)
        with RunLog(tmp_path / str(number), Redactor.of()) as log:
            for event in (replace(began, harness=replace(began.harness, name=name)), *events, ended):
                log.emit(event)
        runs.append(str(tmp_path / str(number)))
    file = tmp_path / "deviations.yaml"
    told = CliRunner().invoke(command, ["update", *runs, str(file)])
    assert (told.exit_code, file.exists()) == (3, False)
    assert "a baseline is of one harness" in told.output
    told = CliRunner().invoke(command, ["update", *runs[:2], str(file)])
    assert (told.exit_code, told.output) == (0, f"{file}: 0 kept, 1 new (write down why, in place of TODO)\n")
    (entry,) = load_baseline(file, date.min).deviations.values()
    assert entry.sometimes == "1 of 2"


@pytest.mark.parametrize(
    ("seen", "code"),
    [
        (["PASS"], 0),
        (["PASS", "WARN", "XFAIL", "NOT_APPLICABLE", "UNOBSERVABLE"], 0),
        (["PASS", "FAIL"], 1),
        (["PASS", "XPASS"], 1),
        (["PASS", "TIMEOUT"], 2),
        (["PASS", "CRASH"], 2),
        (["PASS", "UNTESTABLE"], 2),
        (["FAIL", "CRASH"], 1),
        (["FAIL", "SUITE_ERROR"], 4),
        ([], 2),
        (["NOT_APPLICABLE", "UNOBSERVABLE"], 2),
    ],
)
def test_exit_codes(seen: list[str], code: int) -> None:
    """0 ok, 1 failures, 2 incomplete, 4 suite error; a run that checked nothing is never 0 (design section 6)."""
    assert exit_code([Verdict(v) for v in seen]) == code


def test_a_stale_baseline_and_an_interrupted_run_are_never_ok() -> None:
    """Passing checks do not hide either of them."""
    assert exit_code([Verdict.PASS], stale_baseline=True) == 1
    assert exit_code([Verdict.PASS], complete=False) == 2


def test_fingerprints_tell_failures_apart() -> None:
    """Another verdict, clause or difference is another fingerprint; the order of keys is not."""
    base = fingerprint(Verdict.FAIL, "CUT-1", {"a": 1, "b": 2}, [1])
    assert base == fingerprint(Verdict.FAIL, "CUT-1", {"b": 2, "a": 1}, [1])
    others = [
        fingerprint(Verdict.TIMEOUT, "CUT-1", {"a": 1, "b": 2}, [1]),
        fingerprint(Verdict.FAIL, "CUT-2", {"a": 1, "b": 2}, [1]),
        fingerprint(Verdict.FAIL, "CUT-1", {"a": 1, "b": 2}, [2]),
    ]
    assert len({base, *others}) == 4
