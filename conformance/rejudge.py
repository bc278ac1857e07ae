"""An old recording under today's contract and traces, without the harness: what its evidence says now.

A verdict may change because the trace, the contract or the judge has; each change says which. What the recording can't
answer is UNTESTABLE, and says why. Source: design section 8.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Final, Literal, TypeAlias

from forkproof.adapters.protocol import Description
from forkproof.conformance.baseline import Baseline
from forkproof.conformance.contract import Contract
from forkproof.conformance.evidence_record import (
    MalformedEvidence,
    description_of,
    read_evidence,
    steps_sha256,
)
from forkproof.conformance.invariants import Judged, all_checks
from forkproof.conformance.judge import judge
from forkproof.conformance.observation import Observation
from forkproof.conformance.recorder import trace_set
from forkproof.conformance.recording import checked
from forkproof.conformance.trace.load import SUFFIXES, LoadedTrace, load, shipped_root, slug_of
from forkproof.conformance.verdict import CheckResult, Verdict, exit_code, fingerprint
from forkproof.reports.events import (
    SCHEMA_VERSION,
    Checked,
    ContractStamp,
    Event,
    Note,
    Observed,
    RunEnded,
    RunStarted,
    TraceStarted,
)
from forkproof.reports.runlog import RunLogError, RunRecord

__all__ = ["Cause", "Change", "Rejudged", "Traces", "UnjudgeableRun", "rejudge"]

Cause: TypeAlias = Literal["trace", "contract", "judge"]

_SAID: Final[Mapping[Cause, str]] = {
    "trace": "the trace has changed since",
    "contract": "the contract has changed since",
    "judge": "forkproof judges otherwise now",
}
_NO_CHANGE: Final = frozenset({Verdict.PASS, Verdict.NOT_APPLICABLE, Verdict.UNOBSERVABLE})


class UnjudgeableRun(RunLogError):
    """A record holds nothing that could be judged again: it is of an older forkproof, or its evidence is damaged."""

    code = "unjudgeable-run"


@dataclass(frozen=True, slots=True)
class Change:
    """A check that comes to something else than when it was recorded; `reason` is the new verdict's."""

    check: str
    before: str
    after: str
    cause: Cause
    reason: str

    def __str__(self) -> str:
        after = self.after if self.after != self.before else f"{self.after} in another way"
        why = f" ({self.reason})" if self.reason else ""
        return f"{self.check}: {self.before} when it was recorded, {after} now; {_SAID[self.cause]}{why}"


@dataclass(frozen=True, slots=True)
class Rejudged:
    """The record as it would be today, and what changed.

    `events` begin with a `RunStarted` and end with a `RunEnded`. `gone` are recorded checks that the traces no longer
    have, `fresh` checks that they did not have then.
    """

    events: tuple[Event, ...]
    changes: tuple[Change, ...]
    gone: tuple[str, ...]
    fresh: tuple[str, ...]

    @property
    def checks(self) -> tuple[Checked, ...]:
        """The verdicts of today."""
        return tuple(e for e in self.events if isinstance(e, Checked))

    @property
    def started(self) -> RunStarted:
        """The header."""
        return next(e for e in self.events if isinstance(e, RunStarted))

    @property
    def ended(self) -> RunEnded:
        """The footer."""
        return next(e for e in reversed(self.events) if isinstance(e, RunEnded))


@dataclass(slots=True)
class Traces:
    """Today's traces by slug, each read once."""

    _loaded: dict[str, LoadedTrace | None] = field(default_factory=dict)
    _checks: dict[str, tuple[Judged, ...]] = field(default_factory=dict)
    _steps: dict[str, str] = field(default_factory=dict)

    def find(self, slug: str, file: str = "") -> LoadedTrace | None:
        """The shipped trace of this slug, or the one at the recorded place. Raises `TraceError` if it is broken."""
        if slug not in self._loaded:
            places = [shipped_root() / f"{slug}{suffix}" for suffix in SUFFIXES]
            places += [Path(file)] if file and slug_of(Path(file)) == slug else []
            path = next((place for place in places if place.is_file()), None)
            self._loaded[slug] = None if path is None else load(path)
        return self._loaded[slug]

    def checks(self, loaded: LoadedTrace) -> tuple[Judged, ...]:
        """As `all_checks`."""
        if loaded.slug not in self._checks:
            self._checks[loaded.slug] = all_checks(loaded)
        return self._checks[loaded.slug]

    def steps(self, loaded: LoadedTrace) -> str:
        """As `steps_sha256`."""
        if loaded.slug not in self._steps:
            self._steps[loaded.slug] = steps_sha256(loaded.trace)
        return self._steps[loaded.slug]


