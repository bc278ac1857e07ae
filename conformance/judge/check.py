"""The judge: a trace, its contract and one observation in, a verdict for each check out. Pure: no I/O, no clock.

It knows nothing of any harness by name; what a harness can do and chooses is read from its description. Source: design
section 6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from forkproof.conformance.contract import Contract
from forkproof.conformance.histories import Histories
from forkproof.conformance.invariants import InvariantCheck, Judged
from forkproof.conformance.judge import (
    authority,
    busy,
    durable,
    effects,
    files,
    forest,
    prompts,
    provider,
    records,
    state,
    tree,
)
from forkproof.conformance.judge.finding import Case, Finding, Rule, bad, untestable
from forkproof.conformance.judge.invariants import invariant
from forkproof.conformance.judge.prompts import item_json
from forkproof.conformance.observation import Observation, StepSeen
from forkproof.conformance.provenance import Lineage
from forkproof.conformance.trace.checks import Check
from forkproof.conformance.trace.model import Expectation, Trace
from forkproof.conformance.verdict import CheckResult, Verdict, fingerprint

__all__ = ["RULES", "judge", "suite_error"]

RULES: Mapping[str, Rule] = {
    **prompts.RULES,
    **files.RULES,
    **records.RULES,
    **effects.RULES,
    **durable.RULES,
    **tree.RULES,
    **forest.RULES,
    **provider.RULES,
    **authority.RULES,
    **busy.RULES,
    **state.RULES,
}
"""One rule for each kind of expectation in the language."""

_ANSWERS = frozenset({"record", "record_has", "editor", "opens", "pending", "done"})
"""Kinds that a refused operation fails; the others it leaves without a subject."""

_Outcome = tuple[Verdict, Finding]


def judge(
    trace: Trace,
    checks: Sequence[Judged],
    observation: Observation,
    contract: Contract,
    histories: Histories | None = None,
) -> tuple[CheckResult, ...]:
    """One result for each check, in their order. `histories` are the trace's, for who has read them off already."""
    histories = histories or Histories.of(trace)
    return tuple(
        _invariant(check, trace, histories, observation, contract)
        if isinstance(check, InvariantCheck)
        else _result(check, _judge(check, trace, histories.lineage, observation, contract), contract)
        for check in checks
    )


def _invariant(
    check: InvariantCheck, trace: Trace, histories: Histories, observation: Observation, contract: Contract
) -> CheckResult:
    excused, error = _undeclared(trace, observation), observation.error
    if excused:
        return _result(check, (Verdict.NOT_APPLICABLE, Finding("unobservable", excused)), contract)
    found, step = invariant(check.clause, histories, observation)
    if found.status == "bad":
        outcome = _verdict(found, contract.clauses[check.clause].level, observation), found
    elif error is not None:
        # What came after the error was never seen.
        outcome = Verdict(error.verdict), untestable(_error_line(error.code, error.cause, error.hint))
    else:
        outcome = (Verdict.PASS if found.status == "ok" else Verdict.NOT_APPLICABLE), found
    result = _result(check, outcome, contract)
    return result if step is None else replace(result, step=step)


def suite_error(check: Judged, contract: Contract, reason: str) -> CheckResult:
    """The result of a check that we ourselves could not carry out."""
    return _result(check, (Verdict.SUITE_ERROR, bad(reason)), contract)


_PREMISES = frozenset({"set", "delete"})
"""Steps whose refusal nothing but their own expectations would show: the trace goes on as if they were done."""


def _result(check: Judged, outcome: _Outcome, contract: Contract) -> CheckResult:
    verdict, found = outcome
    told = ""
    if verdict not in (Verdict.PASS, Verdict.NOT_APPLICABLE, Verdict.UNOBSERVABLE):
        # An untestable or crashed check has no difference to tell apart by: its verdict and clause are its identity.
        facts = (found.expected, found.seen) if found.status == "bad" else ()
        told = fingerprint(verdict, check.clause, *facts)
    return CheckResult(
        id=check.id,
        trace=check.id.partition("::")[0],
        clause=check.clause,
        level=contract.clauses[check.clause].level,
        step=check.step,
        verdict=verdict,
        reason=found.reason,
        expected=found.expected or {},
        seen=found.seen or {},
        witness=found.witness or {},
        fingerprint=told,
    )


def _judge(check: Check, trace: Trace, lineage: Lineage, observation: Observation, contract: Contract) -> _Outcome:
    excused = _not_applicable(trace, check.expectation, observation)
    if excused:
        return Verdict.NOT_APPLICABLE, Finding("unobservable", excused)
    step = next((s for s in observation.main.steps if s.index == check.step), None)
    error = observation.error
    if step is None:
        if error is not None:
            return Verdict(error.verdict), untestable(_error_line(error.code, error.cause, error.hint))
        return Verdict.SUITE_ERROR, bad("the step was never played")
    if step.outcome == "skipped":
        return Verdict.NOT_APPLICABLE, Finding("unobservable", f"the step is left out under {step.reason}")
    case = Case(trace, observation, lineage, step, check.expectation)
    found = _off_script(case) or _lost_premise(case)
    found = found or _together({kind: _apply(kind, case) for kind in check.expectation.kinds()})
    return _verdict(found, contract.clauses[check.clause].level, observation), found


