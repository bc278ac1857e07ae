"""The baseline: the known deviations of one harness, strict both ways.

`deviations.yaml` lists check ids with the fingerprint of the failure, the verdict and a reason in somebody's own
words. A known failure is XFAIL; a known failure that passes is XPASS; one that fails in another way is an unexpected
failure. A race of the harness shows in some plays only: its entry says in how many of how many it was seen, and may
pass. Source: design section 6.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from forkproof.conformance.verdict import CheckResult, Verdict
from forkproof.reports.events import KnownDeviation

__all__ = ["UNEXPLAINED", "Baseline", "BaselineError", "Deviation", "check_baseline", "load_baseline"]

_PASSING = frozenset({Verdict.PASS})
_FAILING = frozenset(
    {Verdict.FAIL, Verdict.WARN, Verdict.UNTESTABLE, Verdict.TIMEOUT, Verdict.CRASH, Verdict.SUITE_ERROR}
)

UNEXPLAINED = "TODO"
"""How the reason of an entry begins that nobody has looked into yet."""

Known = Literal["FAIL", "WARN", "UNTESTABLE", "TIMEOUT", "CRASH"]


Fingerprint = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{12}$")]

_MANY = re.compile(r"^([0-9]+) of ([0-9]+)$")


class BaselineError(Exception):
    """A baseline can't be used; the message names the file, the place and what to do."""


def _some_of_many(text: str) -> str:
    """`3 of 8`: seen at least once, and not each time."""
    found = _MANY.match(text)
    if not found or not 0 < int(found[1]) < int(found[2]):
        raise ValueError(f"{text!r} does not say in how many plays of how many it was seen, e.g. `3 of 8`")
    return text


