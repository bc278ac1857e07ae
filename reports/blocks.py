"""The block of lines that each failure gets on a screen: what was asked, what came, the proof, how to see it again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from forkproof.reports.diff import Line, Section, Sign, collapse, differences
from forkproof.reports.events import Checked
from forkproof.reports.failures import Breakdown, Failure, Red
from forkproof.reports.matrix import ClauseText
from forkproof.reports.plain import compact
from forkproof.reports.screen import Screen, style

__all__ = ["draw_block", "draw_short"]

LONGEST_LIST = 10
"""How many traces and checks a breakdown names."""

_INDENT = 3
_LABEL = 10
_NOTE_COLUMN = 40
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
    told = (f"  [{check.fingerprint}]" if check.fingerprint else "", "dim")
    screen.line((f"{number}. {check.verdict}  ", style(check.verdict)), (check.id, "bold"), told)
    if clause is not None:
        _labelled(screen, check.level, clause.text)
    _labelled(screen, "why", check.reason)
    for section in differences(check.expected, check.seen):
        if section.differs:
            _draw_section(screen, section, check, run_log)
    _labelled(screen, "witness", ", ".join(f"{key} {compact(value)}" for key, value in check.witness.items()))
    if check.verdict == "XPASS":
        known = f"expected to fail ({check.baseline.reason}), " if check.baseline else ""
        _labelled(screen, "baseline", f"{known}passes now: take its entry out of the baseline")
    elif check.baseline is not None:
        _labelled(screen, "baseline", f"knows another failure of this check, not this one: {check.baseline.reason}")
    _labelled(screen, "where", f"{check.file}:{check.line}" if check.line else check.file)
    _labelled(screen, "replay", check.replay)


def _draw_section(screen: Screen, section: Section, check: Checked, run_log: Path | None) -> None:
    lines, cut = collapse(section.lines)
    column = max((screen.columns(line.text) for line in lines if line.note), default=0)
    screen.line()
    screen.line(" " * _INDENT, (f"{section.kind:<{_LABEL}}", "bold"), ("- expected", "red"), ("  + seen", "green"))
    for line in lines:
        _draw_line(screen, line, min(column, _NOTE_COLUMN))
    if cut:
        place = f"{run_log} holds them all, in the line of" if run_log else "run again with --out DIR to keep them:"
        screen.line(" " * _INDENT, (f"{screen.marks.cut} {_number(cut, 'more line')}; {place} {check.id}", "dim"))
    screen.line()


def _draw_line(screen: Screen, line: Line, column: int) -> None:
    sign = {".": screen.marks.cut, "@": " "}.get(line.sign, line.sign)
    colour = _SIGN_STYLES[line.sign]
    note = " " * max(0, column - screen.columns(line.text)) + f"   {line.note}" if line.note else ""
    screen.paragraph(_INDENT + 2, (f"{' ' * _INDENT}{sign} ", colour), (line.text, colour), (note, "dim"))


def _draw_breakdown(screen: Screen, number: int, broken: Breakdown) -> None:
    error = broken.error
    where = broken.traces[0] if len(broken.traces) == 1 else _number(len(broken.traces), "trace")
    screen.line((f"{number}. {error.verdict}  ", style(error.verdict)), (where, "bold"), (f"  [{error.code}]", "dim"))
    _labelled(screen, "cause", error.cause)
    _labelled(screen, "hint", error.hint)
    if len(broken.traces) > 1:
        _labelled(screen, "traces", _list(broken.traces))
    if broken.checks:
        _labelled(screen, "unjudged", _list([check.id for check in broken.checks]))
        _labelled(screen, "replay", broken.checks[0].replay)


def _labelled(screen: Screen, label: str, text: str) -> None:
    """A label and its text; places and commands stay on one line, to be copied."""
    start = (f"{' ' * _INDENT}{label:<{_LABEL}}", "dim")
    if text and label in {"where", "replay"}:
        screen.line(start, text)
        return
    for line in text.splitlines():
        screen.paragraph(_INDENT + _LABEL, start, line)
        start = ("", "")


def _list(names: tuple[str, ...] | list[str]) -> str:
    rest = len(names) - LONGEST_LIST
    return ", ".join(names[:LONGEST_LIST]) + (f" and {rest} more" if rest > 0 else "")


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
