"""The baseline that runs of one harness show: what fails in each of them, and what only sometimes.

Source: design section 6, known deviations are strict both ways. Reasons are a person's: those that are still true stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, Final, TypeAlias

import yaml

from forkproof.conformance.baseline import UNEXPLAINED, Deviation, load_baseline
from forkproof.conformance.verdict import CheckResult, Verdict
from forkproof.reports.events import Checked

__all__ = ["Result", "write_baseline"]

_SAID: Final = (
    "# Where the forks of {harness} deviate from the contract; each entry is from a run that can be repeated.\n"
)
_FAILING: Final = frozenset({Verdict.FAIL, Verdict.XFAIL, Verdict.UNTESTABLE, Verdict.TIMEOUT, Verdict.CRASH})
_PASSING: Final = frozenset({Verdict.PASS, Verdict.XPASS})


Result: TypeAlias = Checked | CheckResult
"""A judged check, as a run's record holds it or as the judge gives it."""


@dataclass(slots=True)
class _Seen:
    """One check over all runs: how often it passed, and with what it failed."""

    passed: int = 0
    failures: list[Result] = field(default_factory=list)

    @property
    def ways(self) -> list[str]:
        """The fingerprints of its failures, the most frequent first."""
        return [way for way, _ in Counter(each.fingerprint for each in self.failures).most_common()]

    @property
    def often(self) -> str:
        """In how many plays of how many it failed; empty where it failed in each."""
        failed = len(self.failures)
        return f"{failed} of {failed + self.passed}" if self.passed else ""


def write_baseline(
    path: Path, harness: str, version: str, runs: Sequence[Iterable[Result]], variant: str = ""
) -> tuple[int, int]:
    """Write what these runs of one harness show as known deviations, keeping the entries that are still true.

    A check that fails in some runs and passes in others becomes a race; the entry of a race stays where it passes.
    Returns how many entries were kept and how many are new; a new entry gets a reason that starts with TODO, for a
    person to replace. Raises `BaselineError` if there is a file that is no baseline.
    """
    old = load_baseline(path, date.min).deviations if path.exists() else {}
    kept = fresh = 0
    entries = []
    for check, seen in sorted(_gathered(runs).items()):
        known = old.get(check)
        if not seen.failures:
            if known and known.sometimes:
                kept += 1
                entries.append(_entry(known))
            continue
        same = known is not None and known.fingerprints.issuperset(seen.ways)
        kept, fresh = kept + same, fresh + (not same)
        entry = _entry(known) if known and same else _new(check, seen, known)
        entries.append(entry | ({"sometimes": seen.often} if seen.often else {}))
    of = {"variant": variant} if variant else {}
    data = {"harness": harness, "versions": [version], **of, "deviations": entries}
    text = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=100)
    path.write_text(_SAID.format(harness=harness) + text, encoding="utf-8")
    return kept, fresh


def _gathered(runs: Sequence[Iterable[Result]]) -> dict[str, _Seen]:
    found: dict[str, _Seen] = {}
    for result in (result for run in runs for result in run):
        if result.verdict in _FAILING:
            found.setdefault(result.id, _Seen()).failures.append(result)
        elif result.verdict in _PASSING:
            found.setdefault(result.id, _Seen()).passed += 1
    return found


def _entry(known: Deviation) -> dict[str, Any]:
    """An entry as it stands in the file: an excused failure keeps the verdict that it is known for."""
    always = {"check": known.check, "verdict": known.verdict}
    return always | known.model_dump(by_alias=True, exclude_defaults=True)


def _new(check: str, seen: _Seen, known: Deviation | None) -> dict[str, Any]:
    """An entry for a person to explain; in which ways a race was lost before, and where one can read of it, stays."""
    first = seen.failures[0]
    before = [known.fingerprint, *known.or_] if known and known.sometimes else []
    ways = list(dict.fromkeys((*seen.ways, *before)))
    entry = {
        "check": check,
        "verdict": known.verdict if known and first.verdict == Verdict.XFAIL else str(first.verdict),
        "fingerprint": ways[0],
        "reason": f"{UNEXPLAINED} say why: {first.reason}",
    }
    if known and known.url:
        entry["url"] = known.url
    if known and known.sometimes:
        entry["sometimes"] = known.sometimes
    return entry | ({"or": ways[1:]} if ways[1:] else {})
