"""The table of processes, as cheap as it can be had: a harness's end needs several looks at all of the machine's."""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass

__all__ = ["Row", "content", "lives", "rows"]


@dataclass(frozen=True, slots=True)
class Row:
    """`began` is when the process started, in clock ticks: with the pid it names one process for ever; 0 if unknown.

    `zombie`: it has ended, and nobody has collected it yet. A process whose first thread has ended shows the same state
    as long as another one runs, and is none: it lives, and can't be collected.
    """

    parent: int
    zombie: bool
    session: int
    began: int


def rows(*, ours: bool = False) -> dict[int, Row]:
    """Every process that could be of a harness, by pid: those of our own session, us included, and the kernel's can't.

    A harness starts in a session of its own, and no process can move into a session that exists. `ours` has those of
    our own session in the table too.
    """
    import psutil

    found = {}
    foreign = {0} if ours else {os.getsid(0), 0}
    for pid in psutil.pids():
        with contextlib.suppress(psutil.Error, OSError):  # it ended meanwhile
            session = os.getsid(pid)
            if session not in foreign:
                found[pid] = _row(pid, session)
    return found


def _row(pid: int, session: int) -> Row:
    import psutil

    if sys.platform == "linux":
        # After the name in parentheses, which may hold anything: state, parent, and as the 18th and the 20th word the
        # number of threads and the start.
        words = content(f"/proc/{pid}/stat").rpartition(b")")[2].split(maxsplit=20)
        return Row(int(words[1]), words[0] == b"Z" and int(words[17]) <= 1, session, int(words[19]))
    process = psutil.Process(pid)
    return Row(process.ppid() or 0, process.status() == psutil.STATUS_ZOMBIE, session, 0)


def lives(pid: int) -> bool:
    """Whether there is a process of this id that has not ended."""
    import psutil

    with contextlib.suppress(psutil.Error, OSError):
        return not _row(pid, 0).zombie
    return False


def content(file: str) -> bytes:
    """A file of the kernel's, which may be any size. Raises `OSError`."""
    with open(file, "rb", buffering=0) as stream:  # noqa: PTH123  # a Path costs more than the reading
        return stream.read()
