"""The console: what a person sees of a run, at 80 columns without colour, as golden texts; and the diffs in it.

To renew the golden texts after a change that is meant: `FORKPROOF_RENEW_SNAPSHOTS=1 pytest tests/test_console.py`, and
read the difference before keeping it.
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forkproof.reports.console import Console, Options
from forkproof.reports.diff import Line, collapse, diff_fields, diff_files, diff_items, diff_texts, differences, item
from forkproof.reports.events import Checked, Event, Note, TraceStarted
from forkproof.reports.failures import Breakdown, Failure, failures
from forkproof.reports.grid import draw_matrix
from forkproof.reports.matrix import Column, matrix
from forkproof.reports.plain import plain
from forkproof.reports.screen import Screen
from forkproof.reports.tally import headline, outcome, phrase
from tests import sample_runs as sample

SNAPSHOTS = Path(__file__).parent / "snapshots"
LOG = Path("out/codex/run.jsonl")
SHARED = "cut/edit-then-fork-shared"


class Terminal(io.StringIO):
    """A stream that says that a person looks at it."""

    def isatty(self) -> bool:
        """Yes."""
        return True


class Latin(io.StringIO):
    """A stream that can't encode the marks."""

    encoding = "iso-8859-1"


def shown(
    events: Sequence[Event],
    options: Options | None = None,
    file: io.StringIO | None = None,
    environ: dict[str, str] | None = None,
) -> str:
    """What the console prints of these events."""
    file = file or io.StringIO()
    console = Console(sample.CLAUSES, options or Options(width=80, run_log=LOG), file=file, environ=environ or {})
    for event in events:
        console.emit(event)
    console.close()
    return file.getvalue()


RUNS = {
    "green": sample.green(),
    "prompt-failure": sample.whole(
        sample.of_trace(SHARED, sample.check(SHARED, "REC-1"), sample.prompt_failure(), sample.check(SHARED, "ENV-2")),
        1,
    ),
    "failures": sample.red(),
    "crash": sample.crashed(),
    "baseline": sample.baselined(),
    "truncated": sample.red()[:8],
}


@pytest.mark.parametrize("name", RUNS)
def test_golden_text(name: str) -> None:
    """The whole console text of a run is as it was reviewed; no line is wider than 80 columns or ends in blanks."""
    text = shown(RUNS[name])
    golden = SNAPSHOTS / f"console-{name}.txt"
    if os.environ.get("FORKPROOF_RENEW_SNAPSHOTS"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if len(line) > 80 or line != line.rstrip()] == []


def test_failures_stand_first_and_the_verdict_last() -> None:
    """The order of the closing report: failures, matrix, warnings, notes, verdict."""
    text = shown(sample.red())
    places = [text.index(part) for part in ("Unexpected failures: 4", "Cut boundary\n", "Warnings: 1", "FAILED  codex")]
    assert places == sorted(places)
    assert text.rstrip().rpartition("\n")[2] == "FAILED  codex 0.171.0: 6 checks, 1 pass, 4 fail, 1 warn; exit 1"


def test_every_failure_can_be_replayed_and_found() -> None:
    """Each unexpected check is shown with its id, its place and a command that stays in one piece, however narrow."""
    text = shown(sample.red(), Options(width=40))
    for check in (e for e in sample.red() if isinstance(e, Checked) and e.verdict == "FAIL"):
        assert f"FAIL  {check.id}" in text
        assert f"{check.file}:{check.line}\n" in text
        assert check.replay + "\n" in text


def test_a_run_cut_off_says_so() -> None:
    """Without an end the verdict is no verdict, and traces that never ran are counted."""
    text = shown(sample.red()[:8])
    assert "the record has no end" in text
    assert "2 of 3 traces were played" in text
    assert "TRUNCATED  codex 0.171.0: " in text
    assert "exit" not in text.splitlines()[-1]


def test_an_interrupted_run_says_why() -> None:
    """A run that a person ended is incomplete, with the reason."""
    events = sample.green()
    events[-1] = sample.ended(events, 2, complete=False, reason="interrupted")
    assert "not complete: interrupted\nINCOMPLETE  codex 0.171.0: " in shown(events)


