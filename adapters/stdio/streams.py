"""Standard input and output of a served adapter, as the process at the other end of a peer."""

from __future__ import annotations

import asyncio
import os
import select
import sys
from collections.abc import Callable

from forkproof.adapters.errors import HarnessDied, HarnessHung
from forkproof.adapters.pipes import CHUNK

__all__ = ["Streams"]


class Streams:
    """Implements `peer.DirectProcess`. Made inside a running loop.

    Whatever else writes to standard output then, a stray `print` say, goes to standard error.
    """

    def __init__(self) -> None:
        self._in = os.dup(0)
        self._out = os.dup(1)
        sys.stdout.flush()
        os.dup2(2, 1)
        self._loop = asyncio.get_running_loop()
        self._take: Callable[[bytes], None] | None = None
        self._always_ready = False
        self._read_early = False
        self._look = select.poll()
        self._look.register(self._in, select.POLLIN)

    def send(self, data: bytes) -> None:
        """Write all of it; what nobody reads any more is dropped."""
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._out, rest) :]
        except OSError:  # the suite is gone: the end of the input says so
            return

    def listen(self, take: Callable[[bytes], None]) -> None:
        """Hand over what arrives, chunk by chunk; no bytes at the end, once."""
        self._take = take
        try:
            self._loop.add_reader(self._in, self._hand_over)
        except PermissionError:  # a plain file, which is always ready
            self._always_ready = True
            self._loop.call_soon(self._hand_over)

    def ignore(self) -> None:
        """Hand over no more."""
        self._take = None
        self._loop.remove_reader(self._in)

    def _hand_over(self) -> None:
        if self._take is None:
            return
        if self._read_early:  # and it may have taken what the loop saw
            self._read_early = False
            if not self._look.poll(0):
                return
        take, data = self._take, os.read(self._in, CHUNK)
        if not data:
            self.ignore()
        take(data)
        if self._always_ready:
            self._loop.call_soon(self._hand_over)

    def read_now(self, seconds: float) -> bytes:
        """Some bytes without giving the loop back. Raises `TimeoutError`."""
        if not self._look.poll(None if seconds == float("inf") else seconds * 1000):
            raise TimeoutError
        self._read_early = True
        return os.read(self._in, CHUNK)

    def kill(self) -> None:
        """Nothing: the suite is not ours to end."""

    async def death(self, during: str) -> HarnessDied:
        """The suite closed its end."""
        return HarnessDied(f"the input ended (during {during})", "")

    async def hang(self, during: str, seconds: float) -> HarnessHung:
        """The suite gave no answer."""
        return HarnessHung(f"no answer to {during} within {seconds:g} s", "")
