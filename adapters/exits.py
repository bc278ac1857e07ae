"""The end of a process as an event, be it a child of ours or not. Source: style, "no sleep in place of an event"."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil

__all__ = ["gone", "watch"]


def watch(pid: int, ended: Callable[[], None], block: Callable[[], object]) -> Callable[[], None]:
    """Call `ended` in the running loop once the process has ended, a zombie counting as ended; never before returning.

    Gives a function that calls the watch off. `block` waits for the same end in a thread: the way taken where there are
    no process descriptors (macOS, old kernels, strict sandboxes).
    """
    loop = asyncio.get_running_loop()
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return loop.call_soon(ended).cancel
    except (AttributeError, OSError):
        return _watch_by_thread(loop, ended, block)

    def call_off() -> None:
        nonlocal fd
        if fd >= 0:
            if not loop.is_closed():
                loop.remove_reader(fd)
            os.close(fd)
            fd = -1

    def fire() -> None:
        call_off()
        ended()

    loop.add_reader(fd, fire)
    return call_off


def _watch_by_thread(
    loop: asyncio.AbstractEventLoop, ended: Callable[[], None], block: Callable[[], object]
) -> Callable[[], None]:
    called_off = threading.Event()

    def tell() -> None:
        if not called_off.is_set():
            ended()

    def wait() -> None:
        block()
        with contextlib.suppress(RuntimeError):  # the loop may be closed by then
            loop.call_soon_threadsafe(tell)

    threading.Thread(target=wait, name="forkproof-exit", daemon=True).start()
    return called_off.set


async def gone(processes: Sequence[psutil.Process]) -> None:
    """Return when all these processes have ended."""
    left = {p.pid for p in processes}
    if not left:
        return
    over = asyncio.get_running_loop().create_future()

    def ended(pid: int) -> None:
        left.discard(pid)
        if not left and not over.done():
            over.set_result(None)

    watches = [watch(p.pid, lambda pid=p.pid: ended(pid), p.wait) for p in processes]  # type: ignore[misc]  # mypy can't type a lambda's default
    try:
        await over
    finally:
        for call_off in watches:
            call_off()
