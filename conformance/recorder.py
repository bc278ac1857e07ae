"""The one place where the events of a run come together: it opens the record, counts, and ends it with an exit code."""

from __future__ import annotations

import hashlib
import resource
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forkproof.adapters.protocol import Description
from forkproof.conformance.baseline import Baseline
from forkproof.conformance.bench import Isolation
from forkproof.conformance.contract import Contract
from forkproof.conformance.recording import run_started
from forkproof.conformance.trace.load import NoTraceError, discover
from forkproof.conformance.verdict import Verdict, exit_code
from forkproof.reports.events import (
    Checked,
    Consumer,
    ContractStamp,
    Event,
    Note,
    Observed,
    RunEnded,
    TraceSetStamp,
)
from forkproof.reports.runlog import RunLogError

if TYPE_CHECKING:
    import pytest

    from forkproof.conformance.collection import Suite

__all__ = ["Recorder", "spent", "trace_set"]

USAGE = 3
SUITE_FAULT = 4


@dataclass(slots=True)
class Recorder:
    """Hands each event to every consumer and knows how the run stands."""

    contract: Contract
    description: Description
    seed: int
    baseline: Baseline | None
    whole: bool
    """Whether all checks of the selected traces run, so that a baseline entry without a check is stale."""
    consumers: list[Consumer] = field(default_factory=list)
    interrupted: bool = False
    profile: str | None = None
    isolation: Isolation = "trace"
    chaos: int | None = None
    _verdicts: Counter[str] = field(default_factory=Counter)
    _checks: dict[str, Checked] = field(default_factory=dict)
    _planned: int = 0
    _played: set[str] = field(default_factory=set)
    _broken: int = 0
    _faulty: bool = False
    _unrecorded: str = ""
    workers: list[Mapping[str, float]] = field(default_factory=list)
    """What each worker process of ours took: see `spent`."""
    _cpu: float = field(default_factory=time.process_time)
    _began: float = field(default_factory=time.perf_counter)
    _stack: ExitStack = field(default_factory=ExitStack)
    _open: bool = False

    @classmethod
    def for_config(cls, config: pytest.Config, suite: Suite) -> Recorder:
        """The recorder of a pytest session.

        A log if a place was named, our console if the command line asked for it.
        """
        recorder = cls(
            suite.contract,
            suite.description,
            suite.seed,
            suite.engine.baseline,
            whole=not suite.wanted,
            profile=suite.profile,
            isolation=suite.engine.isolation,
            chaos=suite.engine.chaos,
        )
        out, console = config.getoption("forkproof_out"), config.getoption("forkproof_console")
        if out:
            from forkproof.reports.redaction import Redactor
            from forkproof.reports.runlog import RunLog

            log = recorder._stack.enter_context(RunLog(Path(out), Redactor.of(homes=[str(Path.home())])))
            recorder.consumers.append(log)
        if console:
            recorder.consumers.append(_console(console, suite.contract, log.path if out else None))
        return recorder

    def start(self, targets: Sequence[str], plays: Callable[[Path], bool] = lambda _file: True) -> None:
        """Emit the run's first event. Of the selected files only those count that are played."""
        files = [file for file in _selected(targets) if plays(file)]
        self._planned = len(files)
        self._open = True
        started = run_started(
            suite=version("forkproof"),
            contract=ContractStamp(revision=str(self.contract.revision), sha256=self.contract.sha256),
            traces=trace_set(files),
            description=self.description,
            seed=self.seed,
            profile=self.profile,
            started=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        self.emit(replace(started, isolation=self.isolation, chaos=self.chaos))

    def emit(self, event: Event) -> None:
        """Count the event and hand it on."""
        match event:
            case Checked():
                self._verdicts[event.verdict] += 1
                self._checks[event.id] = event
            case Observed():
                self._played.add(event.trace)
            case Note(volatile=volatile) if volatile.get("broken_trace"):
                self._broken += 1
            case _:
                pass
        for consumer in tuple(self.consumers):
            try:
                consumer.emit(event)
            except RunLogError as error:
                # The disk is full or gone: the run goes on, the other consumers are told, and it counts as incomplete.
                self.consumers.remove(consumer)
                self._unrecorded = str(error)
                self.emit(Note(level="error", text=str(error)))

    def fault(self, error: BaseException) -> None:
        """Note a fault of forkproof itself, which ends the run."""
        self._faulty = True
        where = "".join(traceback.format_exception(error))
        said = f"a fault of forkproof itself: {type(error).__name__}: {error}"
        self.emit(Note(level="error", text=said, volatile={"traceback": where}))

    def finish(self) -> int:
        """Emit the run's last event, close every consumer, and give the exit code (design section 6)."""
        if not self._open:
            return USAGE
        self._open = False
        stale = self._stale()
        for text in stale:
            self.emit(Note(level="error", text=text))
        complete = not self.interrupted and not self._unrecorded and len(self._played) + self._broken >= self._planned
        verdicts = [Verdict(v) for v in self._verdicts]
        code = exit_code(verdicts, stale_baseline=bool(stale), complete=complete)
        if self._broken and code != SUITE_FAULT:
            code = USAGE
        if self._faulty:
            code = SUITE_FAULT
        reason = "" if complete else self._why_incomplete()
        self.emit(
            RunEnded(
                counts=dict(sorted(self._verdicts.items())),
                exit=code,
                complete=complete,
                reason=reason,
                volatile=self._cost(),
            )
        )
        for consumer in self.consumers:
            consumer.close()
        self._stack.close()
        return code

    def _why_incomplete(self) -> str:
        if self.interrupted:
            return "interrupted"
        return "the record could not be written" if self._unrecorded else "not every selected trace was played"

    def _stale(self) -> list[str]:
        """What the baseline says and this run does not show, one line each."""
        if self.baseline is None or self.interrupted or not self.whole:
            return []
        verdicts = {check: event.verdict for check, event in self._checks.items()}
        return self.baseline.stale(self.description.version, verdicts, self._played)

    def _cost(self) -> dict[str, Any]:
        seconds = time.perf_counter() - self._began
        all_of_us = (spent(self._cpu), *self.workers)
        cpu = sum(each["cpu"] for each in all_of_us)
        return {
            "seconds": round(seconds, 3),
            "jobs": max(1, len(self.workers)),
            "cpu_self": round(cpu, 3),
            "cpu_ratio": round(cpu / seconds, 4) if seconds else 0.0,
            "peak_rss_mb": round(sum(each["peak_rss_mb"] for each in all_of_us), 1),
        }


def spent(since: float) -> Mapping[str, float]:
    """What this process took itself, no child of it: `cpu` seconds since this `time.process_time`, `peak_rss_mb`."""
    return {"cpu": time.process_time() - since, "peak_rss_mb": _peak_rss_mb()}


def trace_set(files: Sequence[Path]) -> TraceSetStamp:
    """How these trace files are told in a record."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return TraceSetStamp(count=len(files), sha256=digest.hexdigest())


def _selected(targets: Sequence[str]) -> list[Path]:
    """The trace files below pytest's arguments: paths, node ids, or with `--pyargs` the names of packages."""
    found: dict[Path, None] = {}
    for target in targets:
        name = target.partition("::")[0]
        places = [Path(name)] if Path(name).exists() else _package(name)
        with suppress(NoTraceError):  # a folder of other tests
            found |= dict.fromkeys(discover(places) if places else [])
    return list(found)


def _package(name: str) -> list[Path]:
    with suppress(ImportError, ValueError):
        spec = find_spec(name)
        if spec is not None:
            return [Path(p) for p in spec.submodule_search_locations or ()]
    return []


def _peak_rss_mb() -> float:
    """The most memory that this process held. The resource module's figure would count what its parent held before."""
    with suppress(OSError):
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return int(status.partition("VmHWM:")[2].split(maxsplit=1)[0]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def _console(mode: str, contract: Contract, log: Path | None) -> Consumer:
    """Who tells the person at the terminal: JSON for programs, else the console."""
    if mode == "json":
        from forkproof.reports.summary import JsonSummary

        return JsonSummary(sys.stdout)
    from forkproof.reports.console import Console, Options
    from forkproof.reports.matrix import ClauseText

    clauses = {c.id: ClauseText(c.id, c.area_title, c.text) for c in contract.clauses.values()}
    return Console(clauses, Options(quiet=mode == "quiet", live=mode != "plain", run_log=log))
