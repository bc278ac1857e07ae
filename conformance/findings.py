"""What the published runs found, as a page for people: by harness, the worst first, each with its replay command.

The words are the reasons of the known deviations; findings with the same reason are one. Whatever stands above the mark
is written by hand and stays. Source: issue 4, Build 6.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from forkproof.conformance.contract import Clause, Contract
from forkproof.conformance.rejudge import Traces
from forkproof.reports.events import Checked, RunStarted
from forkproof.reports.runlog import RunRecord

__all__ = ["MARK", "Finding", "findings_of", "page"]

MARK: Final = "<!-- From here on made by `forkproof findings`: what is changed by hand below is lost. -->"

_STATEMENTS: Final = frozenset({"REC", "RD", "LBL"})
"""Areas about what a harness tells; all others are about what it does: context, data, authority."""
_TOLD: Final = frozenset(
    {"record", "record_has", "lineage", "titles_differ", "labels", "sessions", "revision_differs_from"}
)
"""Kinds of expectations that are about what a harness tells, whatever the clause."""
_SHOWN: Final = 3
"""Traces of a finding that are named; the others are counted."""


@dataclass(slots=True)
class Finding:
    """One reason, and all that it stands for, over the runs of one harness."""

    reason: str
    checks: list[Checked] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)

    def broken(self, contract: Contract) -> list[Clause]:
        """The clauses that are broken, the gravest first."""
        return _gravest(filter(_fails, self.checks), contract)

    def unjudged(self, contract: Contract) -> list[Clause]:
        """The clauses that nobody can judge because of it, though nothing was seen to break them."""
        broken = self.broken(contract)
        return [clause for clause in _gravest(self.checks, contract) if clause not in broken]

    def rank(self, contract: Contract) -> tuple[bool, tuple[int, int, int], int, str]:
        """The place among a harness's findings: a broken core MUST first, then more checks before fewer."""
        failing = [check for check in self.checks if _fails(check)]
        worst = min(_grave(contract.clauses[check.clause], check) for check in failing or self.checks)
        return not failing, worst, -len(self.checks), self.checks[0].id


def _fails(check: Checked) -> bool:
    """Whether the clause is broken; else the play came to no end, or to nothing that could be judged."""
    return check.baseline is not None and check.baseline.verdict in {"FAIL", "WARN"}


def _gravest(checks: Iterable[Checked], contract: Contract) -> list[Clause]:
    worst = sorted(checks, key=lambda check: _grave(contract.clauses[check.clause], check))
    return [contract.clauses[id_] for id_ in dict.fromkeys(check.clause for check in worst)]


def _grave(clause: Clause, check: Checked) -> tuple[int, int, int]:
    """What the model or the person loses counts before what a record does not say, MUST and core before others."""
    told = clause.area in _STATEMENTS or (bool(check.expected) and check.expected.keys() <= _TOLD)
    return int(clause.level != "MUST"), int(clause.profile != "core"), int(told)


def findings_of(records: Iterable[RunRecord], contract: Contract) -> list[Finding]:
    """The known deviations of a harness's runs, the worst first. One that several runs show stands once."""
    found: dict[str, Finding] = {}
    for record in records:
        name = _run(record.started)
        for check in record.checks:
            if check.verdict != "XFAIL" or check.baseline is None:
                continue
            reason = " ".join(check.baseline.reason.split())
            finding = found.setdefault(reason, Finding(reason))
            if check.id not in {each.id for each in finding.checks}:
                finding.checks.append(check)
            if name not in finding.runs:
                finding.runs.append(name)
    return sorted(found.values(), key=lambda finding: finding.rank(contract))


def page(introduction: str, records: Sequence[RunRecord], contract: Contract, traces: Traces | None = None) -> str:
    """The whole page: the introduction up to the mark, and what the runs found."""
    shelf = traces or Traces()
    by_harness: dict[str, list[RunRecord]] = {}
    for record in sorted(records, key=_age):
        by_harness.setdefault(record.started.harness.name, []).append(record)
    lines = [introduction.partition(MARK)[0].rstrip("\n"), "", MARK]
    lines += _overview(by_harness, contract)
    for harness, runs in sorted(by_harness.items()):
        lines += _harness(harness, runs, contract, shelf)
    return "\n".join(lines).rstrip("\n") + "\n"


# --- sections --------------------------------------------------------------------------------------------------------


