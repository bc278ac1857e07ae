"""The bench of the selftest: traces loaded once and one event loop, on which mutant after mutant is played."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, TracebackType
from typing import Final, Self

from forkproof.adapters.inprocess import ReferenceAdapter, create
from forkproof.adapters.mutated import mutated
from forkproof.adapters.protocol import Deadlines
from forkproof.conformance.contract import Contract, load_contract
from forkproof.conformance.histories import Histories
from forkproof.conformance.invariants import Judged, all_checks
from forkproof.conformance.judge import judge
from forkproof.conformance.selftest import Cell, MutantRow
from forkproof.conformance.trace.load import LoadedTrace, load
from forkproof.conformance.trial import observe, run_to_end
from forkproof.conformance.verdict import CheckResult, Verdict
from forkproof.reference.mutants import Mutant

__all__ = ["Bench", "ReferenceFails"]

SEED: Final = 0
WAIT: Final = 2.0
"""Seconds that one operation of a mutant may wait; it works in memory, where nothing waits that was not made to."""
SPIN: Final = 5
"""Seconds of CPU that one trace on one mutant may take: a mutant may also run in a circle."""

_FAILS: Final = frozenset({Verdict.FAIL, Verdict.WARN})
_FINE: Final = frozenset({Verdict.PASS, Verdict.NOT_APPLICABLE})


class ReferenceFails(Exception):
    """The reference itself does not pass, so nothing can be said of its mutants."""


class _Spins(Exception):
    """A mutant ran in a circle."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """A trace with all that is told by it alone, so that it is read off once and not for each mutant."""

    loaded: LoadedTrace
    checks: tuple[Judged, ...]
    histories: Histories

    @classmethod
    def of(cls, loaded: LoadedTrace) -> _Plan:
        return cls(loaded, all_checks(loaded), Histories.of(loaded.trace))


@dataclass(slots=True)
class Bench:
    """Plays traces on the reference and on mutants. A context manager: it owns an event loop."""

    files: Sequence[Path]
    contract: Contract = field(default_factory=load_contract)
    _plans: list[_Plan] = field(default_factory=list)
    _runner: asyncio.Runner = field(default_factory=asyncio.Runner)

    def __enter__(self) -> Self:
        """Load the traces. Raises `TraceError`."""
        self._plans = [_Plan.of(load(path)) for path in self.files]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the loop."""
        self._runner.close()

    @property
    def traces(self) -> list[str]:
        """The slugs of all traces."""
        return [plan.loaded.slug for plan in self._plans]

    @property
    def checks(self) -> list[str]:
        """The ids of all checks."""
        return [check.id for plan in self._plans for check in plan.checks]

    def reference(self) -> list[str]:
        """Play every trace on the reference; the ids of the checks that had something to judge.

        Raises `ReferenceFails` if one of them does not pass.
        """
        applied: list[str] = []
        for plan in self._plans:
            results = self._play(create(), plan, Deadlines())
            bad = [f"{r.id} {r.verdict}: {r.reason}" for r in results if r.verdict not in _FINE]
            if bad:
                raise ReferenceFails("; ".join(bad))
            applied += [r.id for r in results if r.verdict is Verdict.PASS]
        return applied

    def row(self, mutant: Mutant) -> MutantRow:
        """Play every trace on one mutant."""
        with _stops_circles():
            cells = {plan.loaded.slug: self._cell(mutant, plan) for plan in self._plans}
        return MutantRow(mutant.name, mutant.clause, mutant.kind, mutant.summary, cells)

    def _cell(self, mutant: Mutant, plan: _Plan) -> Cell:
        try:
            with _no_circle():
                results = self._play(mutated(mutant), plan, Deadlines(WAIT, WAIT, WAIT))
        except Exception as error:  # noqa: BLE001  # a mutant may break anything; the matrix says what
            return Cell("unclear", (), f"{type(error).__name__}: {error}")
        failed = [r for r in results if r.verdict in _FAILS]
        if any(r.clause == mutant.clause for r in failed):
            return Cell("right", tuple(r.id for r in failed))
        if failed:
            return Cell("wrong", tuple(r.id for r in failed))
        stuck = [r for r in results if r.verdict not in _FINE]
        return Cell("unclear", tuple(r.id for r in stuck), stuck[0].reason) if stuck else Cell("survived")

    def _play(self, adapter: ReferenceAdapter, plan: _Plan, deadlines: Deadlines) -> tuple[CheckResult, ...]:
        trace, slug = plan.loaded.trace, plan.loaded.slug
        observation = run_to_end(self._runner, observe(adapter, trace, slug, SEED, deadlines))
        return judge(trace, plan.checks, observation, self.contract, plan.histories)


@contextmanager
def _stops_circles() -> Iterator[None]:
    """Raise `_Spins` wherever the time of `_no_circle` is over. Only in a main thread, since signals go there."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise _Spins(f"more than {SPIN} s of CPU")

    before = signal.signal(signal.SIGVTALRM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGVTALRM, before)


@contextmanager
def _no_circle() -> Iterator[None]:
    """Give what is run here so much CPU time, and no more."""
    signal.setitimer(signal.ITIMER_VIRTUAL, SPIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
