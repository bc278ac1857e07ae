"""Published runs: judged again they come to what they say, they hold nothing private, and the page is in step."""

from __future__ import annotations

import getpass
import json
import lzma
import re
import socket
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from forkproof.adapters.registry import find
from forkproof.conformance import published
from forkproof.conformance.baseline import load_baseline
from forkproof.conformance.cli.findings import findings as findings_command
from forkproof.conformance.cli.publish import publish as publish_command
from forkproof.conformance.contract import load_contract
from forkproof.conformance.engine import Engine
from forkproof.conformance.findings import MARK, findings_of, page
from forkproof.conformance.published import (
    UnpublishableRun,
    baseline_of,
    packed,
    place_of,
    private_in,
    published_in,
    wire_of,
)
from forkproof.conformance.recorder import trace_set
from forkproof.conformance.recording import run_started
from forkproof.conformance.rejudge import Traces, rejudge
from forkproof.conformance.trace.load import discover, load, slug_of
from forkproof.conformance.verdict import Verdict, exit_code
from forkproof.reports.events import AdapterStamp, Checked, ContractStamp, HarnessStamp, KnownDeviation, RunEnded
from forkproof.reports.runlog import RunLog, RunRecord, read

ROOT = Path(__file__).parents[1]
PUBLISHED = ROOT / "reports" / "published"
RUNS = published_in(PUBLISHED)
LARGEST = 1_000_000
AGAIN = "tests/tools/publish_all.py publishes all runs again"


@pytest.fixture(scope="module")
def traces() -> Traces:
    """Today's traces, each read once for all runs."""
    return Traces()


def name(path: Path) -> str:
    return path.parent.relative_to(PUBLISHED).as_posix()


def test_there_are_published_runs() -> None:
    """The tests below had something to look at."""
    assert RUNS


@pytest.mark.parametrize("path", RUNS, ids=name)
def test_a_published_run_judged_again_is_what_it_says(path: Path, traces: Traces) -> None:
    """Every shipped trace is in it, no verdict is another one today, and every failure is a known deviation."""
    record = read(path)
    assert place_of(record.started) == path.relative_to(PUBLISHED)
    baseline = baseline_of(record.started, ROOT / "adapters")
    contract = load_contract()
    if baseline is not None and record.started.profile is not None:
        baseline = baseline.within(contract.profile(record.started.profile))
    found = rejudge(record, contract, baseline, traces)
    assert [str(change) for change in found.changes] == [], AGAIN
    assert (found.gone, found.fresh) == ((), ()), AGAIN
    assert [c.verdict for c in found.checks] == [c.verdict for c in record.checks]
    assert found.ended.exit == 0, [c.id for c in found.checks if c.verdict in {"FAIL", "XPASS"}]
    if record.started.profile is None:
        assert {e.trace for e in record.observations} == {slug_of(file) for file in discover()}, AGAIN


@pytest.mark.parametrize("path", RUNS, ids=name)
def test_a_published_run_holds_nothing_private_and_nothing_that_varies(path: Path) -> None:
    """No path, no user, no host, no key; no volatile member; small enough to be kept."""
    data = path.read_bytes()
    text = lzma.decompress(data).decode("ascii")
    assert private_in(text) == []
    names = {getpass.getuser(), socket.gethostname()} - {"root", "localhost", "main", "codex", "goose", "pi"}
    assert not [n for n in names if re.search(rf"\b{re.escape(n)}\b", text)]
    assert not re.search(r"127\.0\.0\.1:\d+", text)
    assert all(json.loads(line)["volatile"] == {} for line in text.splitlines())
    assert len(data) < LARGEST
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_the_page_of_findings_is_in_step_with_the_runs(traces: Traces) -> None:
    """docs/findings.md is what `forkproof findings` makes of the published runs."""
    text = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    assert text.count(MARK) == 1
    assert page(text, [read(path) for path in RUNS], load_contract(), traces) == text, "run `forkproof findings`"


