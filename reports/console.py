"""The console: progress while a run goes, and its closing report. Source: design sections 7 and 8."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
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


@dataclass(frozen=True, slots=True)
class Options:
    """How the console is to look.

    quiet: no progress, no matrix. color: None decides by the stream and NO_COLOR. width: columns, None asks the
    terminal. run_log: where run.jsonl is written, to point there.
    """

    quiet: bool = False
    color: bool | None = None
    width: int | None = None
    run_log: Path | None = None


class Console:
    """Takes a run's events. On a terminal one line shows where the run is; elsewhere each finished trace gets a line.

    file: where to print, standard output if not given; a suite that lets others capture that passes its own duplicate.
    clock: seconds, for the time that the current trace takes. Use it in a `with` statement or call `close`.
    """

    def __init__(
        self,
        clauses: Mapping[str, ClauseText],
        options: Options | None = None,
        *,
        file: TextIO | None = None,
        environ: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._options = options or Options()
        self._clauses = clauses
        self._clock = clock
        self._screen = Screen(
            file or sys.stdout,
            os.environ if environ is None else environ,
            color=self._options.color,
            width=self._options.width,
        )
        self._ledger = Ledger()
        self._current = ""
        self._since = 0.0
        self._unfinished: list[Checked] = []
        self._finished = 0
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
            case Checked():
                self._unfinished.append(event)
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
        print_closing(
            self._screen, self._ledger, self._clauses, quiet=self._options.quiet, run_log=self._options.run_log
        )

    def _begin(self, started: RunStarted) -> None:
        if self._options.quiet:
            return
        route = ", ".join(w for w in (started.adapter.route, started.adapter.wire) if w)
        traces = started.traces.count
        self._screen.line(
            (name(started), "bold"),
            f" ({route})" if route else "",
            f": {traces} trace{'' if traces == 1 else 's'}, seed {started.seed}, forkproof {started.suite}",
        )
        if self._screen.interactive:
            self._live = self._screen.live(self._progress)
            self._live.start()

    def _finish_trace(self) -> None:
        """Show a line for the current trace, if it was observed."""
        if self._current not in self._ledger.errors:
            return
        found = counts(check for check in self._unfinished if check.trace == self._current)
        self._unfinished = []
        self._finished += 1
        if self._options.quiet or (self._live is not None and not UNEXPECTED & found.keys()):
            return
        error = self._ledger.errors[self._current]
        verdict: Verdict = worst(found) or (error.verdict if error else "NOT_APPLICABLE")
        place = f"{self._finished:>3}/{self._total}  "
        self._screen.line(
            (place, "dim"),
            (f"{_WORDS.get(verdict, verdict):<7}", style(verdict)),
            f" {self._current}  ",
            (phrase(found), "dim"),
        )

    @property
    def _total(self) -> int:
        return self._ledger.started.traces.count if self._ledger.started else 0

    def _progress(self) -> Text:
        """The line at the bottom of a terminal."""
        found: Counter[Verdict] = counts(self._ledger.checks)
        red = sum(found[v] for v in UNEXPECTED)
        seconds = f" {self._clock() - self._since:.0f} s" if self._current else ""
        tail = f"  {phrase(found)}" if found else ""
        alarm = f"  {red} unexpected" if red else ""
        room = self._screen.width - len(alarm) - 1
        head = self._screen.cut(f"{self._finished:>3}/{self._total}  {self._current}{seconds}{tail}", room)
        return self._screen.text(head, (alarm, "bold red"))


_WORDS: dict[Verdict, str] = {"PASS": "ok", "NOT_APPLICABLE": "n/a", "XFAIL": "known", "UNOBSERVABLE": "unseen"}