def _overview(by_harness: dict[str, list[RunRecord]], contract: Contract) -> list[str]:
    lines = ["", "| run | checks | pass | known deviations | findings | not applicable | not to be seen |"]
    lines.append("| --- | --- | --- | --- | --- | --- | --- |")
    for harness, runs in sorted(by_harness.items()):
        for record in runs:
            counts = Counter(check.verdict for check in record.checks)
            numbers = (
                len(record.checks),
                counts["PASS"],
                counts["XFAIL"],
                len(findings_of([record], contract)),
                counts["NOT_APPLICABLE"],
                counts["UNOBSERVABLE"],
            )
            lines.append(f"| {harness} {_run(record.started)} | {' | '.join(map(str, numbers))} |")
    return lines


def _harness(harness: str, runs: Sequence[RunRecord], contract: Contract, traces: Traces) -> list[str]:
    lines = ["", f"## {harness}"]
    names = [_run(record.started) for record in runs]
    found = findings_of(runs, contract)
    for number, finding in enumerate(found, start=1):
        lines += _finding(number, finding, names, contract, traces)
    warnings = _warnings(runs, contract)
    return lines + (warnings if found or warnings else ["", "Nothing: every check that applies passes."])


def _finding(number: int, finding: Finding, runs: Sequence[str], contract: Contract, traces: Traces) -> list[str]:
    broken, unjudged = finding.broken(contract), finding.unjudged(contract)
    clauses = [*broken, *unjudged]
    first = clauses[0]
    level = f"{first.level}, {first.profile}" + ("" if broken else "; can't be judged")
    lines = ["", f"### {number}. {first.id} ({level})", "", f"> {first.text}", "", finding.reason, ""]
    also = [clause.id for clause in clauses[1:] if clause in broken]
    beside = [clause.id for clause in clauses[1:] if clause in unjudged]
    lines += [f"- Also: {', '.join(also)}"] if also else []
    lines += [f"- Can't be judged because of it: {', '.join(beside)}"] if beside else []
    lines += _races(finding)
    if len(runs) > 1:
        lines.append(f"- Runs: {', '.join(finding.runs)}")
    lines.append(f"- Traces: {_named(dict.fromkeys(check.trace for check in finding.checks))}")
    known = _reports(finding, clauses, traces)
    if known:
        lines.append(f"- The same kind in public reports: {', '.join(known)}")
    shown = next(check for check in finding.checks if check.clause == first.id)
    return [*lines, f"- Replay: `{shown.replay}`"]


def _races(finding: Finding) -> list[str]:
    """How often it was seen, where it does not show in each play."""
    often: dict[str, list[str]] = {}
    for check in finding.checks:
        if check.baseline and check.baseline.sometimes:
            often.setdefault(check.baseline.sometimes, []).append(f"`{check.id}`")
    return [f"- A race, seen in {plays} plays: {', '.join(checks)}" for plays, checks in often.items()]


def _named(traces: Iterable[str]) -> str:
    names = [f"`{name}`" for name in traces]
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _reports(finding: Finding, clauses: Sequence[Clause], traces: Traces) -> list[str]:
    """Reports that both a clause and one of the traces that show the finding come from."""
    of_clauses = {source for clause in clauses for source in clause.sources}
    found: dict[str, None] = {}
    for slug in dict.fromkeys(check.trace for check in finding.checks):
        loaded = traces.find(slug)
        sources = loaded.trace.from_ if loaded is not None else ()
        found |= dict.fromkeys(each for each in sources if each in of_clauses and not each.startswith("seed"))
    return sorted(found)


def _warnings(runs: Sequence[RunRecord], contract: Contract) -> list[str]:
    """The SHOULDs that do not hold: a line a clause."""
    warned: dict[str, Checked] = {}
    for record in runs:
        for check in record.checks:
            if check.verdict == "WARN":
                warned.setdefault(check.clause, check)
    if not warned:
        return []
    lines = ["", "### SHOULDs that do not hold", ""]
    order = list(contract.clauses)
    for clause in sorted(warned, key=order.index):
        check = warned[clause]
        lines.append(f"- {clause}: {contract.clauses[clause].text} Seen: {check.reason}. Replay: `{check.replay}`")
    return lines


def _age(record: RunRecord) -> tuple[list[int], str, str]:
    """The newest release first, as it comes before its variants: what it shows is replayed on it."""
    adapter = record.started.adapter
    return (
        [-int(number) for number in re.findall(r"\d+", record.started.harness.version)],
        adapter.variant,
        adapter.wire,
    )


def _run(started: RunStarted) -> str:
    """A run among those of its harness: `0.171.0`, `0.171.0 legacy`, `1.52.0 over responses`."""
    adapter = started.adapter
    told = [started.harness.version, adapter.variant]
    return " ".join(part for part in told if part) + (f" over {adapter.wire}" if adapter.wire else "")
