"""How pytest sees a certification run: a trace file is a collector, each check an item with a stable id.

Verdicts travel as events on pytest's reports, so that they reach the one writer also from xdist's workers.
"""

from __future__ import annotations

import gc
import json
import secrets
import time
from collections.abc import Generator, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from forkproof.adapters import registry
from forkproof.adapters.errors import AdapterError
from forkproof.adapters.protocol import Deadlines
from forkproof.conformance.baseline import BaselineError, load_baseline
from forkproof.conformance.contract import Contract, ContractError, load_contract
from forkproof.conformance.engine import Engine, Played
from forkproof.conformance.invariants import Judged, all_checks
from forkproof.conformance.recorder import Recorder, spent
from forkproof.conformance.trace.load import LoadedTrace, load
from forkproof.conformance.trace.problem import Problem, TraceError
from forkproof.conformance.verdict import CHECKED, Verdict
from forkproof.reports.events import Checked, Event, Note, TraceStarted
from forkproof.reports.lines import decode, encode
from forkproof.reports.text import check_text

__all__ = ["BrokenTrace", "CheckFailed", "CheckItem", "Suite", "TraceFile"]

_QUIET = frozenset({Verdict.NOT_APPLICABLE, Verdict.UNOBSERVABLE})


class CheckFailed(Exception):  # it is what happened to the check, and pytest shows the name
    """A check came to a verdict that fails the run."""

    def __init__(self, event: Checked) -> None:
        self.event = event
        super().__init__(f"{event.verdict} {event.id}: {event.reason}")