def rejudge(
    record: RunRecord, contract: Contract, baseline: Baseline | None = None, traces: Traces | None = None
) -> Rejudged:
    """Judge a record again. Raises `UnjudgeableRun`, `TraceError`, and `ContractError` for an unknown profile."""
    if record.started.schema < 2:  # noqa: PLR2004  # the first version with evidence
        raise UnjudgeableRun(
            f"{record.path} was recorded by a forkproof that kept no evidence", "run the harness again to have a record"
        )
    return _Session(record, contract, baseline, traces or Traces()).result()


@dataclass(slots=True)
class _Session:
    """One record on its way."""

    record: RunRecord
    contract: Contract
    baseline: Baseline | None
    traces: Traces
    changes: list[Change] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    fresh: list[str] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    used: list[LoadedTrace] = field(default_factory=list)
    whole: bool = True

    def result(self) -> Rejudged:
        judged: list[Event] = []
        for event in self.record.events:
            match event:
                case TraceStarted():
                    judged.append(event)
                case Observed():
                    judged += [event, *self._checks(event)]
                case Note(level="info" | "warning"):
                    judged.append(event)
                case _:
                    pass
        found = [e for e in judged if isinstance(e, Checked)]
        stale = self._stale(found)
        judged += [*self.notes, *(Note(level="error", text=text) for text in stale)]
        events = (self._started(), *judged, self._ended(found, stale=bool(stale)))
        return Rejudged(events, tuple(self.changes), tuple(self.gone), tuple(self.fresh))

    # --- one trace ---------------------------------------------------------------------------------------------------

    def _checks(self, seen: Observed) -> Iterator[Checked]:
        before = {c.id: c for c in self.record.checks if c.trace == seen.trace}
        file = next((c.file for c in before.values()), "")
        loaded = self.traces.find(seen.trace, file)
        if loaded is None:
            yield from self._without_trace(seen, before)
            return
        self.used.append(loaded)
        checks = self._wanted(loaded, seen, before)
        judgeable, results = self._judged(loaded, checks, seen)
        if not judgeable:
            self.notes.append(_untestable_note(seen.trace, results))
        for check, raw in zip(checks, results, strict=True):
            self._compare(before.get(check.id), raw, changed=loaded.sha256 != seen.trace_sha256, told=not judgeable)
            yield self._event(check, raw, before.get(check.id))
        self.gone += before.keys() - {check.id for check in checks}

    def _wanted(self, loaded: LoadedTrace, seen: Observed, before: Mapping[str, Checked]) -> tuple[Judged, ...]:
        """Today's checks; where the trace is the same, those that the run was asked for."""
        clauses = self.contract.profile(self.record.started.profile)
        checks = tuple(c for c in self.traces.checks(loaded) if c.clause in clauses)
        if loaded.sha256 == seen.trace_sha256 and any(c.id in before for c in checks):
            asked = tuple(c for c in checks if c.id in before)
            self.whole &= len(asked) == len(checks)
            return asked
        return checks

    def _judged(
        self, loaded: LoadedTrace, checks: tuple[Judged, ...], seen: Observed
    ) -> tuple[bool, tuple[CheckResult, ...]]:
        """Whether the recording can answer, and what it does."""
        description = description_of(self.record.started)
        applies = set(loaded.trace.needs) <= description.capabilities
        if not seen.evidence:
            said = "the record holds no evidence of this trace, which ended by a fault of forkproof itself"
            return False, tuple(self._untestable(check, said) for check in checks)
        if applies and loaded.sha256 != seen.trace_sha256 and self.traces.steps(loaded) != seen.steps_sha256:
            said = "the trace's steps have changed since it was played, so the recording can't tell: play it again"
            return False, tuple(self._untestable(check, said) for check in checks)
        evidence = self._evidence(seen, description)
        return True, judge(loaded.trace, checks, evidence, self.contract)

    def _evidence(self, seen: Observed, description: Description) -> Observation:
        try:
            return read_evidence(seen.evidence, seen.trace, description)
        except MalformedEvidence as error:
            raise UnjudgeableRun(
                f"{self.record.path}: the evidence of {seen.trace} is damaged: {error}",
                "the file was changed after the run, or was written by another version of forkproof",
            ) from error

    def _untestable(self, check: Judged, said: str) -> CheckResult:
        return CheckResult(
            id=check.id,
            trace=check.id.partition("::")[0],
            clause=check.clause,
            level=self.contract.clauses[check.clause].level,
            step=check.step,
            verdict=Verdict.UNTESTABLE,
            reason=said,
            expected={},
            seen={},
            witness={},
            fingerprint=fingerprint(Verdict.UNTESTABLE, check.clause),
        )

    def _without_trace(self, seen: Observed, before: Mapping[str, Checked]) -> Iterator[Checked]:
        """The checks of a trace that is no more: nobody can say what they ask."""
        said = f"there is no trace {seen.trace} any more"
        self.notes.append(Note(level="warning", text=f"{said}: its {len(before)} checks can't be judged"))
        for check in before.values():
            mark = fingerprint(Verdict.UNTESTABLE, check.clause)
            self.changes.append(Change(check.id, check.verdict, "UNTESTABLE", "trace", said))
            yield replace(
                check,
                verdict="UNTESTABLE",
                reason=said,
                expected={},
                seen={},
                witness={},
                fingerprint=mark,
                baseline=None,
            )

    def _event(self, check: Judged, raw: CheckResult, before: Checked | None) -> Checked:
        result = self.baseline.apply(raw) if self.baseline else raw
        return checked(
            result,
            file=before.file if before else f"traces/{raw.trace}{Path(check.file).suffix}",
            line=check.line,
            replay=before.replay if before else "",
            known=self.baseline.known(raw.id) if self.baseline else None,
        )

    # --- comparing ---------------------------------------------------------------------------------------------------

    def _compare(self, before: Checked | None, now: CheckResult, *, changed: bool, told: bool) -> None:
        """Note a verdict that is not the recorded one. `told`: it is said already that the trace can't be judged."""
        if before is None:
            self.fresh.append(now.id)
            return
        if _same(before, now):
            return
        cause: Cause = "trace" if changed else "contract" if before.level != now.level else "judge"
        change = Change(now.id, before.verdict, now.verdict.value, cause, now.reason)
        self.changes.append(change)
        if not told:
            self.notes.append(Note(level="warning", text=str(change)))

    # --- the run -----------------------------------------------------------------------------------------------------

    def _stale(self, found: Sequence[Checked]) -> list[str]:
        if self.baseline is None or not self.whole:
            return []
        played = {e.trace for e in self.record.observations}
        return self.baseline.stale(self.record.started.harness.version, {c.id: c.verdict for c in found}, played)

    def _started(self) -> RunStarted:
        began = self.record.started
        unchanged = {loaded.slug: loaded.sha256 for loaded in self.used}
        same = all(unchanged.get(e.trace) == e.trace_sha256 for e in self.record.observations)
        contract = ContractStamp(revision=str(self.contract.revision), sha256=self.contract.sha256)
        stamp = began.traces if same else replace(trace_set([t.path for t in self.used]), count=began.traces.count)
        return replace(began, schema=SCHEMA_VERSION, suite=version("forkproof"), contract=contract, traces=stamp)

    def _ended(self, found: Sequence[Checked], *, stale: bool) -> RunEnded:
        counts = {v.value: n for v in Verdict if (n := sum(c.verdict == v for c in found))}
        recorded = self.record.ended
        complete = self.record.complete
        reason = "" if complete else recorded.reason if recorded and recorded.reason else "the recorded run has no end"
        code = exit_code([Verdict(v) for v in counts], stale_baseline=stale, complete=complete)
        return RunEnded(counts=dict(sorted(counts.items())), exit=code, complete=complete, reason=reason)


def _same(before: Checked, now: CheckResult) -> bool:
    """Whether a verdict is what it was, whatever a baseline made of it then."""
    match before.verdict:
        case "XPASS":
            return now.verdict is Verdict.PASS
        case "XFAIL":
            return now.fingerprint == before.fingerprint
        case verdict:
            return verdict == now.verdict and (now.verdict in _NO_CHANGE or now.fingerprint == before.fingerprint)


def _untestable_note(slug: str, results: Sequence[CheckResult]) -> Note:
    said = results[0].reason if results else "it has no check"
    return Note(level="warning", text=f"{slug}: {len(results)} checks can't be judged: {said}")
