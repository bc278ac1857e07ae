"""What a check can come to. Source: design section 6."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

__all__ = ["CheckResult", "Verdict", "exit_code", "fingerprint"]


class Verdict(StrEnum):
    """Every outcome of a check; what each one means for the exit code stands in `exit_code`."""

    PASS = "PASS"  # noqa: S105  # a verdict, not a password
    FAIL = "FAIL"
    WARN = "WARN"
    NOT_APPLICABLE = "NOT_APPLICABLE"
    UNTESTABLE = "UNTESTABLE"
    UNOBSERVABLE = "UNOBSERVABLE"
    TIMEOUT = "TIMEOUT"
    CRASH = "CRASH"
    SUITE_ERROR = "SUITE_ERROR"
    XFAIL = "XFAIL"
    XPASS = "XPASS"


FAILING = frozenset({Verdict.FAIL, Verdict.XPASS})
INCOMPLETE = frozenset({Verdict.TIMEOUT, Verdict.CRASH, Verdict.UNTESTABLE})
CHECKED = frozenset({Verdict.PASS, Verdict.WARN, Verdict.XFAIL})


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The judgement of one check.

    `expected` and `seen` are JSON data by kind of expectation; `witness` names what in this run proves a PASS;
    `fingerprint` tells one failure from another and is empty for a PASS.
    """

    id: str
    trace: str
    clause: str
    level: str
    step: int
    verdict: Verdict
    reason: str = ""
    expected: Any = None
    seen: Any = None
    witness: Any = None
    fingerprint: str = ""
    baseline: str = ""


def fingerprint(verdict: Verdict, *facts: Any) -> str:
    """Twelve hex digits of what failed and how; the same for the same failure in every run."""
    text = json.dumps([verdict, *facts], sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def exit_code(verdicts: Iterable[Verdict], *, stale_baseline: bool = False, complete: bool = True) -> int:
    """0 ok; 1 failures or a stale baseline; 2 incomplete; 4 suite error. A run that checked nothing is never 0."""
    seen = set(verdicts)
    if Verdict.SUITE_ERROR in seen:
        return 4
    if stale_baseline or seen & FAILING:
        return 1
    if not complete or seen & INCOMPLETE or not seen & CHECKED:
        return 2
    return 0
