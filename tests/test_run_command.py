"""`forkproof run` as a user meets it: exit codes, messages, and a record that keeps whatever was seen."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

FORKPROOF = Path(sys.executable).with_name("forkproof")
FAKE_CODEX = Path(__file__).parent / "programs" / "fake_codex.py"
PATIENCE = 120

GOOD = """
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
  - turn: retry
    in: alt
    user: Again.
    model: [{say: Fine.}]
    expect:
      - CUT-1: {prompt: [plan.user, plan.say, retry.user]}
"""


def environment(tmp_path: Path, **more: str) -> dict[str, str]:
    """What a user's shell would give, with a HOME that nobody may touch."""
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    own = {"HOME": str(home), "FORKPROOF_HOME": str(tmp_path / "fp"), "TMPDIR": str(tmp_path)}
    return {"PATH": os.environ["PATH"], **own, **more}


def forkproof(tmp_path: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [FORKPROOF, *arguments],
        cwd=tmp_path,
        env=environment(tmp_path, **more),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def events(tmp_path: Path, out: str = "out/reference") -> list[dict[str, Any]]:
    lines = (tmp_path / out / "run.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def stable(tmp_path: Path, out: str) -> list[str]:
    return [json.dumps({k: v for k, v in e.items() if k != "volatile"}) for e in events(tmp_path, out)]


def fake_codex(tmp_path: Path, mode: str) -> str:
    """A program that takes the place of Codex and misbehaves in one way."""
    path = tmp_path / "codex"
    path.write_text(
        f'#!/bin/sh\nif [ "$1" = --version ]; then echo "codex-cli 9.9.9"; exit 0; fi\n'
        f'exec "{sys.executable}" "{FAKE_CODEX}" {mode} "$@"\n',
        encoding="utf-8",
    )
    path.chmod(0o755)
    return str(path)


def test_the_reference_satisfies_every_shipped_trace(tmp_path: Path) -> None:
    """Exit 0, every check PASS or not applicable, at least fifteen traces, a complete record (the main job)."""
    done = forkproof(tmp_path, "run", "reference", "--out", "out/ref")
    assert done.returncode == 0, done.stdout + done.stderr
    seen = events(tmp_path, "out/ref")
    assert seen[0]["event"] == "run"
    assert {e["verdict"] for e in seen if e["event"] == "check"} == {"PASS", "NOT_APPLICABLE"}
    played = [e["trace"] for e in seen if e["event"] == "observation"]
    assert len(played) >= 15
    assert len(played) == seen[0]["traces"]["count"]
    assert (seen[-1]["event"], seen[-1]["complete"], seen[-1]["exit"]) == ("end", True, 0)
    assert seen[-1]["volatile"]["peak_rss_mb"] < 150
    assert list((tmp_path / "home").iterdir()) == []


def test_one_seed_gives_one_record_also_with_two_workers(tmp_path: Path) -> None:
    """The same seed is byte-identical outside `volatile`; workers change the order of traces at most (design, bars)."""
    for out, more in (("a", []), ("b", []), ("c", ["-j", "2"])):
        done = forkproof(tmp_path, "run", "reference", "cut", "ops", "--seed", "5", "--out", out, "-q", *more)
        assert done.returncode == 0, done.stdout + done.stderr
    assert stable(tmp_path, "a") == stable(tmp_path, "b")
    assert sorted(stable(tmp_path, "a")) == sorted(stable(tmp_path, "c"))


def test_one_check_can_be_played_again(tmp_path: Path) -> None:
    """A check's id selects just that check."""
    done = forkproof(tmp_path, "run", "reference", "cut/edit-then-fork-shared::CUT-1", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["counts"] == {"PASS": 1}


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["run", "cdex"], 3, "no harness is called 'cdex'\n  hint: did you mean codex?"),
        (["run", "codex"], 2, "forkproof harness install codex"),
        (["run", "reference", "no-such-area"], 3, "no-such-area"),
        (["run", "reference", "--baseline", "missing.yaml"], 3, "missing.yaml: can't read the baseline"),
        (["run", "reference", "--out", "/dev/null/x"], 3, "--out /dev/null/x"),
        (["run", "reference", "--seed", "many"], 3, "--seed"),
        (["run"], 3, "HARNESS"),
        (["baseline", "update", "missing", "x.yaml"], 3, "missing"),
    ],
)
def test_wrong_use_is_one_clear_message(tmp_path: Path, arguments: list[str], code: int, said: str) -> None:
    """What is wrong and what to do, the exit code of design section 6, and no traceback."""
    done = forkproof(tmp_path, *arguments)
    assert done.returncode == code, done.stdout + done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("trace: 1\nsteps: [", "FPL002"),
        (GOOD.replace("before: write", "befor: write"), "FPL011"),
        (GOOD.replace("CUT-1", "CUT-99"), "the contract has no clause CUT-99"),
    ],
)
def test_a_malformed_trace_is_told_and_the_others_still_run(tmp_path: Path, text: str, said: str) -> None:
    """File, line and column of what is wrong; the good trace is judged; exit 3, since the user must mend a file."""
    folder = tmp_path / "traces"
    folder.mkdir()
    (folder / "bad.yaml").write_text(text, encoding="utf-8")
    (folder / "good.yaml").write_text(GOOD, encoding="utf-8")
    done = forkproof(tmp_path, "run", "reference", "traces")
    assert done.returncode == 3, done.stdout + done.stderr
    assert said in done.stdout
    assert "traces/bad.yaml:" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    seen = events(tmp_path)
    checks = [(e["id"], e["verdict"]) for e in seen if e["event"] == "check"]
    assert checks == [(f"good::{check}", "PASS") for check in ("CUT-1", "invariant/CUT-1", "invariant/CUT-4")]
    assert seen[-1]["event"] == "end"


