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


@dataclass(slots=True)
class Bench:
    """Plays traces on the reference and on mutants. A context manager: it owns an event loop."""

    files: Sequence[Path]
    contract: Contract = field(default_factory=load_contract)
    _plans: list[tuple[LoadedTrace, tuple[Judged, ...]]] = field(default_factory=list)
    _runner: asyncio.Runner = field(default_factory=asyncio.Runner)

    def __enter__(self) -> Self:
        """Load the traces. Raises `TraceError`."""
        loaded = [load(path) for path in self.files]
        self._plans = [(each, all_checks(each)) for each in loaded]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the loop."""
        self._runner.close()

    @property
    def traces(self) -> list[str]:
        """The slugs of all traces."""
        return [loaded.slug for loaded, _ in self._plans]

    @property
    def checks(self) -> list[str]:
        """The ids of all checks."""
        return [check.id for _, checks in self._plans for check in checks]

    def reference(self) -> list[str]:
        """Play every trace on the reference; the ids of the checks that had something to judge.

        Raises `ReferenceFails` if one of them does not pass.
        """
        applied: list[str] = []
        for loaded, checks in self._plans:
            results = self._play(create(), loaded, checks, Deadlines())
            bad = [f"{r.id} {r.verdict}: {r.reason}" for r in results if r.verdict not in _FINE]
            if bad:
                raise ReferenceFails("; ".join(bad))
            applied += [r.id for r in results if r.verdict is Verdict.PASS]
        return applied

    def row(self, mutant: Mutant) -> MutantRow:
        """Play every trace on one mutant."""
        cells = {loaded.slug: self._cell(mutant, loaded, checks) for loaded, checks in self._plans}
        return MutantRow(mutant.name, mutant.clause, mutant.kind, mutant.summary, cells)

    def _cell(self, mutant: Mutant, loaded: LoadedTrace, checks: tuple[Judged, ...]) -> Cell:
        try:
            with _no_circle():
                results = self._play(mutated(mutant), loaded, checks, Deadlines(WAIT, WAIT, WAIT))
        except Exception as error:  # noqa: BLE001  # a mutant may break anything; the matrix says what
            return Cell("unclear", (), f"{type(error).__name__}: {error}")
        failed = [r for r in results if r.verdict in _FAILS]
        if any(r.clause == mutant.clause for r in failed):
            return Cell("right", tuple(r.id for r in failed))
        if failed:
            return Cell("wrong", tuple(r.id for r in failed))
        stuck = [r for r in results if r.verdict not in _FINE]
        return Cell("unclear", tuple(r.id for r in stuck), stuck[0].reason) if stuck else Cell("survived")

    def _play(
        self, adapter: ReferenceAdapter, loaded: LoadedTrace, checks: tuple[Judged, ...], deadlines: Deadlines
    ) -> tuple[CheckResult, ...]:
        observation = run_to_end(self._runner, observe(adapter, loaded.trace, loaded.slug, SEED, deadlines))
        return judge(loaded.trace, checks, observation, self.contract)


@contextmanager
def _no_circle() -> Iterator[None]:
    """Raise `_Spins` in what runs too long without waiting. Only in a main thread, since signals go there."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise _Spins(f"more than {SPIN} s of CPU")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SPIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
