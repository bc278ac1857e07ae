"""What made a run red, ready to be shown: each failed check, and each way in which traces broke off."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from forkproof.reports.events import Checked, TraceError
from forkproof.reports.tally import NOT_JUDGED, UNEXPECTED

__all__ = ["Breakdown", "Failure", "Red", "failures"]


@dataclass(frozen=True, slots=True)
class Failure:
    """One check with an unexpected verdict."""

    check: Checked


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Traces that all broke off for one reason, and their checks that could not be judged for it."""

    error: TraceError
    traces: tuple[str, ...]
    checks: tuple[Checked, ...]

    def joined(self, trace: str, checks: Iterable[Checked]) -> Breakdown:
        """The same breakdown, seen in one more trace."""
        return Breakdown(self.error, (*self.traces, trace), (*self.checks, *checks))


Red: TypeAlias = Failure | Breakdown


def failures(checks: Sequence[Checked], errors: Mapping[str, TraceError | None]) -> tuple[Red, ...]:
    """Everything unexpected, in the order of the run; a harness that dies alike in ten traces is one breakdown.

    `errors` has each observed trace, with the error that broke it off, if one did. A trace that broke off is left out
    when the baseline accounts for all of its checks.
    """
    by_trace: dict[str, list[Checked]] = {trace: [] for trace in errors}
    for check in checks:
        by_trace.setdefault(check.trace, []).append(check)
    red: dict[TraceError | str, Red] = {}
    broken: dict[TraceError, Breakdown] = {}
    for trace, found in by_trace.items():
        error = errors.get(trace)
        unjudged = {c.id: c for c in found if error is not None and c.verdict in NOT_JUDGED}
        if error is not None and (unjudged or not found):
            broken[error] = broken.get(error, Breakdown(error, (), ())).joined(trace, unjudged.values())
            red[error] = broken[error]
        red |= {c.id: Failure(c) for c in found if c.verdict in UNEXPECTED and c.id not in unjudged}
    return tuple(red.values())
