"""The baseline is strict both ways (design section 6)."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from forkproof.conformance.baseline import Baseline, BaselineError, check_baseline, load_baseline, write_baseline
from forkproof.conformance.verdict import CheckResult, Verdict, exit_code, fingerprint

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


def test_only_a_race_fails_in_several_ways(tmp_path: Path) -> None:
    """A check that fails each time does so in one way."""
    with pytest.raises(BaselineError, match="`or` is for a race"):
        baseline(tmp_path, TEXT.rstrip() + "\n    or: [ffffffffffff]\n")


def test_update_leaves_a_race_that_passes_alone(tmp_path: Path) -> None:
    """With all that its entry says; a new way to fail is for a person to explain, and what was known stays with it."""
    path = tmp_path / "deviations.yaml"
    path.write_text(RACE, encoding="utf-8")
    before = load_baseline(path, date.min).deviations
    assert write_baseline(path, "codex", "1.0.0", [], passed={FAILED.id}) == (1, 0)
    assert load_baseline(path, date.min).deviations == before
    row = {"id": FAILED.id, "verdict": "XFAIL", "fingerprint": "ffffffffffff", "reason": "as ever"}
    assert write_baseline(path, "codex", "1.0.0", [row]) == (1, 0)
    assert load_baseline(path, date.min).deviations == before
    assert write_baseline(path, "codex", "1.0.0", [row | {"verdict": "FAIL", "fingerprint": "eeeeeeeeeeee"}]) == (0, 1)
    (entry,) = load_baseline(path, date.min).deviations.values()
    assert entry.reason.startswith("TODO")
    assert entry.fingerprints == {"0123456789ab", "ffffffffffff", "eeeeeeeeeeee"}
    write_baseline(path, "codex", "1.0.0", [])
    assert not load_baseline(path, date.min).deviations, "it was not played, or is not what it was"


def test_update_keeps_what_a_person_wrote_into_an_entry(tmp_path: Path) -> None:
    """The url and the last day too."""
    path = tmp_path / "deviations.yaml"
    path.write_text(TEXT.rstrip() + "\n    url: https://example.org/1\n    expires: 2026-03-01\n", encoding="utf-8")
    before = load_baseline(path, date.min).deviations
    row = {"id": FAILED.id, "verdict": "XFAIL", "fingerprint": FAILED.fingerprint, "reason": "as ever"}
    assert write_baseline(path, "codex", "1.0.0", [row]) == (1, 0)
    assert load_baseline(path, date.min).deviations == before


def test_update_keeps_reasons_that_are_still_true(tmp_path: Path) -> None:
    """A failure that is still the same keeps its reason, a new one gets a TODO, one that is gone goes."""
    path = baseline(tmp_path).path
    same = {"id": FAILED.id, "verdict": "FAIL", "fingerprint": FAILED.fingerprint, "reason": "leak"}
    fresh = {"id": "iso/x::ISO-1", "verdict": "TIMEOUT", "fingerprint": "ffffffffffff", "reason": "it hangs"}
    assert write_baseline(path, "codex", "1.1.0", [same, fresh]) == (1, 1)
    found = load_baseline(path, date(2026, 1, 1))
    assert found.versions == ("1.1.0",)
    assert found.deviations[FAILED.id].reason == "Codex keeps the message after the cut."
    assert found.deviations["iso/x::ISO-1"].reason == "TODO say why: it hangs"
    write_baseline(path, "codex", "1.1.0", [fresh])
    left = load_baseline(path, date(2026, 1, 1))
    assert list(left.deviations) == ["iso/x::ISO-1"]
    assert left.unexplained() == ("iso/x::ISO-1",)


def test_update_from_an_excused_run_keeps_what_the_entry_says(tmp_path: Path) -> None:
    """A run with the baseline shows XFAIL: the entry stays as it was, its verdict too."""
    path = baseline(tmp_path, TEXT.rstrip() + "\n    verdict: TIMEOUT\n").path
    row = {"id": FAILED.id, "verdict": "XFAIL", "fingerprint": FAILED.fingerprint, "reason": "leak"}
    assert write_baseline(path, "codex", "1.0.0", [row]) == (1, 0)
    assert load_baseline(path, date(2026, 1, 1)).deviations[FAILED.id].verdict == "TIMEOUT"


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