def test_a_run_that_checked_nothing_does_not_look_good() -> None:
    """No check, no OK: the verdict says that nothing was judged (design section 6)."""
    text = shown([sample.started(0), sample.ended([], 2)])
    assert text.endswith("INCOMPLETE  codex 0.171.0: 0 checks, nothing judged; exit 2\n")


def test_nothing_is_said_of_a_run_that_never_began() -> None:
    """The command line tells what went wrong before a run; the console adds nothing."""
    assert shown([]) == ""


def test_quiet_is_short() -> None:
    """Quiet mode: a line a failure, what is amiss, and the verdict; nothing at all of what went well."""
    lines = shown(sample.red(), Options(quiet=True)).splitlines()
    assert [line.split("  ")[0] for line in lines] == ["FAIL"] * 4 + ["", "warning", "FAILED"]
    assert shown(sample.green(), Options(quiet=True)).count("\n") == 1


def test_a_crash_is_shown_once_with_cause_and_hint() -> None:
    """Traces that broke off alike are one block: code, cause, hint, and the checks that it cost."""
    text = shown(sample.crashed())
    assert text.count("panicked") == 1
    for part in ("[harness-died]", "harness doctor codex", "cut/after-the-last-turn, cut/edit-then-fork-shared"):
        assert part in text


def test_many_broken_traces_are_counted_not_listed() -> None:
    """A harness that never starts breaks all traces; the block stays short."""
    traces = [f"cut/t{n}" for n in range(30)]
    events = [e for t in traces for e in sample.of_trace(t, sample.check(t, "CUT-1", "CRASH"), error=sample.CRASH)]
    text = shown(sample.whole(events, 2))
    assert "1. CRASH  30 traces  [harness-died]" in text
    assert "and 20 more" in text


def test_known_breakdowns_are_no_failures() -> None:
    """A trace that breaks off as the baseline says it does is not among the unexpected."""
    known = sample.check("cut/x", "CUT-1", "XFAIL")
    assert failures([known], {"cut/x": sample.CRASH}) == ()


def test_a_trace_that_broke_off_without_any_check_is_shown() -> None:
    """Nothing that went wrong is swallowed for want of a check to hang it on."""
    assert failures([], {"cut/x": sample.CRASH}) == (Breakdown(sample.CRASH, ("cut/x",), ()),)


def test_failures_of_a_broken_trace_stay_failures() -> None:
    """What was judged before a trace broke off is shown as itself, beside the breakdown."""
    failed, lost = sample.check("cut/x", "CUT-1", "FAIL"), sample.check("cut/x", "ISO-1", "CRASH")
    found = failures([failed, lost], {"cut/x": sample.CRASH})
    assert found == (Breakdown(sample.CRASH, ("cut/x",), (lost,)), Failure(failed))


def test_long_diffs_are_cut_with_a_pointer() -> None:
    """A diff that would fill screens is cut, and says where all of it is."""
    check = replace(
        sample.prompt_failure(),
        expected={"files": {"big.txt": ""}},
        seen={"files": {"big.txt": "".join(f"line {n}\n" for n in range(500))}},
    )
    events = sample.whole(sample.of_trace(check.trace, check), 1)
    text = shown(events, Options(width=100, run_log=LOG))
    assert text.count("\n") < 80
    assert f"… 461 more lines; {LOG} holds them all, in the line of {check.id}" in text
    assert "run again with --out DIR to keep them" in shown(events, Options(width=100))


@pytest.mark.parametrize(
    ("file", "environ", "color", "coloured"),
    [
        (io.StringIO, {}, None, False),
        (Terminal, {"TERM": "xterm-256color"}, None, True),
        (Terminal, {"TERM": "xterm-256color", "NO_COLOR": "1"}, None, False),
        (Terminal, {"TERM": "xterm-256color"}, False, False),
        (Terminal, {"TERM": "dumb"}, None, False),
        (io.StringIO, {"FORCE_COLOR": "1", "TERM": "xterm"}, None, True),
    ],
)
def test_colours_are_for_those_who_want_them(
    file: type[io.StringIO], environ: dict[str, str], color: bool | None, coloured: bool
) -> None:
    """Colours only on a terminal or by FORCE_COLOR, never with NO_COLOR or `--no-color`; the words are the same."""
    text = shown(sample.red(), Options(width=80, live=False, color=color, run_log=LOG), file(), environ)
    assert ("\x1b[" in text) == coloured
    assert coloured or text == shown(sample.red())


