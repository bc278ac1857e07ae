"""`--isolation run`: one process serves all traces that can share it, and the verdicts stay what they are."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from forkproof.adapters.protocol import Deadlines
from forkproof.conformance.bench import Isolation, needs_own_process
from forkproof.conformance.trace.load import discover, load

from .stage import TRACE, Broken, broken, play

FORKPROOF = Path(sys.executable).with_name("forkproof")
PATIENT = Deadlines(start=60, operation=60, stop=5)


def run(made: Broken, isolation: Isolation, *targets: str) -> list[dict[str, Any]]:
    """The record of a whole run."""
    own = {"HOME": str(made.folder), "TMPDIR": str(made.temporary), "PATH": os.environ["PATH"], **made.variables}
    argv = [FORKPROOF, "run", made.asked, *targets, "--isolation", isolation, "--seed", "3", "--out", isolation, "-q"]
    done = subprocess.run(argv, cwd=made.folder, env=own, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    lines = (made.folder / isolation / "run.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def stable(record: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """All of the verdicts and what was seen, without what names the isolation."""
    kept = [{k: v for k, v in line.items() if k not in {"volatile", "replay"}} for line in record]
    return [{**line, "isolation": ""} if line["event"] == "run" else line for line in kept]


def starts(made: Broken) -> int:
    """How many processes of the harness there were."""
    return len(made.notes("begun"))


def test_one_process_serves_the_traces_that_can_share_it(tmp_path: Path) -> None:
    """The record is the same line for line but for the header's `isolation`, with fewer processes."""
    made = broken(tmp_path, "acp", "none", "never")
    shipped = (
        "rec/edge-after-a-compaction",
        "cut/times-in-disorder",
        "snap/later-turns-stay-out",
        "snap/answer-that-broke-off",
    )
    targets = (*shipped, str(made.trace))
    apart = run(made, "trace", *targets)
    played = [line["trace"] for line in apart if line["event"] == "observation" and line["requests"]]
    assert len(played) > 3
    assert starts(made) == len(played)
    (made.folder / "notes").unlink()
    together = run(made, "run", *targets)
    assert (apart[0]["isolation"], together[0]["isolation"]) == ("trace", "run")
    assert stable(together) == stable(apart)
    assert starts(made) < len(played) / 2
    replays = {line["replay"] for line in together if line["event"] == "check"}
    assert all("--isolation run" in replay for replay in replays)
    assert made.left() == []


@pytest.mark.parametrize("route", ["acp", "codex", "pi"])
def test_a_process_that_broke_serves_no_further_trace(route: str, tmp_path: Path) -> None:
    """After a crash in the second trace the third gets a process of its own, and its verdicts are its own."""
    made = broken(tmp_path, route, "exit-7", "second-prompt")
    first, second, third = play(made, PATIENT, isolation="run", times=3)
    assert {c.verdict for c in first.played.checks.values()} == {"PASS"}
    assert "CRASH" in {c.verdict for c in second.played.checks.values()}
    assert {c.verdict for c in third.played.checks.values()} == {"PASS"}
    assert starts(made) == 2
    assert made.left() == []


@pytest.mark.parametrize("route", ["acp", "codex", "pi"])
def test_a_process_that_died_between_traces_is_replaced(route: str, tmp_path: Path) -> None:
    """Its death while nobody asked anything is no trace's fault: a new one is started, and the record says so."""
    made = broken(tmp_path, route, "none", "never")

    def die() -> None:
        pid = int(made.notes("begun")[-1])
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # its end is the supervisor's to collect

    outcomes = play(made, PATIENT, isolation="run", times=2, after_each=die)
    assert [{c.verdict for c in o.played.checks.values()} for o in outcomes] == [{"PASS"}, {"PASS"}]
    assert starts(made) == 2
    assert made.left() == []


@pytest.mark.parametrize(
    ("more", "own"),
    [
        ("", False),
        ("  - restart: clean\n", True),
        ("  - delete: alt\n", True),
        ("  - check: main\n    expect:\n      - RD-1: {sessions: [main, alt]}\n", True),
    ],
)
def test_what_would_be_seen_by_others_gets_a_process_of_its_own(more: str, *, own: bool, tmp_path: Path) -> None:
    """Ending the process, deleting, and looking at all sessions: the next trace must find a harness as at the start."""
    file = tmp_path / "t.yaml"
    needs = "needs: [fork.head, compact, cancel, restart, delete, read.sessions]"
    file.write_text(TRACE.replace("needs: [fork.head, compact, cancel]", needs) + more, encoding="utf-8")
    assert needs_own_process(load(file).trace) is own


def test_most_shipped_traces_can_share() -> None:
    """Otherwise the option would bring nothing; and some can't, or the rule would be without effect."""
    own = [needs_own_process(load(file).trace) for file in discover([])]
    assert len(own) * 0.2 < sum(own) < len(own) * 0.5