class Deviation(BaseModel):
    """One known deviation. `expires` is the last day on which it counts.

    `sometimes` is for a race: in how many plays of how many it was seen (`3 of 8`). Such a check may pass, and strict
    is only what it fails with. `or_` (in the file: `or`) has the fingerprints of the other ways in which it was seen to
    fail, where a race is lost at different points.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    check: Annotated[str, StringConstraints(pattern=r"^[a-z0-9/-]+::(invariant/)?[A-Z]+-[0-9]+(#[0-9]+)?$")]
    verdict: Known = "FAIL"
    fingerprint: Fingerprint
    reason: Annotated[str, StringConstraints(min_length=10)]
    url: str = ""
    expires: date | None = None
    sometimes: Annotated[str, AfterValidator(_some_of_many)] = ""
    or_: Annotated[tuple[Fingerprint, ...], Field(alias="or")] = ()

    @property
    def fingerprints(self) -> frozenset[str]:
        """Those of all ways in which it fails."""
        return frozenset((self.fingerprint, *self.or_))


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    harness: str
    versions: Annotated[tuple[str, ...], Field(min_length=1)]
    variant: str = ""
    deviations: tuple[Deviation, ...] = ()


@dataclass(frozen=True, slots=True)
class Baseline:
    """The deviations by check id, and for which harness versions they were recorded."""

    path: Path
    harness: str
    versions: tuple[str, ...]
    deviations: Mapping[str, Deviation]
    today: date
    variant: str = ""

    def within(self, clauses: frozenset[str]) -> Baseline:
        """The same baseline for a run that judges these clauses only."""
        kept = {check: d for check, d in self.deviations.items() if _clause(check) in clauses}
        return replace(self, deviations=kept)

    def apply(self, result: CheckResult) -> CheckResult:
        """The result in the light of what is known."""
        known = self.deviations.get(result.id)
        if known is None:
            return result
        if result.verdict in _PASSING:
            if known.sometimes:
                return replace(result, reason=f"known as {known.verdict} in {known.sometimes} plays ({known.reason})")
            return replace(
                result, verdict=Verdict.XPASS, reason=f"known as {known.verdict} ({known.reason}), and it passes now"
            )
        if result.verdict not in _FAILING:
            return result
        if known.expires is not None and known.expires < self.today:
            return replace(result, reason=f"{result.reason} (the known deviation expired on {known.expires})")
        if result.fingerprint not in known.fingerprints:
            ways = " or ".join((known.fingerprint, *known.or_))
            said = f"{result.reason} (known as {ways}, but it fails in another way: {result.fingerprint})"
            return replace(result, reason=said)
        return replace(result, verdict=Verdict.XFAIL, baseline=known.reason)

    def known(self, check: str) -> KnownDeviation | None:
        """What it says of a check, as a record of a run holds it."""
        entry = self.deviations.get(check)
        if entry is None:
            return None
        return KnownDeviation(reason=entry.reason, url=entry.url, verdict=entry.verdict, sometimes=entry.sometimes)

    def unknown(self, checks: Iterable[str], played: Iterable[str]) -> tuple[str, ...]:
        """Entries that name no check there is; entries of traces that exist and were not played are left alone."""
        ids, slugs = set(checks), set(played)
        return tuple(k for k in self.deviations if k not in ids and (k.partition("::")[0] in slugs or not slugs))

    def unexplained(self) -> tuple[str, ...]:
        """Entries that nobody has looked into yet: a deviation without a reason excuses nothing."""
        return tuple(k for k, d in self.deviations.items() if d.reason.startswith(UNEXPLAINED))

    def silent(self, verdicts: Mapping[str, str]) -> tuple[str, ...]:
        """Entries whose check gave no verdict that could fail (not applicable, unobservable): they prove nothing."""
        idle = (Verdict.NOT_APPLICABLE, Verdict.UNOBSERVABLE)
        return tuple(k for k in self.deviations if verdicts.get(k) in idle)

    def stale(self, version: str, verdicts: Mapping[str, str], played: Iterable[str]) -> list[str]:
        """What the baseline says and a run of all checks of these traces does not show, one line each."""
        found = []
        if version not in self.versions:
            found.append(f"the baseline {self.path} is for {', '.join(self.versions)}, this is {version}")
        found += [
            f"the baseline names {check}, which is no check of this run; remove the entry"
            for check in self.unknown(verdicts, played)
        ]
        found += [
            f"the baseline names {check}, which came to no verdict that could fail ({verdicts[check]})"
            for check in self.silent(verdicts)
        ]
        found += [f"the baseline excuses {check} without a reason (TODO)" for check in self.unexplained()]
        return found


def _clause(check: str) -> str:
    """The clause in the id of a check: `TRACE::CLAUSE#2`, or `TRACE::invariant/CLAUSE`."""
    return check.partition("::")[2].removeprefix("invariant/").partition("#")[0]


def load_baseline(path: Path, today: date) -> Baseline:
    """Read `deviations.yaml`. Raises `BaselineError`."""
    try:
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)  # the safe loader in C
        found = _File.model_validate(data)
    except OSError as error:
        raise BaselineError(f"{path}: can't read the baseline: {error.strerror}") from None
    except yaml.YAMLError as error:
        raise BaselineError(f"{path}: the baseline is no YAML: {error}") from None
    except ValidationError as error:
        lines = [f"{path}: {'.'.join(map(str, e['loc'])) or 'file'}: {e['msg']}" for e in error.errors()]
        raise BaselineError("\n".join(lines)) from None
    deviations: dict[str, Deviation] = {}
    for each in found.deviations:
        if each.check in deviations:
            raise BaselineError(f"{path}: {each.check} stands twice; keep one entry")
        deviations[each.check] = each
    return Baseline(path, found.harness, found.versions, deviations, today, found.variant)


def check_baseline(path: Path, harness: str, variant: str = "") -> None:
    """See, before anything runs, that the baseline can be read and is this harness's. Raises `BaselineError`."""
    found = load_baseline(path, date.min)
    if found.harness != harness:
        raise BaselineError(f"{path}: this baseline is for {found.harness}, the run is for {harness}")
    if found.variant != variant:
        ways = [name or "its default" for name in (found.variant, variant)]
        raise BaselineError(f"{path}: this baseline is for {harness} as {ways[0]}, the run is for {ways[1]}")
