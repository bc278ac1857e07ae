"""One short-lived program, run to its end: npm, or a harness asked for its version.

It gets no terminal and no standard input, a process group of its own, and a deadline; whatever it started is ended with
it. What it prints goes to files, so that nothing here waits for a pipe that a grandchild keeps open.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

__all__ = ["Ended", "run"]

_TICK = 0.25
_GRACE = 5.0
_KEPT = 64 * 1024


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended, and what it printed. A negative status is a signal; None: it was ended at its deadline."""

    status: int | None
    out: str
    err: str


def run(
    command: Sequence[str | os.PathLike[str]],
    *,
    environment: Mapping[str, str],
    directory: Path,
    deadline: float,
    tick: Callable[[], None] | None = None,
) -> Ended:
    """Run a command with exactly this environment, in this directory, for `deadline` seconds at most.

    `tick` is called about four times a second while the program runs. When it raises, or the user interrupts, the
    program is ended first. Raises `OSError` if it can't be started. Of each stream the last 64 KiB are kept.
    """
    with tempfile.TemporaryFile(dir=directory) as out, tempfile.TemporaryFile(dir=directory) as err:
        process = subprocess.Popen(  # noqa: S603 - an argument list, no shell
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd=directory,
            env=dict(environment),
            start_new_session=True,
        )
        try:
            status = _wait(process, deadline, tick)
        finally:
            _end(process)
        return Ended(status, _tail(out), _tail(err))


def _wait(process: subprocess.Popen[bytes], deadline: float, tick: Callable[[], None] | None) -> int | None:
    until = time.monotonic() + deadline
    while (left := until - time.monotonic()) > 0:
        try:
            return process.wait(min(left, _TICK))
        except subprocess.TimeoutExpired:
            if tick is not None:
                tick()
    return None


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the program if it still runs, politely first; then whatever else is left in its group."""
    if process.poll() is None:
        _signal(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)
    # The group outlives its leader while a member lives, and its number is not given to anyone else until then.
    _signal(process.pid, signal.SIGKILL)
    process.wait()


def _signal(group: int, number: signal.Signals) -> None:
    # Nobody left; macOS says EPERM where only zombies are left.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _tail(stream: BinaryIO) -> str:
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - _KEPT))
    return stream.read().decode(errors="replace")
