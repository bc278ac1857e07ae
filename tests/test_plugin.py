"""forkproof as a pytest plugin: a trace is a file, a check an item, pytest's own options work (design section 7)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

from tests.test_run_command import GOOD

PATIENCE = 120
WRONG = GOOD.replace("[plan.user, plan.say, retry.user]", "[plan.user, retry.user]")


def run(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_the_shipped_traces_are_found_by_package_name(tmp_path: Path) -> None:
    """`--pyargs forkproof.traces` is the way that the documentation tells, with workers too."""
    done = run(
        tmp_path,
        "--pyargs",
        "forkproof.traces",
        "--harness",
        "reference",
        "-q",
        "-n",
        "2",
        "--dist",
        "loadfile",
        "-k",
        "cut",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
    assert "failed" not in done.stdout


def test_without_a_harness_nothing_is_collected(tmp_path: Path) -> None:
    """YAML files of other projects are none of our business until `--harness` is given."""
    (tmp_path / "story.yaml").write_text(GOOD, encoding="utf-8")
    done = run(tmp_path)
    assert done.returncode == 5, done.stdout
    assert "no tests ran" in done.stdout


def test_selection_and_junit_work_as_for_any_test(tmp_path: Path) -> None:
    """`-k` selects by trace, a failing check fails with its difference, and the JUnit report names both."""
    (tmp_path / "good.yaml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "wrong.yaml").write_text(WRONG, encoding="utf-8")
    assert run(tmp_path, "--harness", "reference", "-k", "good").returncode == 0
    done = run(tmp_path, "--harness", "reference", "--junitxml", "report.xml")
    assert done.returncode == 1
    assert "plan.say is not expected here" in done.stdout
    assert "Traceback" not in done.stdout
    report = ET.parse(tmp_path / "report.xml")  # noqa: S314  # our own report
    found = report.iter("testcase")
    cases = {(case.get("classname"), case.get("name")): [child.tag for child in case] for case in found}
    assert cases["good.yaml", "CUT-1"] == []
    assert cases["wrong.yaml", "CUT-1"] == ["failure"]
    assert {tag for tags in cases.values() for tag in tags} == {"failure"}


def test_wrong_use_is_pytests_own_usage_error(tmp_path: Path) -> None:
    """An unknown harness is one line and no traceback."""
    done = run(tmp_path, "--harness", "cdex")
    assert done.returncode == 4
    assert "no harness is called 'cdex'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_known_deviation_has_its_reason_in_place_of_a_traceback(tmp_path: Path) -> None:
    """Else pytest reads the sources of a whole stack for each, a third of forkproof's CPU in a real run."""
    (tmp_path / "wrong.yaml").write_text(WRONG, encoding="utf-8")
    run(tmp_path, "--harness", "reference", "--forkproof-out", "out")
    events = [json.loads(line) for line in (tmp_path / "out" / "run.jsonl").read_text(encoding="utf-8").splitlines()]
    version = events[0]["harness"]["version"]
    failed = next(event for event in events if event.get("verdict") == "FAIL")
    known = {"check": failed["id"], "fingerprint": failed["fingerprint"], "reason": "It is known here."}
    baseline = {"harness": "reference", "versions": [version], "deviations": [known]}
    (tmp_path / "known.json").write_text(json.dumps(baseline), encoding="utf-8")
    done = run(tmp_path, "--harness", "reference", "--baseline", "known.json", "--xfail-tb", "-rx")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("It is known here.") > 1
    assert "collection.py" not in done.stdout
