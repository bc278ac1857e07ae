"""Plays and judges traces one after another: a trace in, its events out. Knows nothing of pytest or the terminal."""

from __future__ import annotations

import asyncio
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from forkproof.adapters.protocol import Deadlines
from forkproof.adapters.registry import Entry
from forkproof.conformance.baseline import Baseline
from forkproof.conformance.bench import Bench, Isolation
from forkproof.conformance.contract import Contract
from forkproof.conformance.evidence import evidence_of
from forkproof.conformance.invariants import Judged, all_checks
from forkproof.conformance.judge import judge, suite_error
from forkproof.conformance.recording import checked, observed
from forkproof.conformance.trace.load import LoadedTrace, shipped_root
from forkproof.conformance.trial import run_to_end
from forkproof.conformance.verdict import CheckResult
from forkproof.reports.events import Checked, Note, Observed

__all__ = ["Engine", "Played"]


@dataclass(frozen=True, slots=True)
class Played:
    """What one trace gave: what was seen, the verdicts by check id, and notes (a suite error's traceback)."""

    observed: Observed
    checks: dict[str, Checked]
    notes: tuple[Note, ...] = ()


@dataclass(slots=True)
class Engine:
    """Plays traces on one harness. A context manager: it owns the event loop that all trials run in."""

    entry: Entry
    contract: Contract
    seed: int
    deadlines: Deadlines = field(default_factory=Deadlines)
    baseline: Baseline | None = None
    isolation: Isolation = "trace"
    chaos: int | None = None
    """The seed of disturbed answers of the model; None to leave them as they are."""
    _bench: Bench = field(init=False)
    _runner: asyncio.Runner = field(default_factory=asyncio.Runner)

    def __post_init__(self) -> None:
        self._bench = Bench(self.entry.create, self.isolation, self.chaos)

    def __enter__(self) -> Self:
        """Nothing is started before the first trace."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End what the traces shared, and close the loop."""
        try:
            if self.isolation == "run":
                self._runner.run(self._bench.close())
        finally:
            self._runner.close()

    def play(self, loaded: LoadedTrace) -> Played:
        """Play one trace and judge every check. Raises only KeyboardInterrupt."""
        started = time.perf_counter()
        checks = all_checks(loaded)
        try:
            trial = self._bench.observe(loaded.trace, loaded.slug, self.seed, self.deadlines)
            raw = run_to_end(self._runner, trial)
            # What is judged is what is recorded: so judging the record again sees just what was seen now.
            evidence = evidence_of(raw)
            results = judge(loaded.trace, checks, evidence, self.contract)
            seen = observed(evidence, raw, loaded, time.perf_counter() - started)
            return Played(seen, self._checked(checks, results))
        except Exception as error:  # noqa: BLE001  # a fault of ours must end as a verdict, not as a traceback
            return self._own_fault(loaded, checks, error)

    def _checked(self, checks: tuple[Judged, ...], results: tuple[CheckResult, ...]) -> dict[str, Checked]:
        applied = [self.baseline.apply(r) if self.baseline else r for r in results]
        return {r.id: self._event(c, r) for c, r in zip(checks, applied, strict=True)}

    def _event(self, check: Judged, result: CheckResult) -> Checked:
        harness, *options = self.entry.choice.words
        options += ["--isolation", self.isolation] if self.isolation != "trace" else []
        options += ["--chaos", str(self.chaos)] if self.chaos is not None else []
        replay = " ".join(("forkproof run", harness, result.id, *options, "--seed", str(self.seed)))
        return checked(
            result,
            file=_shown(Path(check.file), check.id.partition("::")[0]),
            line=check.line,
            replay=replay,
            known=self.baseline.known(result.id) if self.baseline else None,
        )

    def _own_fault(self, loaded: LoadedTrace, checks: tuple[Judged, ...], error: Exception) -> Played:
        said = f"a fault of forkproof itself: {type(error).__name__}: {error}"
        results = tuple(suite_error(check, self.contract, said) for check in checks)
        where = "".join(traceback.format_exception(error))
        note = Note(level="error", text=f"{loaded.slug}: {said}", volatile={"traceback": where})
        return Played(Observed(trace=loaded.slug, status="ended"), self._checked(checks, results), (note,))


def _shown(path: Path, slug: str) -> str:
    """Where a reader finds the trace.

    Below `traces/` if it comes with forkproof, from here if it lies below, else whole.
    """
    return f"traces/{slug}{path.suffix}" if path.absolute().is_relative_to(shipped_root()) else str(path)