def test_a_terminal_has_one_moving_line() -> None:
    """On a terminal good traces leave no line behind, bad ones do, and the progress line is gone at the end."""
    file = Terminal()
    text = shown(sample.red(), Options(width=80, color=False, run_log=LOG), file, {"TERM": "xterm"})
    assert "ok         cut/after-the-last-turn" not in text
    assert "FAIL       cut/edit-then-fork-shared" in text
    assert "\x1b[2K" in text, "the line is erased when it is drawn anew"
    assert text.endswith("FAILED  codex 0.171.0: 6 checks, 1 pass, 4 fail, 1 warn; exit 1\n")


def test_the_moving_line_says_where_the_run_is() -> None:
    """Done and total, the current trace and its seconds, counts, and unexpected failures, in one line of 80 columns."""
    times = iter([10.0, 11.0, 12.0, 30.0])
    console = Console(sample.CLAUSES, Options(width=80), file=io.StringIO(), environ={}, clock=lambda: next(times))
    for event in [*sample.red()[:8], TraceStarted(trace="iso/source-unchanged")]:
        console.emit(event)
    assert console._progress().plain == "  2/3  iso/source-unchanged 18 s  1 pass, 2 fail  2 unexpected"


def test_late_failures_of_mixed_traces_are_shown() -> None:
    """When traces are played at once, a failure that comes after its trace's line still gets a line."""
    first, second = sample.of_trace("cut/a"), sample.of_trace("cut/b")
    late = sample.check("cut/a", "CUT-1", "FAIL")
    text = shown(sample.whole([*first, *second, late], 1))
    assert "\n        FAIL       cut/a::CUT-1\n" in text


def test_narrow_encodings_get_ascii() -> None:
    """A stream that can't encode the marks, or a harness's letters, gets ASCII and no exception."""
    check = replace(sample.prompt_failure(), reason="it said \N{SNOWMAN}")
    text = shown(sample.whole(sample.of_trace(check.trace, check), 1), file=Latin())
    assert text.isascii()
    assert "FAIL 1x" in text
    assert r"\u2603" in text


def test_a_harness_can_not_write_on_the_terminal() -> None:
    """Control sequences and lone surrogates in what a harness said are shown as escapes."""
    assert plain("a\x1b[2J\r\udc80\u202eb é") == r"a\x1b[2J\r\udc80\u202eb é"
    note = Note(level="error", text="\x1b]0;title\x07 [red]markup[/red] :boom:")
    text = shown([*sample.green()[:-1], note])
    assert r"\x1b]0;title\x07 [red]markup[/red] :boom:" in text
    assert "\x1b" not in text


def test_matrix_of_several_harnesses() -> None:
    """Columns are harnesses, rows the clauses that any of them was judged by, in the contract's order."""
    red = [e for e in sample.red() if isinstance(e, Checked)]
    crashed = [e for e in sample.crashed() if isinstance(e, Checked)]
    columns = [Column("codex 0.171.0", red), Column("goose 1.9.0", crashed), Column("reference 1", [])]
    rows = matrix(columns, sample.CLAUSES)
    assert [row.clause.id for row in rows] == ["REC-1", "CUT-1", "CUT-5", "ISO-1", "ENV-2"]
    assert [cell.verdict for cell in rows[1].cells] == ["FAIL", "CRASH", None]
    file = io.StringIO()
    draw_matrix(Screen(file, {}, width=80), columns, sample.CLAUSES)
    lines = file.getvalue().splitlines()
    assert [line.split() for line in lines[:2]] == [["codex", "goose", "reference"], ["0.171.0", "1.9.0", "1"]]
    assert lines[5].split()[-6:] == ["FAIL", "1✗", "1✓", "CRASH", "2!", "-"]
    assert max(map(len, lines)) <= 80