def _not_applicable(trace: Trace, expectation: Expectation, observation: Observation) -> str:
    missing = _undeclared(trace, observation)
    if missing:
        return missing
    description = observation.description
    for policy, choices in (expectation.when or {}).items():
        declared = description.policies.get(policy)
        if declared not in choices:
            return f"for {policy}={'|'.join(choices)}; declared is {declared or 'nothing'}"
    return ""


def _undeclared(trace: Trace, observation: Observation) -> str:
    description = observation.description
    missing = [c for c in trace.needs if c not in description.capabilities]
    return f"{description.harness} does not declare {', '.join(missing)}" if missing else ""


def _apply(kind: str, case: Case) -> Finding:
    step = case.step
    if step.outcome == "blocked":
        return untestable(step.reason)
    if kind != "refused" and step.outcome in ("refused", "unsupported", "unknown"):
        said = f"the {step.key} was {_past(step)}"
        return (
            bad(said, "done", f"{step.outcome}: {step.reason}")
            if kind in _ANSWERS
            else _unless_refusal_is_meant(kind, case, said)
        )
    return RULES[kind](case)


def _unless_refusal_is_meant(kind: str, case: Case, said: str) -> Finding:
    # Beside an expected refusal the other kinds (no request, files unchanged) have their subject: the refused attempt.
    if case.expectation.refused is not None or _refusal_expected(case):
        return RULES[kind](case)
    return untestable(said)


def _refusal_expected(case: Case) -> bool:
    entries = case.trace.steps[case.step.index].expect
    return any(e.refused is not None and _meant(e, case) for entry in entries for e in entry.values())


def _meant(expectation: Expectation, case: Case) -> bool:
    policies = case.observation.description.policies
    return all(policies.get(p) in choices for p, choices in (expectation.when or {}).items())


def _past(step: StepSeen) -> str:
    said = {"refused": "refused", "unsupported": "not supported", "unknown": "left without a clear answer"}[
        step.outcome
    ]
    return f"{said}: {step.detail or step.reason}"


def _off_script(case: Case) -> Finding | None:
    """A request that nothing accounts for spoils every later check: the story is not the trace's any more."""
    stray = next((r for r in case.part.off_script() if r.step <= case.step.index), None)
    if stray is None:
        return None
    where = f"turn {stray.turn}" if stray.turn else "no turn"
    return bad(
        f"request {stray.index} at step {stray.step} is off script ({where}): the trace asks for no such request",
        {"requests": "none but the trace's own"},
        {"requests": [item_json(i) for i in stray.items]},
    )


def _lost_premise(case: Case) -> Finding | None:
    """A change that the trace made and the harness did not take spoils what is said of it later, passes included."""
    for step in case.part.steps:
        if step.index >= case.step.index:
            break
        if step.key in _PREMISES and step.outcome in ("refused", "unsupported", "unknown"):
            entries = case.trace.steps[step.index].expect
            if not any(e.refused is not None for entry in entries for e in entry.values()):
                return untestable(f"the {step.key} of {step.name} at step {step.index} was {_past(step)}")
    return None


def _together(found: Mapping[str, Finding]) -> Finding:
    """All kinds of one expectation as one finding: the worst counts, a pass needs every witness."""
    for status in ("bad", "untestable", "unobservable"):
        worst = {kind: f for kind, f in found.items() if f.status == status}
        if worst:
            return Finding(
                worst[next(iter(worst))].status,
                "; ".join(f.reason for f in worst.values()),
                {kind: f.expected for kind, f in worst.items() if f.expected is not None},
                {kind: f.seen for kind, f in worst.items() if f.seen is not None},
            )
    if not found or not all(f.witness for f in found.values()):
        return untestable("nothing was seen that would prove it")
    witness: dict[str, Any] = {}
    for each in found.values():
        witness |= each.witness
    return Finding(
        "ok",
        witness=witness,
        expected={kind: f.expected for kind, f in found.items()},
        seen={kind: f.seen for kind, f in found.items()},
    )


def _verdict(found: Finding, level: str, observation: Observation) -> Verdict:
    match found.status:
        case "ok":
            return Verdict.PASS
        case "bad":
            return Verdict.FAIL if level == "MUST" else Verdict.WARN
        case "unobservable":
            return Verdict.UNOBSERVABLE
        case _:
            error = observation.error
            return Verdict.UNTESTABLE if error is None else Verdict(error.verdict)


def _error_line(code: str, cause: str, hint: str) -> str:
    return f"[{code}] {cause}" + (f" (hint: {hint})" if hint else "")
