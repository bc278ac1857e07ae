"""Who ends the harnesses when forkproof itself is killed: a small program beside it, which sees its pipe end.

A SIGKILL lets nobody clear up, and a TERM that nobody handles is no better. The watchdog is told of every harness; when
the pipe to it ends while some still run, it kills them with all that it finds of their descendants. It is this file,
started by its path with nothing but the standard library, once per process and only when a harness is first started.
One kind escapes it: what double-forked, took a session of its own and cleared its environment, since orphans are no
longer adopted when we are gone. Source: design section 5, "no descendant left".
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

__all__ = ["WATCHDOG", "Watchdog"]

_TAG = b"FORKPROOF_TRIAL="
"""As `environment.TAG`; the program must not import anything of ours."""

_PATIENCE = 10.0


class Watchdog:
    """Our end: tells the program which families there are. Whatever goes wrong with it is no reason to fail a run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pipe = -1
        self._tried = False

    def tell(self, *words: object) -> None:
        """One line: `enter TAG`, `lead TAG PID` or `leave TAG`. Starts the program if it does not run yet."""
        with self._lock:
            if not self._tried:
                self._tried = True
                with contextlib.suppress(OSError, NotImplementedError):
                    self._pipe = _start()
            if self._pipe >= 0:
                with contextlib.suppress(OSError):  # it was ended, or stopped
                    os.write(self._pipe, " ".join(map(str, words)).encode() + b"\n")

    def disown(self) -> None:
        """In a fork of this process: the pipe is the parent's, and must end with it."""
        self._lock = threading.Lock()
        if self._pipe >= 0:
            os.close(self._pipe)
        self._pipe, self._tried = -1, False


def _start() -> int:
    """Start the program; gives our end of its standard input, which no other program inherits."""
    if not sys.executable:
        return -1
    read, write = os.pipe()
    try:
        # In a group of its own, so that Ctrl-C does not reach it, and in our session, so that nobody takes it for a
        # harness's orphan.
        os.posix_spawn(
            sys.executable,
            [sys.executable, "-I", "-S", str(Path(__file__).absolute())],
            {},
            file_actions=[
                (os.POSIX_SPAWN_DUP2, read, 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ],
            setpgroup=0,
        )
    except BaseException:
        os.close(write)
        raise
    finally:
        os.close(read)
    os.set_blocking(write, False)
    return write


WATCHDOG = Watchdog()
os.register_at_fork(after_in_child=WATCHDOG.disown)


# --- The program ---------------------------------------------------------------------------------------------------

_Leader: TypeAlias = tuple[int, bytes]
"""A leader's pid and when it began; 0 before it is known."""


def _main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    families: dict[str, _Leader] = {}
    for line in sys.stdin:
        match line.split():
            case ["enter", tag]:
                families[tag] = (0, b"")
            case ["lead", tag, pid]:
                families[tag] = (int(pid), _began(pid))
            case ["leave", tag]:
                families.pop(tag, None)
    until = time.monotonic() + _PATIENCE
    while families and time.monotonic() < until and (found := _members(families)):
        _kill(found)


def _members(families: Mapping[str, _Leader]) -> frozenset[int]:
    """Every process of these families: by tag, by the leader's session, and their children."""
    tags = {_TAG + tag.encode() for tag in families}
    # A number that another process has by now is no leader's, nor its session's: a session keeps its number taken.
    leaders = {pid for pid, began in families.values() if pid and _began(str(pid)) in {began, b""}}
    rows = dict(_rows())
    found = {pid for pid, (_, session) in rows.items() if pid in leaders or session in leaders or _tagged(pid, tags)}
    while more := {pid for pid, (parent, _) in rows.items() if parent in found} - found:
        found |= more
    return frozenset(found) if rows else frozenset(pid for pid in leaders if _lives(pid))


def _began(pid: str) -> bytes:
    """When a process began, in the kernel's ticks; empty for one that is not there, and where there is no /proc."""
    with contextlib.suppress(OSError, IndexError):
        return Path("/proc", pid, "stat").read_bytes().rpartition(b")")[2].split()[19]
    return b""


def _rows() -> Iterable[tuple[int, tuple[int, int]]]:
    """Each process with its parent and its session, zombies left out; none where there is no /proc."""
    with contextlib.suppress(OSError):
        for place in Path("/proc").iterdir():
            if place.name.isdigit() and int(place.name) != os.getpid():
                with contextlib.suppress(OSError, ValueError):
                    told = (place / "stat").read_bytes().rpartition(b")")[2].split()
                    if told[0] != b"Z" or int(told[17]) > 1:  # without its first thread it looks like one, and lives
                        yield int(place.name), (int(told[1]), int(told[3]))


def _tagged(pid: int, tags: set[bytes]) -> bool:
    with contextlib.suppress(OSError):
        return not tags.isdisjoint(Path("/proc", str(pid), "environ").read_bytes().split(b"\0"))
    return False


def _lives(pid: int) -> bool:
    with contextlib.suppress(OSError):
        os.kill(pid, 0)
        return True
    return False


def _kill(pids: Iterable[int]) -> None:
    """Kill these, and wait a little for them to end."""
    ends = select.poll()
    watched = []
    for pid in pids:
        with contextlib.suppress(OSError, AttributeError):
            watched.append(os.pidfd_open(pid))
            ends.register(watched[-1], select.POLLIN)
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)  # a leader's group at once, so that none slips through by forking
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    ends.poll(200)
    for fd in watched:
        os.close(fd)


if __name__ == "__main__":
    _main()