class TraceFile(pytest.File):
    """One trace; it is played once, when its first check runs."""

    def __init__(self, *, suite: Suite, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.suite = suite
        self.last: pytest.Item | None = None
        self.pending: list[Event] = []
        self._played: Played | None = None

    def collect(self) -> Iterable[pytest.Item]:
        """The checks that were asked for. A trace that can't be loaded is one item, which fails with what is wrong."""
        try:
            self.loaded: LoadedTrace = load(_near(self.path))
            checks = all_checks(self.loaded)
            _known_clauses(checks, self.suite.contract)
        except TraceError as error:
            yield BrokenTrace.from_parent(self, name="TRACE", error=error)
            return
        for check in checks:
            if self.suite.asks(check):
                yield CheckItem.from_parent(self, name=check.id.partition("::")[2], check=check)

    def played(self) -> Played:
        """What the trace gave; it is played when this is asked first."""
        if self._played is None:
            self.suite.tell(self, TraceStarted(trace=self.loaded.slug))
            self._played = self.suite.engine.play(self.loaded)
            for note in self._played.notes:
                self.suite.tell(self, note)
            self.suite.tell(self, self._played.observed)
        return self._played


class CheckItem(pytest.Item):
    """One check of a trace."""

    parent: TraceFile

    def __init__(self, *, check: Judged, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.check = check

    def runtest(self) -> None:
        """Play the trace if nobody has yet, and raise what its verdict is for pytest."""
        try:
            event = self.parent.played().checks[self.check.id]
            self.parent.suite.tell(self.parent, event)
        except Exception as error:
            # Our console takes the place of pytest's: it must not stay silent on what pytest alone would show.
            self.parent.suite.fault(error)
            raise
        verdict = Verdict(event.verdict)
        if verdict in _QUIET:
            pytest.skip(f"{verdict}: {event.reason}")
        if verdict is Verdict.XFAIL:
            pytest.xfail(event.baseline.reason if event.baseline else event.reason)
        if verdict not in CHECKED:
            raise CheckFailed(event)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str:
        """The difference between expected and seen, in place of a traceback."""
        if isinstance(excinfo.value, CheckFailed):
            return check_text(excinfo.value.event)
        if isinstance(excinfo.value, pytest.xfail.Exception):
            return str(excinfo.value)  # pytest parses every source of a traceback, a tenth of a second for each
        return str(super().repr_failure(excinfo, style))

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the expectation stands."""
        return self.path, max(self.check.line - 1, 0), self.check.id


class BrokenTrace(pytest.Item):
    """A trace that can't be loaded: it fails, and the other traces still run."""

    parent: TraceFile

    def __init__(self, *, error: TraceError, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.error = error

    def runtest(self) -> None:
        """Fail with every problem at its place."""
        note = Note(level="error", text=str(self.error), volatile={"broken_trace": True})
        self.parent.suite.tell(self.parent, note)
        raise self.error

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str:
        """The problems, one a line."""
        del style  # there is nothing to style
        return str(excinfo.value)


def _near(path: Path) -> Path:
    """The path from here, if it lies below: what a reader of a message would type."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _known_clauses(checks: Iterable[Judged], contract: Contract) -> None:
    """See that the contract has every clause that is cited. Raises `TraceError`."""
    unknown = [check for check in checks if check.clause not in contract.clauses]
    if unknown:
        raise TraceError(
            Problem(c.file, c.line, c.column, "FPL020", f"the contract has no clause {c.clause}") for c in unknown
        )


class Suite:
    """The run as a pytest plugin: collects, plays, and hands each event to the recorder."""

    def __init__(self, config: pytest.Config) -> None:
        option = config.getoption
        self._config = config
        self._cpu = time.process_time()
        self._worker: dict[str, Any] | None = getattr(config, "workerinput", None)
        seed = option("forkproof_seed")
        if self._worker is not None:
            seed = self._worker["forkproof_seed"]
        self.seed: int = secrets.randbelow(1_000_000) if seed is None else seed
        self.wanted = frozenset(option("forkproof_check"))
        self.contract = load_contract()
        try:
            entry = registry.find(option("harness"), option("forkproof_variant"), option("forkproof_wire"))
            self.profile: str | None = option("forkproof_profile")
            self._clauses = self.contract.profile(self.profile)
            baseline = option("baseline")
            known = load_baseline(Path(baseline), datetime.now(UTC).date()) if baseline else None
            if known is not None and self.profile is not None:
                known = known.within(self._clauses)
            self.description = entry.describe()
        except (AdapterError, BaselineError, ContractError) as error:
            raise pytest.UsageError(str(error)) from None
        deadline = option("forkproof_deadline") or self.description.deadline
        self.engine = Engine(
            entry,
            self.contract,
            self.seed,
            Deadlines(start=deadline, operation=deadline) if deadline else Deadlines(),
            known,
            isolation=option("forkproof_isolation"),
            chaos=option("forkproof_chaos"),
        )
        self.recorder: Recorder | None = None
        if self._worker is None:
            self.recorder = Recorder.for_config(config, self)

    def asks(self, check: Judged) -> bool:
        """Whether this check is one of those that were asked for."""
        return (not self.wanted or check.id in self.wanted) and check.clause in self._clauses

    def plays(self, file: Path) -> bool:
        """Whether a trace file has a check that was asked for; one that can't be loaded counts."""
        if self.profile is None:
            return True
        try:
            return any(check.clause in self._clauses for check in all_checks(load(file)))
        except TraceError:
            return True

    # --- collecting ------------------------------------------------------------------------------------------------

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """A YAML file is a trace."""
        if file_path.suffix not in {".yaml", ".yml"}:
            return None
        collector: pytest.Collector = TraceFile.from_parent(parent, path=file_path, suite=self)
        return collector

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Give xdist's workers the same seed."""
        node.workerinput["forkproof_seed"] = self.seed

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Take what a worker of ours took; one that crashed tells nothing."""
        told = getattr(node, "workeroutput", {}).get("forkproof_spent")
        if self.recorder is not None and told is not None:
            self.recorder.workers.append(told)

    # --- running ---------------------------------------------------------------------------------------------------

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Open the record."""
        if self.recorder is not None:
            self.recorder.start(session.config.args, self.plays)

    def tell(self, file: TraceFile, event: Event) -> None:
        """Record an event now, or, in a worker, when the trace's last check has run: its events then stay together."""
        if self.recorder is not None:
            self.recorder.emit(event)
        else:
            file.pending.append(event)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note each trace's last check of those that will run."""
        for item in session.items:
            if isinstance(item.parent, TraceFile):
                item.parent.last = item
        # What is loaded by now stays to the end: to have the collector look at all of it again and again only costs.
        gc.freeze()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Send a worker's events with the report of the trace's last check, as lines."""
        report: Any = yield
        file = item.parent
        if report.when == "call" and isinstance(file, TraceFile) and file.last is item:
            report.forkproof_events = [encode(e) for e in file.pending]
            file.pending.clear()
        return report

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Record what a worker sent."""
        if self.recorder is not None:
            for line in getattr(report, "forkproof_events", ()):
                self.recorder.emit(decode(json.loads(line)))

    def pytest_keyboard_interrupt(self) -> None:
        """Remember that a person ended the run; what was seen stays."""
        if self.recorder is not None:
            self.recorder.interrupted = True

    def fault(self, error: Exception) -> None:
        """Record a fault of forkproof itself that no verdict can carry; a worker's run ends as incomplete."""
        if self.recorder is not None:
            self.recorder.fault(error)

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> bool | None:
        """A fault of ours outside of any trace: one line for the person, the traceback for the record."""
        if self.recorder is None or not self._config.getoption("forkproof_console"):
            return None
        self.recorder.fault(excinfo.value)
        return True

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Close the loop, end the record, and give the run's own exit code where our console reports."""
        self.engine.__exit__(None, None, None)
        if self._worker is not None:
            output: dict[str, Any] = self._config.workeroutput  # type: ignore[attr-defined]  # xdist's
            output["forkproof_spent"] = dict(spent(self._cpu))
        if self.recorder is not None:
            code = self.recorder.finish()
            if self._config.getoption("forkproof_console"):
                session.exitstatus = code
