"""`forkproof rejudge`: an old recording under today's contract and traces, and what is told of the difference."""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from forkproof.adapters.mutated import mutated
from forkproof.adapters.protocol import Description
from forkproof.adapters.registry import Entry, find
from forkproof.conformance.baseline import load_baseline
from forkproof.conformance.baseline_update import write_baseline
from forkproof.conformance.cli.rejudge import rejudge as command
from forkproof.conformance.contract import Contract, load_contract
from forkproof.conformance.engine import Engine
from forkproof.conformance.recorder import trace_set
from forkproof.conformance.recording import run_started
from forkproof.conformance.rejudge import Rejudged, Traces, UnjudgeableRun, rejudge
from forkproof.conformance.trace.load import load
from forkproof.conformance.verdict import Verdict, exit_code
from forkproof.reference.mutants import every
from forkproof.reports.events import ContractStamp, Event, RunEnded
from forkproof.reports.runlog import PACKED_NAME, RunLog, RunRecord, read

FORK = """\
trace: 1
title: A fork before an edit
needs: [fork.before]
steps:
  - turn: plan
    user: Plan.
    model: [{say: Planned.}]
  - turn: write
    user: Write.
    model: [{say: Written.}]
  - fork: alt
    before: write
    expect:
      - OPS-2: {requests: 0}
  - turn: retry
    in: alt
    user: Again.
    model: [{say: Fine.}]
    expect:
      - CUT-1: {prompt: [plan.user, plan.say, retry.user]}
"""
PLAIN = """\
trace: 1
title: Two turns
needs: [fork.before]
steps:
  - turn: plan
    user: Plan.
    model: [{say: Planned.}]
  - turn: go
    user: Go.
    model: [{say: Gone.}]
    expect:
      - CUT-4: {prompt: [plan.user, plan.say, go.user]}
"""


class Broken(Entry):
    """The reference with a fault: cuts are off."""

    def create(self) -> Any:
        return mutated(next(m for m in every() if m.clause == "CUT-1"))


Record = Callable[..., RunRecord]


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    folder = tmp_path / "traces" / "mine"
    folder.mkdir(parents=True)
    (folder / "fork.yaml").write_text(FORK, encoding="utf-8")
    (folder / "plain.yaml").write_text(PLAIN, encoding="utf-8")
    return folder


@pytest.fixture
def record(tmp_path: Path, traces: Path) -> Record:
    """Plays the traces on the reference, or on a broken one, and reads the record."""

    def play(*, broken: bool = False, out: str = "out") -> RunRecord:
        entry = find("reference")
        if broken:
            entry = Broken(entry.summary, entry.module, entry.choice)
        return recorded(entry, sorted(traces.glob("*.yaml")), tmp_path / out)

    return play


def recorded(entry: Entry, files: list[Path], out: Path) -> RunRecord:
    contract = load_contract()
    with Engine(entry, contract, seed=3) as engine, RunLog(out) as log:
        log.emit(started(entry.describe(), contract, files))
        verdicts: list[str] = []
        for played in (engine.play(load(file)) for file in files):
            events: list[Event] = [played.observed, *played.checks.values()]
            for event in events:
                log.emit(event)
            verdicts += [check.verdict for check in played.checks.values()]
        counts = {verdict: verdicts.count(verdict) for verdict in set(verdicts)}
        log.emit(RunEnded(counts=counts, exit=exit_code(map(Verdict, verdicts))))
    return read(out)


def started(description: Description, contract: Contract, files: list[Path]) -> Any:
    stamp = ContractStamp(revision=str(contract.revision), sha256=contract.sha256)
    return run_started(suite="0.0.9", contract=stamp, traces=trace_set(files), description=description, seed=3,
                       profile=None, started="2026-01-01T00:00:00+00:00")  # fmt: skip


def verdicts(found: Rejudged) -> dict[str, str]:
    return {check.id: check.verdict for check in found.checks}


def again(record: RunRecord, **more: Any) -> Rejudged:
    return rejudge(record, load_contract(), traces=Traces(), **more)


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_nothing_changes_by_itself(record: Record) -> None:
    """Under the same traces, contract and judge every check comes to its recorded verdict, word for word."""
    for broken in (False, True):
        old = record(broken=broken, out=f"out-{broken}")
        found = again(old)
        assert (found.changes, found.gone, found.fresh) == ((), (), ())
        assert found.checks == old.checks
        assert found.ended.exit == (1 if broken else 0)
        assert found.ended.counts == (old.ended and old.ended.counts)


