"""One harness process under supervision: started apart, heard without being waited for, and ended with all it started.

Source: design section 5 (own session and group, deadline per phase, TERM, grace, KILL to the whole group, no descendant
left, no wait on pipe EOF, never a shell) and section 11 (hang -> TIMEOUT within the deadline + 2 s).
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from forkproof.adapters.descendants import Family, alive, members, portrait, reap, send_signal
from forkproof.adapters.environment import TAG, new_tag
from forkproof.adapters.errors import HarnessDied, HarnessHung
from forkproof.adapters.exits import gone, watch
from forkproof.adapters.orphanage import ORPHANAGE
from forkproof.adapters.pipes import BacklogError, Inlet, Outlet, Tail
from forkproof.adapters.spawn import spawn

if TYPE_CHECKING:
    import psutil

__all__ = ["Grace", "Supervised", "doing"]


@dataclass(frozen=True, slots=True)
class Grace:
    """Seconds that a harness gets to end: by itself once its input is closed, after TERM, and for KILL to work."""

    close: float
    term: float
    kill: float

    @classmethod
    def within(cls, seconds: float) -> Grace:
        """The three together take at most so long."""
        return cls(close=seconds * 0.5, term=seconds * 0.3, kill=seconds * 0.2)


AFTER_A_HANG = Grace(close=0.0, term=0.3, kill=0.7)
"""It had its time already: a TIMEOUT stands at most two seconds after the deadline."""


class Supervised:
    """A running harness. Made by `start`; whoever made it calls `stop` in the end, whatever happened.

    `pid` is the leader's; `tag` stands in the environment of every descendant that did not clear it. `send` writes to
    its standard input, `listen` and `read` take from its standard output, `stderr` gives the end of what it said
    beside.
    """

    def __init__(
        self, leader: subprocess.Popen[bytes], name: str, tag: str, ours: tuple[int, int, int], grace: Grace
    ) -> None:
        """Use `start`. `ours` are our ends of standard input, output and error."""
        self.pid = leader.pid
        self.name = name
        self.tag = tag
        self._leader = leader
        self._grace = grace
        self._family = Family(leader.pid, tag)
        self._seen: dict[int, psutil.Process] = {}
        self._stdin, self._stdout, self._stderr = Inlet(ours[0]), Outlet(ours[1]), Tail(ours[2])
        self._loop = asyncio.get_running_loop()
        self._exited = asyncio.Event()
        self._hung = False
        self._stopping: asyncio.Task[None] | None = None
        self._over = False
        self._call_off: Callable[[], None] = self._exited.set
        _RUNNING.add(self)
        self._call_off = watch(leader.pid, self._saw_exit, leader.wait)

    @classmethod
    async def start(
        cls, argv: Sequence[str], *, directory: Path, environment: Mapping[str, str], stop_within: float = 10.0
    ) -> Supervised:
        """Start a program in a session of its own.

        `environment` is the whole of it (see `environment.build`); a tag is added if it has none. `stop_within` are the
        seconds that `stop` may take at most. Raises `StartFailed`, and leaves nothing behind then.
        """
        tag = environment.get(TAG) or new_tag()
        ORPHANAGE.enter(tag)
        try:
            leader, ours = spawn(argv, directory, {**environment, TAG: tag})
        except BaseException:
            ORPHANAGE.leave(tag)
            raise
        ORPHANAGE.lead(tag, leader.pid)
        return cls(leader, Path(argv[0]).name, tag, ours, Grace.within(stop_within))

    # --- Talking ---------------------------------------------------------------------------------------------------

    def send(self, data: bytes) -> None:
        """Write to standard input, at once or as the harness reads; dropped if it closed it.

        Raises `HarnessHung` if far too much waits to be read.
        """
        try:
            self._stdin.send(data)
        except BacklogError as error:
            raise HarnessHung(f"{self.name} does not read its standard input: {error}", _HINT) from None

    def listen(self, take: Callable[[bytes], None]) -> None:
        """Hand over what `read` would give, chunk by chunk as it arrives; no bytes at the end, once."""
        self._stdout.listen(take)

    def ignore(self) -> None:
        """Hand over no more: what it says stays in the pipe."""
        self._stdout.ignore()

    async def read(self) -> bytes:
        """Some bytes of standard output; none when it was closed, or the process is gone and all was read."""
        return await self._stdout.read()

    def read_now(self, seconds: float) -> bytes:
        """As `read`, without giving the loop back; what waits to be sent is sent meanwhile. Raises `TimeoutError`."""
        return self._stdout.read_now(self._stdin, seconds)

    def close_input(self) -> None:
        """End its standard input; what waits to be sent is dropped. A program that was written for it then ends."""
        self._stdin.close()

    def stderr(self, lines: int | None = None) -> str:
        """The end of standard error, at most 64 KiB, printable; only the last `lines`, if given."""
        return self._stderr.text(lines)

    # --- Ending ----------------------------------------------------------------------------------------------------

    @property
    def returncode(self) -> int | None:
        """None while it runs; then its exit code, or minus the number of the signal that ended it."""
        if self._leader.returncode is not None:
            return self._leader.returncode
        # Looked at without reaping: a zombie keeps the pid, the session's and the group's id too, from being another's.
        with contextlib.suppress(ChildProcessError, AttributeError):  # macOS has no waitid: there `watch` reaps
            end = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if end is not None:
                return end.si_status if end.si_code == os.CLD_EXITED else -end.si_status
        return None

    async def exited(self) -> int:
        """Wait for the end of the process, not of its descendants or pipes; gives its `returncode`."""
        await self._exited.wait()
        return self.returncode or 0

    async def death(self, during: str) -> HarnessDied:
        """The error for a harness that gives no more output: how it ended, what it said last. `during` is the phase."""
        with contextlib.suppress(TimeoutError):
            # Most programs that end close their output a moment earlier.
            await asyncio.wait_for(self._exited.wait(), 2.0)
        code = self.returncode
        self._stderr.drain()
        if code is None:
            how = "closed its standard output, though it still runs"
        elif code < 0:
            how = f"was ended by {_signal_name(-code)}"
        else:
            how = f"ended with exit code {code}"
        return HarnessDied(f"{self.name} {how} (during {during}){self.last_words()}", _HINT)

    async def hang(self, during: str, seconds: float) -> HarnessHung:
        """End a harness that missed a deadline of so many seconds; gives the error that says what it was doing."""
        self._hung = True
        cause = f"{self.name} did not answer {during} within {seconds:g} s: {self.doing()}"
        await self.stop()
        return HarnessHung(cause + self.last_words(), _HINT)

    def doing(self) -> str:
        """What it does right now, in words, for a message about a hang."""
        ends = (("input", self._stdin.broken), ("output", self._stdout.at_end_of_file))
        return portrait(self._family) + "".join(f"; it closed its standard {end}" for end, closed in ends if closed)

    async def stop(self) -> None:
        """End the harness and every descendant: close its input, TERM, KILL. Never raises; a second call does nothing.

        If the caller is cancelled meanwhile, everything is killed at once before the cancellation goes on.
        """
        if self._over:
            return
        if self._stopping is None:
            self._stopping = self._loop.create_task(self._end())
        try:
            await asyncio.shield(self._stopping)
        except asyncio.CancelledError:
            self.kill()
            raise
        except (OSError, RuntimeError):  # no descriptor or thread to be had, which is no reason to leave it running
            self._kill_group()

    def leftovers(self) -> tuple[int, ...]:
        """The pids of descendants that still run, the leader included."""
        self._look()
        return alive(self._seen.values())

    def kill(self) -> None:
        """End everything at once, waiting for no event: for a way out that can't, as at the program's end."""
        if self._over:
            return
        until = time.monotonic() + self._grace.kill
        try:
            while (found := self._look()) and time.monotonic() < until:
                send_signal(found, signal.SIGKILL)
        except OSError:
            self._kill_group()
        else:
            self._close()

    def _kill_group(self) -> None:
        """The least that always works: the leader's own group."""
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        self._close()

    async def _end(self) -> None:
        grace = AFTER_A_HANG if self._hung else self._grace
        self._look()  # before the leader ends: this is the last time that the tree tells of its children
        self._stdin.close()
        self._stdout.discard()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._exited.wait(), grace.close)
        send_signal(found := self._look(), signal.SIGTERM)
        await self._gone(found, grace.term)
        until = time.monotonic() + grace.kill
        while (found := self._look()) and time.monotonic() < until:
            send_signal(found, signal.SIGKILL)
            await self._gone(found, until - time.monotonic())
        self._close()

    async def _gone(self, found: Sequence[psutil.Process], seconds: float) -> None:
        """Return when these have ended, or after so many seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await gone([p for p in found if p.pid != self.pid])
                if any(p.pid == self.pid for p in found):
                    await self._exited.wait()

    def _look(self) -> tuple[psutil.Process, ...]:
        """The living members, those included that were found before and since lost every tie."""
        if not self._over:
            self._seen |= {p.pid: p for p in members(self._family)}
        running = set(alive(self._seen.values()))
        self._seen = {pid: p for pid, p in self._seen.items() if pid in running}
        return tuple(self._seen.values())

    def _saw_exit(self) -> None:
        self._exited.set()
        self._stdout.writer_gone()
        self._stderr.drain()

    def _close(self) -> None:
        """Give back all that is ours: zombies, descriptors, the place in the orphanage."""
        if self._over:
            return
        self._over = True
        self._stderr.drain()
        self._call_off()
        for pipe in (self._stdin, self._stdout, self._stderr):
            pipe.close()
        with contextlib.suppress(OSError):  # zombies that stay are no reason to raise
            reap()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._leader.wait(self._grace.kill)
        if not self._loop.is_closed():
            self._exited.set()
        ORPHANAGE.leave(self.tag)
        _RUNNING.discard(self)

    def last_words(self) -> str:
        """The end of its standard error, as the end of a message."""
        words = self.stderr(lines=10)[-1500:]
        return f"; the end of its standard error:\n{words}" if words else "; its standard error is empty"


_HINT = "`forkproof harness doctor NAME` tries a start by itself; on a slow machine give longer deadlines"
_RUNNING: set[Supervised] = set()


def doing() -> str:
    """What the harnesses that run now do, and said last, in words: for whoever lost patience and knows none of them."""
    return "; ".join(f"{process.name}: {process.doing()}{process.last_words()}" for process in tuple(_RUNNING))


def _kill_the_rest() -> None:
    """Leave nothing behind, also where the program ends without a `stop`; a fork of ours owns none of it."""
    for process in tuple(_RUNNING):
        process.kill()


atexit.register(_kill_the_rest)
os.register_at_fork(after_in_child=_RUNNING.clear)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
