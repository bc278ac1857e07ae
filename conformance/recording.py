"""From what was seen and judged to the events of a run: JSON data, with all that varies set apart as volatile.

`reports` knows nothing of traces and adapters; this module is the one place that translates.
"""

from __future__ import annotations

import platform
from dataclasses import asdict
from typing import Any

from forkproof.adapters.model.script import SeenRequest
from forkproof.adapters.prompt import as_json
from forkproof.adapters.protocol import Description, ForkRecord
from forkproof.conformance.evidence_record import steps_sha256, write_evidence
from forkproof.conformance.judge.prompts import item_json
from forkproof.conformance.observation import Observation, PartSeen, StepSeen
from forkproof.conformance.trace.load import LoadedTrace
from forkproof.conformance.verdict import CheckResult
from forkproof.reports.events import (
    AdapterStamp,
    Checked,
    ContractStamp,
    HarnessStamp,
    JsonObject,
    KnownDeviation,
    Observed,
    RunStarted,
    TraceError,
    TraceSetStamp,
)
from forkproof.reports.redaction import Redactor

__all__ = ["checked", "observed", "run_started"]


def run_started(
    *,
    suite: str,
    contract: ContractStamp,
    traces: TraceSetStamp,
    description: Description,
    seed: int,
    profile: str | None,
    started: str,
) -> RunStarted:
    """The first event of a run."""
    return RunStarted(
        suite=suite,
        contract=contract,
        traces=traces,
        harness=HarnessStamp(
            name=description.harness, version=description.version, binary_sha256=description.binary_sha256
        ),
        adapter=AdapterStamp(
            route=description.route,
            wire=description.wire,
            variant=description.variant,
            capabilities=sorted(description.capabilities),
            policies=dict(description.policies),
            unobservable=sorted(description.unobservable),
        ),
        seed=seed,
        profile=profile,
        volatile={"started": started, "python": platform.python_version(), "platform": platform.system().lower()},
    )


def observed(evidence: Observation, raw: Observation, loaded: LoadedTrace, seconds: float) -> Observed:
    """What was seen of one trace: the evidence that was judged, and what varies, as it was, in the volatile member."""
    main, error = evidence.main, evidence.error
    return Observed(
        trace=evidence.slug,
        status="ended" if error else "played",
        error=None
        if error is None
        else TraceError(code=error.code, cause=error.cause, hint=error.hint, verdict=error.verdict),
        steps=_steps(main),
        requests=_requests(main),
        files=_files(main),
        records=[_record(label, record) for label, record in main.records.items()],
        runs=dict(main.steps[-1].runs) if main.steps else {},
        controls={"+".join(sorted(k)): _control(part) for k, part in evidence.controls.items()},
        trace_sha256=loaded.sha256,
        steps_sha256=steps_sha256(loaded.trace),
        evidence=write_evidence(evidence),
        volatile=_volatile(raw, seconds),
    )


def _volatile(raw: Observation, seconds: float) -> JsonObject:
    """The harness's own ids, words and prompts, without what is private to the trial."""
    main = raw.main
    told: JsonObject = Redactor(raw.private).data(
        {
            "seconds": round(seconds, 3),
            "ids": {"sessions": dict(main.sessions), "turns": {n: t.native for n, t in main.turns.items()}},
            "details": {s.name: s.detail for s in main.steps if s.detail},
            "records": [_record(label, record, raw=True) for label, record in main.records.items()],
            "prompts": [as_json(r.prompt) for r in main.requests],
            "oddities": list(raw.oddities),
            "stderr": raw.diagnostics,
        }
    )
    return told


def _steps(part: PartSeen) -> list[dict[str, Any]]:
    counted = [sum(r.step == s.index for r in part.requests) for s in part.steps]
    return [
        {
            "index": s.index,
            "key": s.key,
            "name": s.name,
            "session": s.session,
            "outcome": s.outcome,
            "reason": s.reason,
            "stop": s.stop,
            "requests": n,
            "files": None if s.files is None else dict(s.files),
            "runs": dict(s.runs),
            **_told(s, part),
        }
        for s, n in zip(part.steps, counted, strict=True)
    ]


def _told(step: StepSeen, part: PartSeen) -> dict[str, Any]:
    """The questions and the hooks so far, in the trace's names; nothing in a trace without any."""
    names = {native: label for label, native in part.sessions.items()}
    asked = [{"session": names.get(q.session, "?"), "call": q.call} for q in step.asked]
    hooks = [{"hook": r.hook, "session": names.get(r.session, "?"), "cause": r.cause} for r in step.hooks]
    return ({"asked": asked} if asked else {}) | ({"hooks": hooks} if hooks else {})


def _requests(part: PartSeen) -> list[dict[str, Any]]:
    return [_request(r, part) for r in part.requests]


def _request(request: SeenRequest, part: PartSeen) -> dict[str, Any]:
    turn = part.turns.get(request.turn or "")
    return {
        "index": request.index,
        "step": request.step,
        "kind": request.kind,
        "turn": request.turn,
        "session": turn and turn.session,
        "items": [item_json(i) for i in request.items],
        "path": request.path,
    }


def _files(part: PartSeen) -> dict[str, dict[str, str]]:
    latest = {s.session: s.files for s in part.steps if s.files is not None}
    return {session: dict(files) for session, files in latest.items()}


def _record(label: str, record: ForkRecord, *, raw: bool = False) -> dict[str, Any]:
    fields = asdict(record)
    shown = fields if raw else {name: field["origin"] for name, field in fields.items()}
    return {"fork": label, "fields": shown}


def _control(part: PartSeen) -> dict[str, Any]:
    probes = {s: part.requests_of(t) for s, t in part.probes.items()}
    return {"next_prompts": {s: [item_json(i) for i in r[0].items] for s, r in probes.items() if r}}


def checked(result: CheckResult, *, file: str, line: int, replay: str, known: KnownDeviation | None) -> Checked:
    """One judged check; `known` is what the baseline says of it, if it has an entry."""
    return Checked(
        id=result.id,
        trace=result.trace,
        clause=result.clause,
        level="MUST" if result.level == "MUST" else "SHOULD",
        step=result.step,
        verdict=result.verdict.value,
        reason=result.reason,
        expected=result.expected,
        seen=result.seen,
        witness=result.witness,
        fingerprint=result.fingerprint,
        replay=replay,
        baseline=known,
        file=file,
        line=line,
    )