def test_an_expectation_that_changed_is_judged_by_the_old_evidence(record: Record, traces: Path) -> None:
    """Where the steps are the same the recording answers; the change is the trace's."""
    old = record()
    change(traces / "fork.yaml", "[plan.user, plan.say, retry.user]", "[plan.user, retry.user]")
    found = again(old)
    assert verdicts(found)["mine/fork::CUT-1"] == "FAIL"
    (only,) = found.changes
    assert (only.check, only.before, only.after, only.cause) == ("mine/fork::CUT-1", "PASS", "FAIL", "trace")
    assert "plan.say is not expected here" in only.reason
    assert found.started.traces.sha256 != old.started.traces.sha256
    assert found.ended.exit == 1


def test_a_check_that_came_later_and_one_that_went(record: Record, traces: Path) -> None:
    """New expectations are judged and told as fresh, those that are no more as gone; neither is a changed verdict."""
    old = record()
    change(traces / "fork.yaml", "OPS-2: {requests: 0}", "CUT-2: {requests: 0}")
    found = again(old)
    assert (found.changes, found.gone, found.fresh) == ((), ("mine/fork::OPS-2",), ("mine/fork::CUT-2",))
    assert verdicts(found)["mine/fork::CUT-2"] == "PASS"


def test_steps_that_changed_can_not_be_judged(record: Record, traces: Path) -> None:
    """The recording is of another story: every check of the trace is UNTESTABLE and says so; others are judged."""
    old = record()
    change(traces / "fork.yaml", "user: Again.", "user: Another way.")
    found = again(old)
    of_fork = {check.verdict for check in found.checks if check.trace == "mine/fork"}
    assert of_fork == {"UNTESTABLE"}
    assert all("steps have changed" in check.reason for check in found.checks if check.trace == "mine/fork")
    assert verdicts(found)["mine/plain::CUT-4"] == "PASS"
    assert {c.cause for c in found.changes} == {"trace"}
    assert found.ended.exit == 2


def test_a_trace_that_is_gone(record: Record, traces: Path) -> None:
    """Nobody can say what its checks asked: UNTESTABLE, and told."""
    old = record()
    (traces / "plain.yaml").unlink()
    found = again(old)
    assert verdicts(found)["mine/plain::CUT-4"] == "UNTESTABLE"
    assert verdicts(found)["mine/fork::CUT-1"] == "PASS"
    assert found.ended.exit == 2


def test_a_contract_that_changed(record: Record) -> None:
    """A MUST that became a SHOULD turns the failure into a warning, and the contract is the cause."""
    old, contract = record(broken=True), load_contract()
    clauses = {**contract.clauses, "CUT-1": replace(contract.clauses["CUT-1"], level="SHOULD")}
    found = rejudge(old, replace(contract, clauses=clauses, sha256="0" * 64), traces=Traces())
    changed = {c.check: (c.before, c.after, c.cause) for c in found.changes}
    assert changed["mine/fork::CUT-1"] == ("FAIL", "WARN", "contract")
    assert found.started.contract.sha256 == "0" * 64