# --- making them -----------------------------------------------------------------------------------------------------


FEW = discover(["cut", "iso", "rec"])


@pytest.fixture
def _few_are_shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if no other traces came with forkproof: a whole run is a short one then."""
    monkeypatch.setattr(published, "discover", lambda: FEW)


SHORT = pytest.mark.usefixtures("_few_are_shipped")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    """A whole run of a few traces, on the reference."""
    entry, contract, files = find("reference"), load_contract(), FEW
    out = tmp_path_factory.mktemp("whole")
    stamp = ContractStamp(revision=str(contract.revision), sha256=contract.sha256)
    began = run_started(suite="0.1.0", contract=stamp, traces=trace_set(files), description=entry.describe(), seed=3,
                        profile=None, started="2026-01-01T00:00:00+00:00")  # fmt: skip
    verdicts: list[str] = []
    with Engine(entry, contract, seed=3) as engine, RunLog(out) as log:
        log.emit(began)
        for file in files:
            played = engine.play(load(file))
            for event in (played.observed, *played.checks.values()):
                log.emit(event)
            verdicts += [check.verdict for check in played.checks.values()]
        counts = {verdict: verdicts.count(verdict) for verdict in set(verdicts)}
        log.emit(RunEnded(counts=counts, exit=exit_code(map(Verdict, verdicts))))
    return read(out)


@SHORT
def test_a_run_is_packed_the_same_way_each_time(whole: RunRecord, tmp_path: Path, traces: Traces) -> None:
    """The bytes depend on the run alone; read again they hold its verdicts, and can be judged."""
    data = packed(whole, load_contract(), None, traces)
    assert data == packed(whole, load_contract(), None, traces)
    place = tmp_path / place_of(whole.started)
    place.parent.mkdir(parents=True)
    place.write_bytes(data)
    back = read(place.parent)
    assert [(c.id, c.verdict) for c in back.checks] == [(c.id, c.verdict) for c in whole.checks]
    assert rejudge(back, load_contract(), traces=traces).changes == ()


def without(record: RunRecord, trace: str) -> RunRecord:
    kept = [e for e in record.events if getattr(e, "trace", "") != trace]
    return replace(record, events=tuple(kept))


def changed(record: RunRecord, **more: Any) -> RunRecord:
    events = [replace(e, **more) if isinstance(e, Checked) and e.id == CHECK else e for e in record.events]
    return replace(record, events=tuple(events))


CHECK = "cut/edit-then-fork-shared::CUT-1"


@SHORT
def test_what_is_not_fit_for_others_is_refused(whole: RunRecord, traces: Traces) -> None:
    """Not complete, not all traces, a verdict of another judge: each is told, with what to do."""
    contract = load_contract()
    killed = replace(whole, events=whole.events[:-1])
    for record, told in (
        (killed, "the run is not complete"),
        (without(whole, "cut/edit-then-fork-shared"), "1 shipped traces were not played, e.g. cut/edit"),
        (changed(whole, verdict="FAIL", fingerprint="0" * 12), "1 verdicts are not what was recorded"),
    ):
        with pytest.raises(UnpublishableRun, match=told):
            packed(record, contract, None, traces)


@SHORT
def test_a_baseline_that_excuses_without_a_reason_is_a_surprise(
    whole: RunRecord, tmp_path: Path, traces: Traces
) -> None:
    """A TODO, or an entry that nothing fails on, is no explanation."""
    path = tmp_path / "deviations.yaml"
    entry = f"- {{check: '{CHECK}', fingerprint: '0123456789ab', reason: TODO say why it fails}}"
    path.write_text(f"harness: reference\nversions: ['0.1.0']\ndeviations:\n{entry}\n", encoding="utf-8")
    with pytest.raises(
        UnpublishableRun, match=r"2 surprises, e\.g\. the baseline excuses .* without a reason \(TODO\)"
    ):
        packed(whole, load_contract(), load_baseline(path, date.min), traces)


@SHORT
def test_the_command_writes_beside_the_others(whole: RunRecord, tmp_path: Path) -> None:
    """A run goes to its harness and release; a run that is not whole ends with one line and exit 1."""
    runner = CliRunner()
    done = runner.invoke(publish_command, [str(whole.path), "--to", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert [p.relative_to(tmp_path) for p in published_in(tmp_path)] == [place_of(whole.started)]
    cut = tmp_path / "run.jsonl"
    cut.write_text("".join(whole.path.read_text(encoding="ascii").splitlines(keepends=True)[:-1]), encoding="ascii")
    refused = runner.invoke(publish_command, [str(cut), "--to", str(tmp_path)])
    assert refused.exit_code == 1
    assert "[unpublishable-run]" in refused.output


@pytest.mark.parametrize(
    ("harness", "version", "variant", "wire", "place"),
    [
        ("codex", "0.171.0", "", "responses", "codex/0.171.0"),
        ("codex", "0.171.0", "legacy", "responses", "codex/0.171.0-legacy"),
        ("goose", "1.52.0", "", "responses", "goose/1.52.0-responses"),
        ("goose", "1.52.0", "", "chat", "goose/1.52.0"),
        ("my agent/x", "2", "", "chat", "my-agent-x/2"),
    ],
)
def test_places(whole: RunRecord, harness: str, version: str, variant: str, wire: str, place: str) -> None:
    """One place for each harness, release, variant and wire format; the defaults go without saying."""
    adapter = AdapterStamp(route="", wire=wire, capabilities=[], variant=variant)
    began = replace(whole.started, harness=HarnessStamp(name=harness, version=version), adapter=adapter)
    assert place_of(began) == Path(place) / "run.jsonl.xz"


def test_the_right_deviations_are_taken(whole: RunRecord, tmp_path: Path) -> None:
    """By harness, release and variant as the file says, and the wire format as its name does."""
    folder = tmp_path / "goose"
    folder.mkdir()
    for stem, version, variant in (
        ("deviations", "2", ""),
        ("deviations-1", "1", ""),
        ("deviations-fast", "2", "fast"),
        ("deviations-responses", "2", ""),
    ):
        text = f"harness: goose\nversions: ['{version}']\nvariant: '{variant}'\ndeviations: []\n"
        (folder / f"{stem}.yaml").write_text(text, encoding="utf-8")
    found = []
    for version, variant, wire in (("2", "", "chat"), ("1", "", "chat"), ("2", "fast", "chat"), ("2", "", "responses")):
        adapter = AdapterStamp(route="", wire=wire, capabilities=[], variant=variant)
        began = replace(whole.started, harness=HarnessStamp(name="goose", version=version), adapter=adapter)
        baseline = baseline_of(began, tmp_path)
        found.append(baseline and baseline.path.stem)
    assert found == ["deviations", "deviations-1", "deviations-fast", "deviations-responses"]
    assert wire_of(folder / "deviations-responses.yaml") == "responses"


# --- the page --------------------------------------------------------------------------------------------------------


def failing(whole: RunRecord, reasons: dict[str, str]) -> RunRecord:
    """The run as one whose named checks are known deviations for these reasons."""
    events = [
        replace(e, verdict="XFAIL", baseline=KnownDeviation(reason=reasons[e.id]))
        if isinstance(e, Checked) and e.id in reasons
        else e
        for e in whole.events
    ]
    return replace(whole, events=tuple(events))


def test_findings_stand_worst_first_and_equal_reasons_are_one(whole: RunRecord, traces: Traces) -> None:
    """A core MUST on the context comes before one on the record; one reason is one finding, with all its traces."""
    ids = [c.id for c in whole.checks]
    records = [i for i in ids if i.endswith("::REC-1")][:2]
    lost = next(i for i in ids if i.endswith("::ISO-1"))
    record = failing(whole, {records[0]: "It is not told.", records[1]: "It is  not\ntold.", lost: "It leaks."})
    first, second = findings_of([record], load_contract())
    assert (first.reason, second.reason) == ("It leaks.", "It is not told.")
    assert [c.id for c in second.checks] == records
    text = page(f"# Findings\n\nBy hand.\n\n{MARK}\nold\n", [record], load_contract(), traces)
    assert text.startswith(f"# Findings\n\nBy hand.\n\n{MARK}\n")
    assert "\nold\n" not in text
    assert "\n### 1. ISO-1 (MUST, core)\n" in text
    assert f"- Replay: `{first.checks[0].replay}`" in text
    assert page(text, [record], load_contract(), traces) == text


def test_what_can_not_be_judged_stands_apart_from_what_fails(whole: RunRecord, traces: Traces) -> None:
    """A finding names first what is broken, whatever else hangs on it; one that broke nothing comes last."""
    ids = [c.id for c in whole.checks]
    lost, silent = (next(i for i in ids if i.endswith(f"::{clause}")) for clause in ("REC-1", "ISO-1"))
    alone = next(i for i in ids if i.endswith("::CUT-1"))
    known = {
        lost: KnownDeviation(reason="It is gone.", sometimes="3 of 8"),
        silent: KnownDeviation(reason="It is gone.", verdict="UNTESTABLE"),
        alone: KnownDeviation(reason="It refuses.", verdict="UNTESTABLE"),
    }
    events = [
        replace(e, verdict="XFAIL", baseline=known[e.id]) if isinstance(e, Checked) and e.id in known else e
        for e in whole.events
    ]
    text = page(f"{MARK}\n", [replace(whole, events=tuple(events))], load_contract(), traces)
    first, second = text.split("\n### ")[1:]
    assert first.startswith("1. REC-1 (MUST, core)\n")
    assert "- Can't be judged because of it: ISO-1\n" in first
    assert f"- A race, seen in 3 of 8 plays: `{lost}`\n" in first
    assert "- Also: " not in first
    assert second.startswith("2. CUT-1 (MUST, core; can't be judged)\n")


def test_the_newest_release_comes_first(whole: RunRecord, traces: Traces) -> None:
    """By its numbers: 1.10.0 is newer than 1.9.0, and what both show is played again on it."""
    check = next(c.id for c in whole.checks if c.id.endswith("::ISO-1"))
    runs = []
    for version in ("1.9.0", "1.10.0"):
        record = failing(whole, {check: "It leaks."})
        started = replace(record.started, harness=replace(record.started.harness, version=version))
        events = [replace(e, replay=f"on {version}") if isinstance(e, Checked) else e for e in record.events]
        runs.append(replace(record, events=(started, *events[1:])))
    text = page(f"{MARK}\n", runs, load_contract(), traces)
    assert text.index("| reference 1.10.0") < text.index("| reference 1.9.0")
    assert "- Replay: `on 1.10.0`" in text
    assert "on 1.9.0" not in text


@SHORT
def test_the_check_of_the_page(whole: RunRecord, tmp_path: Path) -> None:
    """`--check` writes nothing and exits 1 where the page is not what the runs say."""
    runner, folder, file = CliRunner(), tmp_path / "published", tmp_path / "findings.md"
    assert runner.invoke(publish_command, [str(whole.path), "--to", str(folder)]).exit_code == 0
    base = ["--published", str(folder), "--page", str(file)]
    assert runner.invoke(findings_command, [*base, "--check"]).exit_code == 1
    assert not file.exists()
    assert runner.invoke(findings_command, base).exit_code == 0
    assert runner.invoke(findings_command, [*base, "--check"]).exit_code == 0
    file.write_text(file.read_text(encoding="utf-8").replace("| 0 |", "| 1 |"), encoding="utf-8")
    assert runner.invoke(findings_command, [*base, "--check"]).exit_code == 1