def test_a_clause_that_the_contract_lost_is_still_shown() -> None:
    """A record judged by another contract may hold clauses that this one does not know."""
    (row,) = matrix([Column("x", [sample.check("cut/x", "OLD-9")])], sample.CLAUSES)
    assert (row.clause.id, row.clause.area) == ("OLD-9", "Not in the contract")


def test_words_of_the_verdict() -> None:
    """Known failures count as failures, with how many are known; a run without an end has no exit."""
    assert phrase({"PASS": 52, "FAIL": 1, "XFAIL": 6, "NOT_APPLICABLE": 2}) == (
        "52 pass, 7 fail (6 known), 2 not applicable"
    )
    assert headline(sample.started(), {"PASS": 1}, None) == "codex 0.171.0: 1 check, 1 pass; no end recorded"
    codes = {code: outcome(sample.ended([], code)) for code in range(5)}
    assert codes == {0: "OK", 1: "FAILED", 2: "INCOMPLETE", 3: "USAGE ERROR", 4: "SUITE ERROR"}


# --- diffs ---------------------------------------------------------------------------------------------------------


def signed(lines: Sequence[Line]) -> list[str]:
    """Sign and text, as one word."""
    return [f"{line.sign} {line.text}" for line in lines]


@pytest.mark.parametrize(
    ("expected", "seen", "told"),
    [
        (["a.user", "b.say"], ["a.user", "b.say"], ["  user       a.user", "  assistant  b.say"]),
        (["a.user", "b.say"], ["a.user"], ["  user       a.user", "- assistant  b.say"]),
        (["a.user"], ["x.user", "a.user"], ["+ user       x.user", "  user       a.user"]),
        (
            [{"e.result": "unfinished"}],
            [{"item": "e.result", "role": "tool", "status": "done"}],
            ["- tool       e.result: unfinished", "+ tool       e.result: done"],
        ),
        (["e.result"], [{"item": "e.result", "role": "tool", "status": "done"}], ["  tool       e.result: done"]),
        (
            ["b.summary as user"],
            [{"item": "b.summary", "role": "assistant"}],
            ["- user       b.summary", "+ assistant  b.summary"],
        ),
        (["b.summary"], [{"item": "b.summary", "role": "assistant"}], ["  assistant  b.summary"]),
        (["a.say.2"], ["a.say"], ["- assistant  a.say.2", "+ assistant  a.say"]),
        ([1, {"x": 2, "y": 3}], [1], ["  1", '- {"x": 2, "y": 3}']),
    ],
)
def test_prompts_are_compared_item_by_item(expected: list[Any], seen: list[Any], told: list[str]) -> None:
    """An expected item asks only for what it names: role and status count where the trace gives them (design 3)."""
    assert signed(diff_items(expected, seen)) == told


def test_labels_of_provenance_are_notes() -> None:
    """Where a leaked item comes from stands beside it; what belongs there needs no remark."""
    leaked, own = sample.item("x.user", "user", label="leaked"), sample.item("a.user", "user", label="own")
    assert diff_items(["a.user"], [leaked, own]) == [
        Line("+", "user       x.user", "leaked"),
        Line(" ", "user       a.user"),
    ]


names = st.sampled_from(["a.user", "b.say", "c.call", "c.result", "d.user"])


@settings(deadline=None)
@given(expected=st.lists(names), seen=st.lists(names))
def test_a_diff_holds_both_sides(expected: list[str], seen: list[str]) -> None:
    """Without its plus lines a diff is what was expected, without its minus lines what was seen, in order."""
    lines = diff_items(expected, seen)
    assert [line.text for line in lines if line.sign in " -"] == [item(e).line for e in expected]
    assert [line.text for line in lines if line.sign in " +"] == [item(s).line for s in seen]


