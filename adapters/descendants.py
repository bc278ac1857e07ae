"""Every process that a harness started, however well it hid, and how to end them all.

Four ties are followed: the tree of parents, the harness's own session, the tag in the environment, and for what broke
all three, adoption by us (see `orphanage`). Zombies count as ended. Source: design section 5, "no descendant left".
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from forkproof.adapters.environment import TAG
from forkproof.adapters.orphanage import ORPHANAGE
from forkproof.adapters.proctable import Row, content, lives, rows

if TYPE_CHECKING:
    import psutil

__all__ = ["Family", "alive", "members", "portrait", "reap", "send_signal"]


@dataclass(frozen=True, slots=True)
class Family:
    """A harness's leader, whose pid is its session's and group's id too, and its tag.

    The leader's pid stays taken, by a zombie at least, until the family is done with: it can't be another's by then.
    """

    leader: int
    tag: str


def members(family: Family) -> tuple[psutil.Process, ...]:
    """The living members of a family, the leader included."""
    import psutil

    table = rows()
    _forget(table)
    found = {pid for pid, row in table.items() if _belongs(family, pid, row)}
    grown = True
    while grown:
        more = {pid for pid, row in table.items() if row.parent in found and pid not in found}
        grown = bool(more)
        found |= more
    living = []
    for pid in sorted(pid for pid in found if not table[pid].zombie):
        with contextlib.suppress(psutil.NoSuchProcess):
            living.append(psutil.Process(pid))
    return tuple(living)


def _belongs(family: Family, pid: int, row: Row) -> bool:
    if family.leader in (pid, row.session):
        return True
    tag = _tag(pid, row.began)
    if tag is not None:
        return tag == family.tag
    return ORPHANAGE.adopted(pid, row.parent, row.session) and ORPHANAGE.alone(family.tag)


_STRANGERS: dict[int, int] = {}
"""Processes, by pid and start, whose environment was read and has no tag of anybody's: it will never have one.

They are most of a machine's, and to read an environment costs more than all the rest that is asked of a process.
"""


def _forget(table: Mapping[int, Row]) -> None:
    """Keep nothing about processes that are gone."""
    for pid in [pid for pid in _STRANGERS if pid not in table]:
        del _STRANGERS[pid]


def _tag(pid: int, began: int) -> str | None:
    """The value of the tag in the environment that the process started with; None if it has none that we may see."""
    import psutil

    if sys.platform != "linux":
        with contextlib.suppress(psutil.Error, OSError):
            return psutil.Process(pid).environ().get(TAG)
        return None
    if _STRANGERS.get(pid) == began:
        return None
    # Read as bytes: a program may have written anything over its own environment, and psutil decodes all of it.
    try:
        environment = b"\0" + content(f"/proc/{pid}/environ")
    except OSError:
        return None
    _, there, rest = environment.partition(f"\0{TAG}=".encode())
    if there:
        return rest.partition(b"\0")[0].decode("ascii", "replace")
    if len(environment) > 1:  # an empty one may be that of a program which is just being started
        _STRANGERS[pid] = began
    return None


def alive(processes: Iterable[psutil.Process]) -> tuple[int, ...]:
    """The pids of those that still run."""
    return tuple(process.pid for process in processes if process.is_running() and lives(process.pid))


def send_signal(processes: Iterable[psutil.Process], number: signal.Signals) -> None:
    """Signal these processes and their whole groups.

    A group at once, so that none of it slips through by forking meanwhile. A group lives within one session, and no
    member's session is ours (see `proctable.rows`): so nobody else is in it.
    """
    import psutil

    groups = set()
    for process in processes:
        with contextlib.suppress(psutil.Error, OSError):
            groups.add(os.getpgid(process.pid))
            process.send_signal(number)
    for group in groups - {os.getpgid(0), 0, 1}:
        with contextlib.suppress(OSError):
            os.killpg(group, number)


def reap() -> None:
    """Collect the adopted orphans that have ended, so that no zombie is left; never the leader or another's child."""
    for pid, row in rows().items():
        if row.zombie and ORPHANAGE.adopted(pid, row.parent, row.session):
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def portrait(family: Family) -> str:
    """One short line on what the leader and its children do right now, for the message about a hang."""
    import psutil

    try:
        leader = psutil.Process(family.leader)
        with leader.oneshot():
            state, threads = leader.status(), leader.num_threads()
        children = leader.children(recursive=True)
    except psutil.Error:
        return f"process {family.leader} can't be looked at"
    titles = []
    for child in children:
        with contextlib.suppress(psutil.Error):  # it ended meanwhile
            titles.append(f"`{_title(child)}` ({child.status()})")
    place = _waits_in(family.leader)
    about = f"process {family.leader} is {state}" + (f" in {place}" if place else "")
    return f"{about}, {threads} threads, children: {', '.join(titles[:3]) or 'none'}"


def _title(process: psutil.Process) -> str:
    words = " ".join(process.cmdline()) or process.name()
    return words if len(words) <= 80 else words[:79] + "…"  # noqa: PLR2004  # short enough for a message


def _waits_in(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/wchan").read_text("ascii", "replace").strip("0\n ")
    return ""
