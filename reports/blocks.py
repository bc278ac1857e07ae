"""The block of lines that each failure gets on a screen: what was asked, what came, the proof, how to see it again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from forkproof.reports.diff import Line, Section, Sign, collapse, differences
from forkproof.reports.events import Checked, JsonObject
from forkproof.reports.failures import Breakdown, Failure, Red
from forkproof.reports.matrix import ClauseText
from forkproof.reports.plain import compact
from forkproof.reports.screen import Screen, style

__all__ = ["draw_block", "draw_short"]

LONGEST_LIST = 10
"""How many traces and checks a breakdown names."""

_INDENT = 4
_LABEL = 9
_SIGN_STYLES: dict[Sign, str] = {"-": "red", "+": "green", "@": "bold", ".": "dim", " ": ""}


def draw_block(
    screen: Screen, number: int, red: Red, clauses: Mapping[str, ClauseText], *, run_log: Path | None
) -> None:
    """Print one failure in full, under its number."""
    match red:
        case Failure(check):
            _draw_check(screen, number, check, clauses.get(check.clause), run_log)
        case Breakdown():
            _draw_breakdown(screen, number, red)


def draw_short(screen: Screen, red: Red) -> None:
    """Print one failure on one line, for quiet runs."""
    match red:
        case Failure(check):
            screen.line((f"{check.verdict:<5} ", style(check.verdict)), check.id, (f"  {check.reason}", "dim"))
        case Breakdown(error, traces):
            what = f"{error.code} in {_number(len(traces), 'trace')}: {error.cause}"
            screen.line((f"{error.verdict:<5} ", style(error.verdict)), what)


def _draw_check(screen: Screen, number: int, check: Checked, clause: ClauseText | None, run_log: Path | None) -> None:
    screen.line((f"{number}. {check.verdict}  ", style(check.verdict)), (check.id, "bold"))
    if clause is not None:
        screen.paragraph(_INDENT, "", (f"{check.level}: {clause.text}", "dim"))
    if check.reason:
        screen.paragraph(_INDENT, "", check.reason)
    for section in differences(check.expected, check.seen):
        if section.differs:
            _draw_section(screen, section, check, run_log)
    _labelled(screen, "witness", _pairs(check.witness))
    if check.verdict == "XPASS":
        known = f"expected to fail ({check.baseline.reason}); " if check.baseline else ""
        _labelled(screen, "baseline", f"{known}it passes now: take its entry out with `forkproof baseline prune`")
    elif check.baseline is not None:
        _labelled(screen, "baseline", f"knows another failure of this check, not this one: {check.baseline.reason}")
    _labelled(screen, "where", f"{check.file}:{check.line}" if check.line else check.file)
    _labelled(screen, "replay", check.replay)
    screen.line()


def _draw_section(screen: Screen, section: Section, check: Checked, run_log: Path | None) -> None:
    lines, cut = collapse(section.lines)
    screen.line()
    screen.line(" " * _INDENT, (section.kind, "bold"), ("  - expected  + seen", "dim"))
    for line in lines:
        _draw_line(screen, line)
    if cut:
        place = f"the check's line in {run_log}" if run_log else "run again with --out DIR to keep"
        screen.line(" " * _INDENT, (f"{screen.marks.cut} {_number(cut, 'more line')}: {place} {check.id}", "dim"))
    screen.line()


def _draw_line(screen: Screen, line: Line) -> None:
    sign = screen.marks.cut if line.sign == "." else " " if line.sign == "@" else line.sign
    words = (line.text, _SIGN_STYLES[line.sign])
    note = f"   ({line.note})" if line.note else ""
    screen.paragraph(_INDENT + 2, f"{' ' * _INDENT}{sign:<2}", words, (note, "dim"))


def _draw_breakdown(screen: Screen, number: int, broken: Breakdown) -> None:
    error = broken.error
    where = broken.traces[0] if len(broken.traces) == 1 else _number(len(broken.traces), "trace")
    screen.line((f"{number}. {error.verdict}  ", style(error.verdict)), (where, "bold"), f"  [{error.code}]")
    for line in error.cause.splitlines():
        screen.paragraph(_INDENT, "", line)
    _labelled(screen, "hint", error.hint)
    if len(broken.traces) > 1:
        _labelled(screen, "traces", _list(broken.traces))
    if broken.checks:
        _labelled(screen, "unjudged", _list([check.id for check in broken.checks]))
        _labelled(screen, "replay", broken.checks[0].replay)
    screen.line()


def _labelled(screen: Screen, label: str, text: str) -> None:
    if label in {"where", "replay"} and text:
        screen.line(" " * _INDENT, (f"{label:<{_LABEL}}", "dim"), text)
    elif text:
        screen.paragraph(_INDENT + _LABEL, f"{' ' * _INDENT}{label}", text)


def _pairs(witness: JsonObject) -> str:
    return ", ".join(f"{key} {compact(value)}" for key, value in witness.items())


def _list(names: tuple[str, ...] | list[str]) -> str:
    rest = len(names) - LONGEST_LIST
    return ", ".join(names[:LONGEST_LIST]) + (f" and {rest} more" if rest > 0 else "")


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
