"""Verdicts counted and put into words. Source: design section 6."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

from forkproof.reports.events import Checked, RunEnded, RunStarted, Verdict

__all__ = ["NOT_JUDGED", "UNEXPECTED", "Mood", "counts", "headline", "mood", "name", "outcome", "phrase", "worst"]

NOT_JUDGED: frozenset[Verdict] = frozenset({"UNTESTABLE", "TIMEOUT", "CRASH", "SUITE_ERROR"})
"""The check says nothing about the clause, because something else went wrong."""

UNEXPECTED: frozenset[Verdict] = NOT_JUDGED | {"FAIL", "XPASS"}
"""What makes a run red."""

_WORST_FIRST: tuple[Verdict, ...] = (
    "SUITE_ERROR", "CRASH", "TIMEOUT", "FAIL", "XPASS", "UNTESTABLE", "WARN", "XFAIL", "PASS", "UNOBSERVABLE",
    "NOT_APPLICABLE",
)  # fmt: skip

_WORDS: dict[Verdict, str] = {
    "XPASS": "unexpected pass",
    "WARN": "warn",
    "UNTESTABLE": "untestable",
    "TIMEOUT": "timeout",
    "CRASH": "crash",
    "SUITE_ERROR": "suite error",
    "UNOBSERVABLE": "unobservable",
    "NOT_APPLICABLE": "not applicable",
}

Mood: TypeAlias = Literal["bad", "broken", "warn", "known", "good", "quiet"]
"""How a verdict is to be shown: bad is the harness's fault, broken says nothing about it, known is in the baseline."""

_MOODS: dict[Verdict, Mood] = {"FAIL": "bad", "XPASS": "bad", "WARN": "warn", "XFAIL": "known", "PASS": "good"}


def mood(verdict: Verdict) -> Mood:
    """The mood of one verdict; `quiet` is what needs no eye: not applicable, not observable."""
    return "broken" if verdict in NOT_JUDGED else _MOODS.get(verdict, "quiet")


def counts(checks: Iterable[Checked]) -> Counter[Verdict]:
    """How many checks got each verdict."""
    return Counter(check.verdict for check in checks)


def worst(tally: Mapping[Verdict, int]) -> Verdict | None:
    """The verdict that speaks for them all; None where there is none."""
    return next((v for v in _WORST_FIRST if tally.get(v)), None)


def phrase(tally: Mapping[Verdict, int]) -> str:
    """The counts in words, e.g. `52 pass, 7 fail (6 known), 2 not applicable`. Known failures count as failures."""
    known = tally.get("XFAIL", 0)
    failed = tally.get("FAIL", 0) + known
    words = [f"{tally['PASS']} pass"] if tally.get("PASS") else []
    if failed:
        words.append(f"{failed} fail" + (f" ({known} known)" if known else ""))
    words += [f"{tally[v]} {word}" for v, word in _WORDS.items() if tally.get(v)]
    return ", ".join(words) or "nothing judged"


def outcome(ended: RunEnded | None) -> str:
    """One word for the run, from its exit code; a run without an end was cut off."""
    if ended is None:
        return "TRUNCATED"
    return {0: "OK", 1: "FAILED", 2: "INCOMPLETE", 3: "USAGE ERROR"}.get(ended.exit, "SUITE ERROR")


def headline(started: RunStarted, tally: Mapping[Verdict, int], ended: RunEnded | None) -> str:
    """The run in one line, e.g. `codex 0.171.0: 61 checks, 52 pass, 9 fail (6 known); exit 1`."""
    total = sum(tally.values())
    end = f"exit {ended.exit}" if ended else "no end recorded"
    return f"{name(started)}: {total} check{'' if total == 1 else 's'}, {phrase(tally)}; {end}"


def name(started: RunStarted) -> str:
    """The harness and its version."""
    return f"{started.harness.name} {started.harness.version}".rstrip()
