"""The closing report of a run on the console: what failed and why, the matrix, what is known, and the verdict.

Failures stand first because they are what a person came for; the verdict stands last because that is where the eye is
when the run ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from forkproof.reports.blocks import draw_block, draw_short
from forkproof.reports.events import Checked, RunStarted
from forkproof.reports.failures import failures
from forkproof.reports.grid import draw_matrix
from forkproof.reports.ledger import Ledger
from forkproof.reports.matrix import ClauseText, Column
from forkproof.reports.screen import Screen, style
from forkproof.reports.tally import counts, headline, name, outcome

__all__ = ["print_closing"]

LONG = 20.0
"""Seconds of a run from which on its costs say something: start-up is over by then."""
SHARE = 0.1
"""The share of a real run's time that forkproof's own CPU may take (design section 11)."""

_OUTCOME_STYLES = {"OK": "bold green", "FAILED": "bold red"}


def print_closing(
    screen: Screen, ledger: Ledger, clauses: Mapping[str, ClauseText], *, quiet: bool, run_log: Path | None
) -> None:
    """Print it all; in quiet mode one line a failure, and the verdict. Nothing, if the run never began."""
    started = ledger.started
    if started is None:
        return
    _print_failures(screen, ledger, clauses, quiet=quiet, run_log=run_log)
    if not quiet:
        screen.line()
        draw_matrix(screen, [Column(name(started), ledger.checks)], clauses)
        _print_list(screen, "Warnings", [c for c in ledger.checks if c.verdict == "WARN"])
        _print_list(screen, "Known deviations", [c for c in ledger.checks if c.verdict == "XFAIL"])
        races = [c for c in ledger.checks if c.verdict == "PASS" and c.baseline]
        _print_list(screen, "Known deviations that show sometimes, and not this time", races)
    _print_notes(screen, ledger, quiet=quiet)
    if not quiet:
        _print_costs(screen, ledger, run_log)
    _print_verdict(screen, ledger, started)


def _print_failures(
    screen: Screen, ledger: Ledger, clauses: Mapping[str, ClauseText], *, quiet: bool, run_log: Path | None
) -> None:
    red = failures(ledger.checks, ledger.errors)
    if red and not quiet:
        screen.line()
        screen.line((f"Unexpected failures: {len(red)}", "bold red"))
    for number, each in enumerate(red, start=1):
        if quiet:
            draw_short(screen, each)
        else:
            screen.line()
            draw_block(screen, number, each, clauses, run_log=run_log)


def _print_list(screen: Screen, title: str, checks: Sequence[Checked]) -> None:
    if not checks:
        return
    screen.line()
    screen.line((f"{title}: {len(checks)}", "bold"))
    for check in checks:
        known = check.baseline
        often = f"  (in {known.sometimes} plays)" if known and known.sometimes else ""
        screen.line("  ", (f"{check.verdict:<5}  ", style(check.verdict)), check.id, (often, "dim"))
        screen.paragraph(9, "", (known.reason if known else check.reason, "dim"))
        if known and known.url:
            screen.line(" " * 9, (known.url, "dim"))


def _print_notes(screen: Screen, ledger: Ledger, *, quiet: bool) -> None:
    notes = [n for n in ledger.notes if n.level != "info" or not quiet]
    if notes:
        screen.line()
    for note in notes:
        colour = {"error": "bold red", "warning": "yellow"}.get(note.level, "dim")
        screen.paragraph(9, note.level, (note.text, colour))


def _print_costs(screen: Screen, ledger: Ledger, run_log: Path | None) -> None:
    screen.line()
    if run_log is not None:
        screen.line(("recorded in ", "dim"), str(run_log))
    costs = ledger.ended.volatile if ledger.ended else {}
    if {"seconds", "cpu_self", "cpu_ratio", "peak_rss_mb"} <= costs.keys():
        jobs = costs.get("jobs", 1)
        share = costs["cpu_ratio"] / jobs
        each = f", {share:.0%} a job" if jobs > 1 else ""
        of_time = f"{costs['cpu_ratio']:.0%} of the time{each}"
        own = f"{costs['cpu_self']:.1f} s of CPU ({of_time}), {costs['peak_rss_mb']:.0f} MB"
        screen.line((f"took {costs['seconds']:.1f} s; forkproof itself {own} at most", "dim"))
        real = ledger.started is not None and bool(ledger.started.harness.binary_sha256)
        if real and costs["seconds"] > LONG and share > SHARE:
            way = "fewer jobs (-j) may be faster on this machine" if jobs > 1 else "the machine may be busy"
            hint = f"forkproof's own share is above {SHARE:.0%}: {way}"
            screen.line((hint, "yellow"))


def _print_verdict(screen: Screen, ledger: Ledger, started: RunStarted) -> None:
    ended = ledger.ended
    played, selected = len(ledger.errors), started.traces.count
    if ended is None:
        screen.line(("the record has no end: the run was killed, or is still under way", "yellow"))
    elif not ended.complete and ended.reason:
        screen.paragraph(0, "", (f"not complete: {ended.reason}", "yellow"))
    if played < selected:
        screen.line((f"{played} of {selected} traces were played", "yellow"))
    word = outcome(ended)
    first = (f"{word}  ", _OUTCOME_STYLES.get(word, "bold magenta"))
    screen.paragraph(len(word) + 2, first, headline(started, counts(ledger.checks), ended))
