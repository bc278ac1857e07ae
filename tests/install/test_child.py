"""A short-lived program ends, with all that it started, by itself or by us."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from forkproof.adapters import child

STUBBORN = (
    "import os, signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(os.getpid(), flush=True); signal.pause()"
)


def run(code: str, directory: Path, deadline: float = 60.0) -> child.Ended:
    return child.run([sys.executable, "-c", code], environment={}, directory=directory, deadline=deadline)


def gone(pid: int) -> bool:
    """Whether a process has ended: one that got its KILL may need a moment, or be a zombie that nobody waits for."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
    return False


def test_what_it_printed_and_how_it_ended(tmp_path: Path) -> None:
    """Both streams and the exit status come back; nothing is left in the directory."""
    ended = run("import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)", tmp_path)
    assert ended == child.Ended(7, "out\n", "err\n")
    assert list(tmp_path.iterdir()) == []


def test_the_environment_is_exactly_the_given_one(tmp_path: Path) -> None:
    """Nothing of our own environment gets through."""
    ended = run("import os; print(sorted(set(os.environ) - {'LC_CTYPE'}))", tmp_path)  # Python sets that one itself
    assert ended.out == "[]\n"


def test_of_much_output_the_end_is_kept(tmp_path: Path) -> None:
    """A program that prints without end can't fill our memory."""
    ended = run("print('x' * 10**6 + 'end')", tmp_path)
    assert ended.out.endswith("xend\n")
    assert len(ended.out) == child._KEPT


def test_a_program_that_ignores_term_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At its deadline a program is ended, whether it likes it or not, and the status says so."""
    monkeypatch.setattr(child, "_GRACE", 0.5)
    ended = run(STUBBORN, tmp_path, deadline=3.0)
    assert ended.status is None
    assert gone(int(ended.out))


def test_a_grandchild_is_ended_and_not_waited_for(tmp_path: Path) -> None:
    """A program that leaves a child behind, with its output open, is over when it is over, and so is the child."""
    code = (
        f"import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', {STUBBORN!r}], stdout=subprocess.PIPE);"
        "print(p.stdout.readline().decode(), flush=True); import os; os._exit(0)"
    )
    started = time.monotonic()
    ended = run(code, tmp_path)
    assert ended.status == 0
    assert time.monotonic() - started < 50
    assert gone(int(ended.out))


def test_a_watcher_that_raises_ends_the_program(tmp_path: Path) -> None:
    """What the watcher raises comes through, and the program is ended first."""

    def tick() -> None:
        raise ValueError

    pid = tmp_path / "pid"
    code = f"import os, signal; open({str(pid)!r}, 'w').write(str(os.getpid())); signal.pause()"

    def armed() -> None:
        if pid.exists() and pid.read_text():
            tick()

    with pytest.raises(ValueError, match=r"^$"):
        child.run([sys.executable, "-c", code], environment={}, directory=tmp_path, deadline=60, tick=armed)
    assert gone(int(pid.read_text()))