@pytest.mark.parametrize(
    ("mode", "verdict", "said"),
    [
        ("refuse", "CRASH", "start-failed"),
        ("die", "CRASH", "harness-died"),
        ("garbage", "CRASH", "garbage"),
        ("mute", "TIMEOUT", "harness-hung"),
    ],
)
def test_a_harness_that_breaks_costs_its_own_traces_only(tmp_path: Path, mode: str, verdict: str, said: str) -> None:
    """Every trace still gets a verdict, the record is whole, exit 2, and nothing of the harness is left running."""
    binary = fake_codex(tmp_path, mode)
    targets = ["cut/after-a-middle-turn", "cut/edit-then-fork-shared"]
    done = forkproof(tmp_path, "run", "codex", *targets, "--deadline", "1", FORKPROOF_CODEX_BINARY=binary)
    assert done.returncode == 2, done.stdout + done.stderr
    assert said in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    seen = events(tmp_path, "out/codex")
    assert {e["verdict"] for e in seen if e["event"] == "check"} == {verdict}
    assert sorted(e["trace"] for e in seen if e["event"] == "observation") == targets
    assert seen[-1]["complete"] is True
    assert not left_running(tmp_path)


def test_an_interrupted_run_keeps_what_was_seen(tmp_path: Path) -> None:
    """Ctrl-C: the record ends with `complete: false`, exit 2, and the harness that hung is ended with the run."""
    run = subprocess.Popen(
        [FORKPROOF, "run", "codex", "iso", "--deadline", "600"],
        cwd=tmp_path,
        env=environment(tmp_path, FORKPROOF_CODEX_BINARY=fake_codex(tmp_path, "mute")),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    record = tmp_path / "out" / "codex" / "run.jsonl"
    deadline = time.monotonic() + PATIENCE
    while not (record.exists() and '"event":"trace"' in record.read_text(encoding="utf-8") and left_running(tmp_path)):
        assert run.poll() is None, run.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)  # there is no event to wait for: the record and the process are seen from outside
    run.send_signal(signal.SIGINT)
    told, _ = run.communicate(timeout=PATIENCE)
    assert run.returncode == 2, told
    assert "Traceback" not in told
    last = events(tmp_path, "out/codex")[-1]
    assert (last["event"], last["complete"], last["reason"]) == ("end", False, "interrupted")
    assert not left_running(tmp_path)


def left_running(tmp_path: Path) -> list[int]:
    """Processes of this test's harness: they have a HOME below the test's own folder."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            told = process.environ()
            if "FORKPROOF_TRIAL" in told and told.get("HOME", "").startswith(str(tmp_path)):
                found.append(process.pid)
    return found