def test_a_judge_that_changed(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same trace and contract only the judge can be the cause."""
    from forkproof.conformance.judge import check
    from forkproof.conformance.judge.finding import bad

    old = record()
    monkeypatch.setattr(check, "RULES", {**check.RULES, "requests": lambda _: bad("no more")})
    (only,) = again(old).changes
    assert (only.check, only.after, only.cause, only.reason) == ("mine/fork::OPS-2", "FAIL", "judge", "no more")


def test_a_baseline_is_applied_to_the_verdicts_of_today(record: Record, tmp_path: Path) -> None:
    """Known failures are XFAIL, which is no change; an entry that excuses nothing is stale."""
    old = record(broken=True)
    red = {c.id for c in old.checks if c.verdict == "FAIL"}
    path = tmp_path / "deviations.yaml"
    write_baseline(path, "reference", old.started.harness.version, [old.checks])
    path.write_text(path.read_text(encoding="utf-8").replace("TODO say why", "The cut is off"), encoding="utf-8")
    found = again(old, baseline=load_baseline(path, date.min))
    assert {c.verdict for c in found.checks if c.id in red} == {"XFAIL"}
    assert (found.changes, found.ended.exit) == ((), 0)
    stale = again(record(out="good"), baseline=load_baseline(path, date.min))
    assert {c.verdict for c in stale.checks if c.id in red} == {"XPASS"}
    assert stale.ended.exit == 1


# --- records that can't be judged ------------------------------------------------------------------------------------


def lines(record: RunRecord) -> list[dict[str, Any]]:
    return [json.loads(line) for line in record.path.read_text(encoding="utf-8").splitlines()]


def write(path: Path, data: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in data), encoding="utf-8")
    return path


def test_a_record_without_evidence(record: Record, tmp_path: Path) -> None:
    """Records of version 1 are read, and refused with what to do."""
    data = lines(record())
    data[0]["schema"] = 1
    for each in data:
        for name in ("evidence", "trace_sha256", "steps_sha256"):
            each.pop(name, None)
    with pytest.raises(UnjudgeableRun, match="kept no evidence\n  hint: run the harness again"):
        again(read(write(tmp_path / "old.jsonl", data)))


def test_damaged_evidence_is_one_line_and_exit_3(record: Record, tmp_path: Path) -> None:
    """The trace and the place are named; no traceback, no verdict."""
    data = lines(record())
    seen = next(each for each in data if each["event"] == "observation")
    seen["evidence"]["main"]["steps"][0]["index"] = "first"
    done = CliRunner().invoke(command, [str(write(tmp_path / "bad.jsonl", data))])
    assert done.exit_code == 3
    assert "the evidence of mine/fork is damaged: main.steps[0].index: expected a number" in done.output
    assert "Traceback" not in done.output


def test_a_killed_run_is_judged_as_far_as_it_goes(record: Record, tmp_path: Path) -> None:
    """A record without an end is incomplete: exit 2, though all that was seen passes."""
    data = lines(record())[:-1]
    found = again(read(write(tmp_path / "killed.jsonl", data)))
    assert set(verdicts(found).values()) <= {"PASS", "NOT_APPLICABLE"}
    assert (found.ended.exit, found.ended.complete, found.ended.reason) == (2, False, "the recorded run has no end")


@pytest.mark.parametrize("data", [b"no xz", lzma.compress(b"x" * 999)[:40]])
def test_a_packed_record_that_is_none(tmp_path: Path, data: bytes) -> None:
    """A file that is not compressed, or cut off, is told by name."""
    path = tmp_path / PACKED_NAME
    path.write_bytes(data)
    done = CliRunner().invoke(command, [str(tmp_path)])
    assert done.exit_code == 3
    assert f"{PACKED_NAME}: not compressed as .xz, or cut off" in done.output


# --- the command -----------------------------------------------------------------------------------------------------


def test_the_command_tells_what_changed(record: Record, traces: Path, tmp_path: Path) -> None:
    """Failures as `run` shows them, then each change with its cause; `--out` is a record that can be judged again."""
    old = record()
    change(traces / "fork.yaml", "[plan.user, plan.say, retry.user]", "[plan.user, retry.user]")
    done = CliRunner().invoke(command, [str(old.path.parent), "--out", str(tmp_path / "new")])
    assert done.exit_code == 1
    flat = " ".join(done.output.split())
    assert "mine/fork::CUT-1: PASS when it was recorded, FAIL now; the trace has changed since" in flat
    assert "recorded by forkproof 0.0.9, judged again by" in flat
    assert again(read(tmp_path / "new")).changes == ()


def test_strict_fails_on_any_change(record: Record, tmp_path: Path) -> None:
    """A check that is recorded as failed and passes today is no failure, but a change."""
    data = lines(record())
    check = next(each for each in data if each.get("id") == "mine/fork::CUT-1")
    check |= {"verdict": "FAIL", "fingerprint": "0" * 12}
    data[-1]["counts"] |= {"FAIL": 1, "PASS": data[-1]["counts"]["PASS"] - 1}
    path = str(write(tmp_path / "fixed.jsonl", data))
    loose, strict = (CliRunner().invoke(command, [path, "--json", *more]) for more in ((), ("--strict",)))
    changed = {c["check"]: (c["before"], c["after"], c["cause"]) for c in json.loads(loose.output)["changes"]}
    assert changed == {"mine/fork::CUT-1": ("FAIL", "PASS", "judge")}
    assert (loose.exit_code, strict.exit_code) == (0, 1)


def test_a_baseline_of_another_harness_is_refused(record: Record, tmp_path: Path) -> None:
    """The wrong file of deviations is a wrong use."""
    path = tmp_path / "deviations.yaml"
    path.write_text("harness: codex\nversions: ['1']\ndeviations: []\n", encoding="utf-8")
    done = CliRunner().invoke(command, [str(record().path), "--baseline", str(path)])
    assert done.exit_code == 3
    assert "this baseline is for codex, the run is for reference" in done.output
