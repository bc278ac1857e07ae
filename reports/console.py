"""The console: progress while a run goes, and its closing report. Source: design sections 7 and 8."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from forkproof.reports.closing import print_closing
from forkproof.reports.events import Checked, Event, Observed, RunEnded, RunStarted, TraceStarted, Verdict
from forkproof.reports.ledger import Ledger
from forkproof.reports.matrix import ClauseText
from forkproof.reports.screen import Screen, style
from forkproof.reports.tally import UNEXPECTED, counts, name, phrase, worst

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

__all__ = ["Console", "Options"]

_WORDS: dict[Verdict, str] = {"PASS": "ok", "NOT_APPLICABLE": "n/a", "XFAIL": "known", "UNOBSERVABLE": "unseen"}


@dataclass(frozen=True, slots=True)
class Options:
    """How the console is to look.

    quiet: no progress and no matrix, one line a failure, the verdict. progress: whether traces are told as they come.
    live: a line that moves, where the stream is a terminal; else a line a finished trace. color: None decides by the
    stream, NO_COLOR and FORCE_COLOR. width: columns, None asks the terminal. run_log: where run.jsonl is written, to
    point there.
    """

    quiet: bool = False
    progress: bool = True
    live: bool = True
    color: bool | None = None
    width: int | None = None
    run_log: Path | None = None


class Console:
    """Takes a run's events and tells a person how it goes. `close` prints the closing report.

    clauses: the contract's texts by clause id; without them the report has ids only. file: where to print, standard
    output if not given. clock: seconds, for the time that the current trace takes.
    """

    def __init__(
        self,
        clauses: Mapping[str, ClauseText] | None = None,
        options: Options | None = None,
        *,
        file: TextIO | None = None,
        environ: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._options = options or Options()
        self._clauses = clauses or {}
        self._clock = clock
        environ = os.environ if environ is None else environ
        self._screen = Screen(file or sys.stdout, environ, color=self._options.color, width=self._options.width)
        self._ledger = Ledger()
        self._current = ""
        self._since = 0.0
        self._shown: set[str] = set()
        self._live: Live | None = None
        self._closed = False

    def emit(self, event: Event) -> None:
        """Take the next event, and show it."""
        match event:
            case RunStarted():
                self._begin(event)
            case TraceStarted(trace=trace) | Observed(trace=trace) if trace != self._current:
                self._finish_trace()
                self._current, self._since = trace, self._clock()
            case Checked() if event.trace in self._shown and event.verdict in UNEXPECTED:
                self._show_late(event)
            case RunEnded():
                self._finish_trace()
        self._ledger.take(event)

    def close(self) -> None:
        """End the progress line and print the closing report, once."""
        if self._closed:
            return
        self._closed = True
        self._finish_trace()
        if self._live is not None:
            self._live.stop()
        options = self._options
        print_closing(self._screen, self._ledger, self._clauses, quiet=options.quiet, run_log=options.run_log)

    def _begin(self, started: RunStarted) -> None:
        if self._options.quiet:
            return
        route = ", ".join(dict.fromkeys(w for w in (started.adapter.route, started.adapter.wire) if w))
        traces = started.traces.count
        scope = f": {traces} trace{'' if traces == 1 else 's'}, seed {started.seed}"
        self._screen.paragraph(0, "", (name(started), "bold"), f" via {route}" if route else "", scope)
        if self._options.live and self._options.progress and self._screen.interactive:
            self._live = self._screen.live(self._progress)
            self._live.start()

    def _finish_trace(self) -> None:
        """Show a line for the current trace, if it was observed; above a moving line only if there is bad news."""
        trace = self._current
        if trace not in self._ledger.errors or trace in self._shown:
            return
        self._shown.add(trace)
        found = counts(check for check in self._ledger.checks if check.trace == trace)
        muted = self._options.quiet or not self._options.progress
        if muted or (self._live is not None and not UNEXPECTED & found.keys()):
            return
        error = self._ledger.errors[trace]
        verdict: Verdict = worst(found) or (error.verdict if error else "NOT_APPLICABLE")
        self._screen.line(
            (f"{len(self._shown):>3}/{self._total}  ", "dim"),
            (f"{_WORDS.get(verdict, verdict):<10}", style(verdict)),
            f" {trace}  ",
            (phrase(found), "dim"),
        )

    def _show_late(self, check: Checked) -> None:
        """A verdict of a trace whose line is out already: traces played at once may mix."""
        if not self._options.quiet:
            self._screen.line(" " * 8, (f"{check.verdict:<10}", style(check.verdict)), f" {check.id}")

    @property
    def _total(self) -> int:
        return self._ledger.started.traces.count if self._ledger.started else 0

    def _progress(self) -> Text:
        """The line at the bottom of a terminal: how far, where, for how long, and how it stands."""
        found = counts(list(self._ledger.checks))
        red = sum(found[v] for v in UNEXPECTED)
        seconds = f" {self._clock() - self._since:.0f} s" if self._current else ""
        tail = f"  {phrase(found)}" if found else ""
        alarm = f"  {red} unexpected" if red else ""
        room = self._screen.width - len(alarm) - 1
        head = self._screen.cut(f"{len(self._shown):>3}/{self._total}  {self._current}{seconds}{tail}", room)
        return self._screen.text(head, (alarm, "bold red"))
