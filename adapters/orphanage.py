"""Where the orphans of a harness go: to us, while anything is supervised, and not to init.

A process that double-forks, starts its own session and clears its environment has cut every tie by which it could be
found, but one: on Linux its next parent is the nearest "child subreaper", and that is us. The kernel keeps this
attribute once per process, so there is one `ORPHANAGE` per process too. Should we be killed ourselves, the watchdog
ends the families that it was told of.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading

from forkproof.adapters.proctable import rows
from forkproof.adapters.watchdog import WATCHDOG

__all__ = ["ORPHANAGE", "Orphanage"]

_SET_CHILD_SUBREAPER = 36
_GET_CHILD_SUBREAPER = 37


def _prctl(option: int, argument: object) -> None:
    """Set or get the attribute; without effect where there is no such call (macOS) or it is forbidden."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, argument, 0, 0, 0)


class Orphanage:
    """Counts the families under supervision; we adopt orphans from the first `enter` to the last `leave`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._families: dict[str, int] = {}
        self._bystanders: frozenset[int] = frozenset()
        self._was_subreaper = False

    def enter(self, tag: str) -> None:
        """A family is about to start, known by its tag; its leader's pid comes with `lead`."""
        with self._lock:
            if not self._families:
                before = ctypes.c_int()
                _prctl(_GET_CHILD_SUBREAPER, ctypes.byref(before))
                self._was_subreaper = bool(before.value)
                _prctl(_SET_CHILD_SUBREAPER, 1)
                self._bystanders = frozenset(pid for pid, row in rows(ours=True).items() if row.parent == os.getpid())
            self._families[tag] = 0
        WATCHDOG.tell("enter", tag)

    def lead(self, tag: str, pid: int) -> None:
        """This child of ours leads the family: it is no orphan."""
        with self._lock:
            self._families[tag] = pid
        WATCHDOG.tell("lead", tag, pid)

    def leave(self, tag: str) -> None:
        """The family has ended; after the last one orphans go to init again."""
        with self._lock:
            if self._families.pop(tag, None) is not None and not self._families and not self._was_subreaper:
                _prctl(_SET_CHILD_SUBREAPER, 0)
        WATCHDOG.tell("leave", tag)

    def alone(self, tag: str) -> bool:
        """Whether no other family is under supervision, so that every orphan without a tag must be of this one."""
        with self._lock:
            return set(self._families) == {tag}

    def adopted(self, pid: int, parent: int, session: int) -> bool:
        """Whether a process came to us as an orphan.

        It is our child, we did not start it as a leader, it was not there before, and it lives in another session: each
        harness starts in its own, and no process can move into a session that exists, while children that other parts
        of us start live in ours: none of them may start one in a new session while a harness runs.
        """
        with self._lock:
            ours = pid in self._bystanders or pid in self._families.values()
            return parent == os.getpid() and session != os.getsid(0) and not ours


ORPHANAGE = Orphanage()