@settings(deadline=None)
@given(expected=st.text("ab \n", max_size=30), seen=st.text("ab \n", max_size=30))
def test_texts_differ_exactly_when_they_differ(expected: str, seen: str) -> None:
    """No difference of two texts is invisible, neither blanks at an end nor a missing newline."""
    assert any(line.sign in "-+" for line in diff_texts(expected, seen)) == (expected != seen)


def test_huge_texts_are_not_compared_line_by_line() -> None:
    """Ten thousand lines cost no minutes: the diff gives sizes and the first different line."""
    text = "same\n" * 10_000
    assert diff_texts(text, text + "more\n") == [
        Line("-", "10000 lines"),
        Line("+", "10001 lines", "the first difference is in line 10001"),
    ]


def test_files_are_compared_exactly() -> None:
    """Missing, unexpected and different files are told apart; equal ones are one line."""
    lines = diff_files({"a": "1\n", "b": "1\n", "c": "x"}, {"a": "1\n", "b": "2\n", "d": ""})
    assert [(line.sign, line.text, line.note) for line in lines] == [
        (" ", "a", ""),
        ("@", "b", ""),
        ("-", "  1", ""),
        ("+", "  2", ""),
        ("-", "c", "no such file"),
        ("-", "  x", "no newline at the end"),
        ("+", "d", "not expected"),
    ]


def test_only_reported_fields_satisfy() -> None:
    """A field that the adapter worked out is a difference even if its value is right; others are left out."""
    seen = {"a": 1, "b": {"value": 1, "origin": "derived"}, "c": {"value": None, "origin": "absent"}, "d": 5}
    assert [(line.sign, line.text, line.note) for line in diff_fields({"a": 1, "b": 1, "c": 1}, seen)] == [
        (" ", "a: 1", ""),
        ("-", "b: 1", ""),
        ("+", "b: 1", "derived, not reported"),
        ("-", "c: 1", ""),
        ("+", "c: nothing", ""),
    ]


@pytest.mark.parametrize(
    ("expected", "seen", "told"),
    [
        ({"requests": 0}, {"requests": 2}, ["- 0", "+ 2"]),
        ({"stop": "cancelled"}, {"stop": None}, ["- cancelled", "+ nothing"]),
        ({"editor": "a\nb"}, {"editor": "a\nc"}, ["  a", "- b", "+ c"]),
        ({"pending": {"pending": True}}, {"pending": {"outcome": "done"}}, ["- pending: true", "+ outcome: done"]),
        ({"record": {"cut": {"head": True}}}, {"record": {}}, ['- cut: {"head": true}', "+ nothing"]),
        ({"record": {"grants": "(anything)"}}, {"record": {"grants": []}}, ["  grants: []"]),
        ({"prompt": ["a.user"]}, {}, ["- user       a.user", "+ nothing"]),
        ({"prompt_has": ["b.say"]}, {"prompt_has": ["a.user"]}, ["  user       a.user", "- assistant  b.say"]),
        (
            {"prompt_lacks": ["a.user"]},
            {"prompt_lacks": ["a.user", "b.say"]},
            ["+ user       a.user", "  assistant  b.say"],
        ),
        ({"marks_interruption": "a mark"}, {"marks_interruption": ["a.user"]}, ["- a mark", "+ user       a.user"]),
        ({}, {"outcome": "refused"}, ["+ refused"]),
    ],
)
def test_every_kind_has_its_section(expected: dict[str, Any], seen: dict[str, Any], told: list[str]) -> None:
    """Each kind of expectation is compared in its own way, and what has no counterpart is still shown."""
    (section,) = differences(expected, seen)
    assert signed(section.lines) == told
    assert section.differs == any(line[0] in "-+" for line in told)


def test_collapse_keeps_what_matters() -> None:
    """Equal lines far from a difference give way to their number; none of the differences does."""
    lines = [*(Line(" ", str(n)) for n in range(20)), Line("+", "new"), *(Line(" ", str(n)) for n in range(9))]
    kept, cut = collapse(lines, context=2)
    assert signed(kept) == [". 18 the same", "  18", "  19", "+ new", "  0", "  1", ". 7 the same"]
    assert cut == 0
    assert collapse([Line("+", "x")] * 50, limit=40)[1] == 10
