"""Expectations on what the tools left: workspace files and counted side effects."""

from __future__ import annotations

from collections.abc import Mapping

from forkproof.conformance.judge.finding import Case, Finding, Rule, bad, ok, untestable

__all__ = ["RULES"]


def files(case: Case) -> Finding:
    """The session's workspace holds exactly these files."""
    wanted = dict(case.expectation.files or {})
    if case.step.files is None:
        return untestable(f"session {case.step.session} has no workspace to look at")
    seen = dict(case.step.files)
    if seen == wanted:
        return ok({"files": sorted(seen), "session": case.step.session}, wanted, seen)
    said = [f"{p} is missing" for p in sorted(wanted.keys() - seen.keys())]
    said += [f"{p} should not be there" for p in sorted(seen.keys() - wanted.keys())]
    said += [f"{p} has other content" for p in sorted(seen.keys() & wanted.keys()) if seen[p] != wanted[p]]
    return bad("; ".join(said), wanted, seen)


def runs(case: Case) -> Finding:
    """How often each counted side effect ran, up to this step."""
    wanted = dict(case.expectation.runs or {})
    seen = {name: case.step.runs.get(name, 0) for name in wanted}
    if seen == wanted:
        return ok({"runs": seen}, wanted, seen)
    said = ", ".join(f"{n} ran {seen[n]} times, not {wanted[n]}" for n in wanted if seen[n] != wanted[n])
    return bad(said, wanted, seen)


RULES: Mapping[str, Rule] = {
    "files": files,
    "runs": runs,
}
