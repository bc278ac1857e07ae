"""Standard input and output of a served adapter, as the process at the other end of a peer."""

from __future__ import annotations

import asyncio
import os
import select
import sys

from forkproof.adapters.errors import HarnessDied, HarnessHung

__all__ = ["Streams"]

_CHUNK = 256 * 1024


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
        self._waiter: asyncio.Future[None] | None = None
        self._watched = False
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

    async def read(self) -> bytes:
        """Some bytes; empty at the end."""
        while True:
            self._waiter = self._loop.create_future()
            try:
                if not self._watched:
                    self._loop.add_reader(self._in, self._seen)
                    self._watched = True
                await self._waiter
            except PermissionError:  # a plain file, which is always ready
                return await asyncio.to_thread(os.read, self._in, _CHUNK)
            finally:
                self._waiter = None
            # `read_now` may have taken meanwhile what the loop saw.
            if self._look.poll(0):
                return os.read(self._in, _CHUNK)

    def _seen(self) -> None:
        if self._waiter is None:
            # Nobody reads now. Until then the loop went on watching: most who read will read again.
            self._loop.remove_reader(self._in)
            self._watched = False
        elif not self._waiter.done():
            self._waiter.set_result(None)

    def read_now(self, seconds: float) -> bytes:
        """Some bytes without giving the loop back. Raises `TimeoutError`."""
        if not self._look.poll(None if seconds == float("inf") else seconds * 1000):
            raise TimeoutError
        return os.read(self._in, _CHUNK)

    def kill(self) -> None:
        """Nothing: the suite is not ours to end."""

    async def death(self, during: str) -> HarnessDied:
        """The suite closed its end."""
        return HarnessDied(f"the input ended (during {during})", "")

    async def hang(self, during: str, seconds: float) -> HarnessHung:
        """The suite gave no answer."""
        return HarnessHung(f"no answer to {during} within {seconds:g} s", "")
