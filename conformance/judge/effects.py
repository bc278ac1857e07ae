"""Expectations on what a step did: refused, pending, how a turn stopped, how many requests it caused."""

from __future__ import annotations

from collections.abc import Mapping

from forkproof.conformance.judge.finding import Case, Finding, Rule, bad, ok, unobservable
from forkproof.conformance.observation import PartSeen, StepSeen

__all__ = ["RULES"]


def refused(case: Case) -> Finding:
    """The operation was a definite no, for this reason. A harness's own words need not tell the reason (`other`)."""
    wanted = case.expectation.refused
    step = case.step
    if step.outcome == "unsupported":
        return unobservable(f"this route has no way to ask for it: {step.reason}")
    if step.outcome != "refused":
        return bad(f"the {step.key} was not refused ({step.outcome})", {"refused": wanted}, {"outcome": step.outcome})
    if wanted is True or step.reason in (wanted, "other"):
        return ok({"refused": step.reason})
    return bad(
        f"refused as {step.reason}, not as {wanted}: {step.detail}", {"refused": wanted}, {"refused": step.reason}
    )


def pending(case: Case) -> Finding:
    """The operation has not answered yet."""
    if case.step.outcome == "pending":
        return ok({"pending": case.step.name})
    return bad(
        f"the {case.step.key} did not wait ({case.step.outcome})", {"pending": True}, {"outcome": case.step.outcome}
    )


def stop(case: Case) -> Finding:
    """The turn ended for this reason (ACP's stop reasons)."""
    wanted, seen = case.expectation.stop, case.step.stop
    if seen == wanted:
        return ok({"stop": seen})
    return bad(f"the turn stopped as {seen}, not as {wanted}", wanted, seen)


def requests(case: Case) -> Finding:
    """How many model requests the step caused.

    Requests of turns that were in flight before are not the step's. At a turn, side traffic (a title) is not counted;
    at any other step nothing may be sent, whatever it is for.
    """
    wanted = case.expectation.requests
    caused = _caused(case.part, case.step)
    if len(caused) == wanted:
        return ok({"step": case.step.index, "requests": caused, "outcome": case.step.outcome})
    return bad(f"{len(caused)} requests were sent, not {wanted}", wanted, len(caused))


def _caused(part: PartSeen, step: StepSeen) -> list[int]:
    earlier = {s.name for s in part.steps if s.key == "turn" and s.index < step.index}
    kinds = ("turn", "off-script") if step.key in ("turn", "await") else ("turn", "summary", "side", "off-script")
    return [
        r.index
        for r in part.requests
        if r.step == step.index and r.kind in kinds and not (r.kind == "turn" and r.turn in earlier)
    ]


RULES: Mapping[str, Rule] = {
    "refused": refused,
    "pending": pending,
    "stop": stop,
    "requests": requests,
}
