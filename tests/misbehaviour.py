"""Ill-behaved programs under supervision, and what may be left of them: nothing. For tests."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psutil

from forkproof.adapters.environment import build
from forkproof.adapters.supervisor import Supervised
from forkproof.adapters.watchdog import WATCHDOG

NASTY = Path(__file__).parent / "programs" / "nasty.py"
SHORT = 1.0
"""Seconds for a stop whose graces are expected to pass."""
LONG = 600.0
"""Seconds for a stop that must not wait for its graces: the test's own time limit would strike first."""


def runs(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


@contextlib.contextmanager
def no_descriptor_stays_open() -> Iterator[None]:
    """What is done in it leaves no descriptor of ours behind, but for what lasts as long as this process."""
    WATCHDOG.tell()  # it starts with the first harness and stays, as does the pipe to it
    before = _descriptors()
    yield
    assert _descriptors() <= before


def _descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


async def start(directory: Path, *behaviour: str, stop_within: float = SHORT) -> Supervised:
    """Start a behaviour of `programs/nasty.py`."""
    return await Supervised.start(
        [sys.executable, "-I", str(NASTY), *behaviour],
        directory=directory,
        environment=build(directory),
        stop_within=stop_within,
    )


@contextlib.asynccontextmanager
async def nasty(directory: Path, *behaviour: str, stop_within: float = SHORT) -> AsyncIterator[Supervised]:
    """A nasty program that is stopped at the end, with nothing of it left, not even a zombie or a descriptor."""
    with no_descriptor_stays_open():
        process = await start(directory, *behaviour, stop_within=stop_within)
        try:
            yield process
        finally:
            await process.stop()
        assert process.leftovers() == ()
        assert not psutil.pid_exists(process.pid)


async def first_words(process: Supervised) -> str:
    """The first thing that it says."""
    return (await asyncio.wait_for(process.read(), 60)).decode().strip()
