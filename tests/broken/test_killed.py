"""A forkproof that is killed can't clear up; what it had started is ended all the same (adapters/watchdog.py)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from .stage import Broken, broken

FORKPROOF = Path(sys.executable).with_name("forkproof")
PATIENCE = 120.0


def _begun(made: Broken, *more: str) -> subprocess.Popen[bytes]:
    """A run whose harness hangs by now, with its whole family."""
    own = {"HOME": str(made.folder), "TMPDIR": str(made.temporary)}
    run = subprocess.Popen(
        [FORKPROOF, "run", made.asked, str(made.trace), "--out", "out", "-q", *more],
        cwd=made.folder,
        env={"PATH": os.environ["PATH"], **own},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + PATIENCE
    while len(made.notes("child")) < 3:
        assert run.poll() is None
        assert time.monotonic() < until
        time.sleep(0.05)  # there is no event to wait for: the processes are seen from outside
    return run


def _processes(made: Broken, *but: int) -> list[str]:
    others = tuple(f"process {pid}:" for pid in but)
    return [left for left in made.left() if left.startswith("process") and not (but and left.startswith(others))]


def _gone(made: Broken, *but: int) -> list[str]:
    """What runs still, once all but these are gone, or patience is."""
    until = time.monotonic() + PATIENCE
    while (left := _processes(made, *but)) and time.monotonic() < until:
        time.sleep(0.05)  # as above
    return left


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_no_harness_outlives_a_killed_run(number: signal.Signals, tmp_path: Path) -> None:
    """The harness, which does not look at its input, its child, and a deaf one in a session of its own are ended.

    The third, which cut every tie but that orphans came to us, can't be found by anyone then: nothing adopts for us.
    """
    made = broken(tmp_path, "acp", "family-hang", "fork")
    run = _begun(made)
    watchdogs = [p for p in psutil.Process(run.pid).children() if "watchdog.py" in " ".join(p.cmdline())]
    assert len(watchdogs) == 1
    assert len(_processes(made)) >= 3
    run.send_signal(number)
    run.wait(PATIENCE)
    stray = int(made.notes("child")[2])
    assert _gone(made, stray) == []
    os.kill(stray, signal.SIGKILL)
    _, alive = psutil.wait_procs(watchdogs, PATIENCE)
    assert alive == []


def test_the_watchdog_goes_with_a_run_that_ends(tmp_path: Path) -> None:
    """It waits for nothing else, and Ctrl-C, which ends the run in order, does not reach it before."""
    made = broken(tmp_path, "acp", "family-hang", "fork")
    run = _begun(made)
    (watchdog,) = [p for p in psutil.Process(run.pid).children() if "watchdog.py" in " ".join(p.cmdline())]
    assert os.getpgid(watchdog.pid) != os.getpgid(run.pid)
    assert b"FORKPROOF_TRIAL" not in Path(f"/proc/{watchdog.pid}/environ").read_bytes()
    run.send_signal(signal.SIGINT)
    run.wait(PATIENCE)
    assert run.returncode == 2
    assert made.left() == []
    with suppress(psutil.NoSuchProcess):
        watchdog.wait(PATIENCE)
    assert not psutil.pid_exists(watchdog.pid) or watchdog.status() == psutil.STATUS_ZOMBIE
