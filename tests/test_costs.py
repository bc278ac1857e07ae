"""What a run costs forkproof itself: counted over all its processes, without the harness's (design section 11)."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forkproof.reports.console import Console, Options
from forkproof.reports.events import RunEnded, RunStarted
from tests import sample_runs as sample
from tests.broken.stage import broken

FORKPROOF = Path(sys.executable).with_name("forkproof")


def run(folder: Path, *arguments: str) -> tuple[dict[str, Any], float]:
    """What a run tells of its costs, and the CPU seconds that it took with all that it waited for."""
    own = {"HOME": str(folder), "TMPDIR": str(folder), "PATH": os.environ["PATH"]}
    argv = [str(FORKPROOF), "run", *arguments, "--json", "--out", "out"]
    told = folder / "told.json"
    with told.open("wb") as out:
        process = subprocess.Popen(argv, cwd=folder, env=own, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    costs: dict[str, Any] = json.loads(told.read_text(encoding="utf-8"))["costs"]
    return costs, usage.ru_utime + usage.ru_stime


def test_workers_are_counted(tmp_path: Path) -> None:
    """With `-j 2` nearly all work is done in two processes of ours: their CPU and memory are in the figures.

    The same work alone in one process is the witness, and the system's own count is the upper bound.
    """
    alone, _ = run(tmp_path, "reference", "cut", "ops", "env")
    costs, whole = run(tmp_path, "reference", "cut", "ops", "env", "-j", "2")
    assert costs["cpu_self"] > 0.7 * alone["cpu_self"]
    assert costs["cpu_self"] <= whole
    assert costs["peak_rss_mb"] > 1.5 * alone["peak_rss_mb"]
    assert (alone["jobs"], costs["jobs"]) == (1, 2)
    assert costs["cpu_ratio"] == pytest.approx(costs["cpu_self"] / costs["seconds"], rel=0.01)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_harness_is_not_counted(jobs: str, tmp_path: Path) -> None:
    """A harness that burns three seconds of CPU costs forkproof nothing."""
    made = broken(tmp_path, "acp", "burn", "prompt")
    costs, whole = run(tmp_path, made.asked, str(made.trace), "-j", jobs)
    assert made.notes("fault")
    assert whole > 3.0
    assert costs["cpu_self"] < whole - 3.0


def closing(ended: dict[str, float], binary: str = "b1") -> str:
    """The closing report of a run with these costs."""
    file = io.StringIO()
    console = Console(sample.CLAUSES, Options(width=100), file=file, environ={})
    for event in sample.green():
        match event:
            case RunStarted():
                console.emit(replace(event, harness=replace(event.harness, binary_sha256=binary)))
            case RunEnded():
                console.emit(replace(event, volatile=ended))
            case _:
                console.emit(event)
    console.close()
    return file.getvalue()


@pytest.mark.parametrize(
    ("seconds", "ratio", "jobs", "binary", "hinted"),
    [
        (60.0, 0.11, 1, "b1", True),
        (60.0, 0.10, 1, "b1", False),
        (60.0, 0.20, 2, "b1", False),  # two ran side by side, each for that time
        (60.0, 0.21, 2, "b1", True),
        (19.0, 0.50, 1, "b1", False),  # start-up is most of a short run
        (60.0, 0.90, 1, "", False),  # in process the harness's own work is ours
    ],
)
def test_a_share_above_a_tenth_is_told(seconds: float, ratio: float, jobs: int, binary: str, *, hinted: bool) -> None:
    """Of the time of each job, on a real harness and in a run that is long enough to say something."""
    costs = {"seconds": seconds, "jobs": jobs, "cpu_self": seconds * ratio, "cpu_ratio": ratio, "peak_rss_mb": 80.0}
    text = closing(costs, binary)
    assert f"({ratio:.0%} of the time" in text
    assert ("a job" in text) is (jobs > 1)
    assert ("forkproof's own share is above 10%" in text) is hinted
