"""A run needs no network but loopback: it passes where there is none (`unshare -n`). Source: issue 4."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.broken.stage import broken

ROOT = Path(__file__).parents[1]
OFFLINE = Path(__file__).parent / "programs" / "offline.py"
FORKPROOF = Path(sys.executable).with_name("forkproof")
NOT_ALLOWED = 77


def offline(folder: Path, argv: list[str], **more: str) -> subprocess.CompletedProcess[str]:
    """Run a program without a network; where the system does not allow that, the test is skipped with the reason."""
    (folder / "tmp").mkdir(exist_ok=True)
    own = {"PATH": os.environ["PATH"], "HOME": str(folder), "TMPDIR": str(folder / "tmp"), **more}
    command = [sys.executable, "-I", str(OFFLINE), *argv]
    done = subprocess.run(command, cwd=ROOT, env=own, capture_output=True, text=True, timeout=1800, check=False)
    if done.returncode == NOT_ALLOWED:
        pytest.skip(f"this system gives us no network namespace of our own: {done.stderr.strip()}")
    return done


def test_there_is_no_network(tmp_path: Path) -> None:
    """The check of the check: a connection to anywhere else fails at once, as there is no route."""
    code = (
        "import socket, errno\n"
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "try: s.connect(('192.0.2.1', 53))\n"
        "except OSError as e: print(errno.errorcode[e.errno])\n"
        "t = socket.create_server(('127.0.0.1', 0)); socket.create_connection(t.getsockname()); print('loopback')"
    )
    assert offline(tmp_path, [sys.executable, "-c", code]).stdout.split() == ["ENETUNREACH", "loopback"]


@pytest.mark.parametrize("route", ["acp", "codex", "pi"])
def test_a_run_needs_no_network(route: str, tmp_path: Path) -> None:
    """The whole command, from the model server to the record."""
    made = broken(tmp_path, route, "none", "never")
    argv = [str(FORKPROOF), "run", made.asked, str(made.trace), "--out", str(tmp_path / "out"), "--no-progress"]
    done = offline(tmp_path, argv, **made.variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS" in done.stdout


@pytest.mark.real
def test_the_tests_of_a_real_harness_pass_without_a_network(tmp_path: Path) -> None:
    """All of Goose's, on the real binary."""
    shelf = os.environ.get("FORKPROOF_HOME") or str(Path.home() / ".cache" / "forkproof")
    argv = [sys.executable, "-m", "pytest", "-q", "-m", "real", "-p", "no:cacheprovider", "tests/goose"]
    done = offline(tmp_path, argv, FORKPROOF_HOME=shelf)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout
