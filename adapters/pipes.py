"""A harness's three standard streams, seen from our end: bounded, event-driven, never waiting for an end of file.

A grandchild may hold the other end of a pipe for as long as it likes; so the end of the process, which the supervisor
tells by `writer_gone`, ends the reading as soon as the pipe is empty.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import select
import time
from collections.abc import Callable

__all__ = ["CHUNK", "BacklogError", "Inlet", "Outlet", "Tail"]

CHUNK = 64 * 1024
"""Bytes that one read takes at most: what a pipe holds.

For twice as much and more the C library maps, shrinks and unmaps memory at every read, which costs more than the read.
"""

_UNPRINTABLE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class BacklogError(BufferError):
    """The other end does not read: more bytes wait to be written than `Inlet` keeps."""


class _Pipe:
    """Our end of a pipe, non-blocking; `close` may be called twice."""

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self._fd = fd
        self._loop = asyncio.get_running_loop()

    @property
    def closed(self) -> bool:
        return self._fd < 0

    def close(self) -> None:
        if self._fd < 0:
            return
        fd, self._fd = self._fd, -1
        if not self._loop.is_closed():
            self._loop.remove_reader(fd)
            self._loop.remove_writer(fd)
        with contextlib.suppress(OSError):
            os.close(fd)


class Inlet(_Pipe):
    """The harness's standard input: `send` never blocks and never writes half a message because of a cancellation."""

    def __init__(self, fd: int, limit: int = 32 * 1024 * 1024) -> None:
        """`limit` is how many bytes may wait for a harness that does not read."""
        super().__init__(fd)
        self._limit = limit
        self._waiting = bytearray()
        self._flushing = False
        self.broken = False

    def send(self, data: bytes) -> None:
        """Write all of `data`, now or as the other end reads. After the other end closed it is dropped: see `broken`.

        Raises `BacklogError` when too much waits already.
        """
        if self.broken or self.closed:
            return
        if len(self._waiting) + len(data) > self._limit:
            raise BacklogError(f"{len(self._waiting)} bytes wait to be read")
        idle = not self._waiting
        self._waiting += data
        if idle:
            self._flush()
        if self._waiting and not self.closed and not self._flushing:
            self._loop.add_writer(self._fd, self._flush)
            self._flushing = True

    def poll_with(self, ready: select.poll) -> None:
        """Have `ready` tell when more can be written, if anything waits."""
        if self._waiting and not self.closed:
            ready.register(self._fd, select.POLLOUT)

    def flush_now(self) -> None:
        """Write what can be written now."""
        if self._waiting and not self.closed:
            self._flush()

    def _flush(self) -> None:
        try:
            while self._waiting:
                with memoryview(self._waiting) as view:
                    written = os.write(self._fd, view[:CHUNK])
                del self._waiting[:written]
        except BlockingIOError:
            return
        except OSError:  # EPIPE and its kin: whoever waits for an answer finds out why
            self.broken = True
            self.close()
            return
        if self._flushing:
            self._loop.remove_writer(self._fd)
            self._flushing = False

    def close(self) -> None:
        """End the input; what still waits is dropped."""
        super().close()
        self._waiting.clear()


class Outlet(_Pipe):
    """The harness's standard output, read when asked for: what nobody reads stays in the pipe and takes no memory.

    Either somebody listens, or somebody reads; nobody does both at once.
    """

    def __init__(self, fd: int) -> None:
        super().__init__(fd)
        self._take: Callable[[bytes], None] | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._writer_gone = False
        self.at_end_of_file = False

    def listen(self, take: Callable[[bytes], None]) -> None:
        """From now on hand over what arrives, at most `CHUNK` at a time; no bytes at the end, which `read` names."""
        self._take = take
        if self._writer_gone or self.closed:
            self._loop.call_soon(self._hand_over)
        else:
            self._loop.add_reader(self._fd, self._hand_over)

    def ignore(self) -> None:
        """Hand over no more."""
        self._take = None
        if not self.closed:
            self._loop.remove_reader(self._fd)

    def _hand_over(self) -> None:
        """One chunk, then the loop goes on: a harness that never pauses must not keep deadlines from passing."""
        if self._take is None:
            return
        take, data = self._take, self._read_ready()
        if data is None:
            return
        if not data:
            self.ignore()
        elif self._writer_gone:
            self._loop.call_soon(self._hand_over)
        take(data)

    def _read_ready(self) -> bytes | None:
        """What is in the pipe; None if that is nothing, but may become something."""
        if self.closed:
            return b""
        try:
            data = os.read(self._fd, CHUNK)
        except BlockingIOError:
            return b"" if self._writer_gone else None
        self.at_end_of_file = not data
        return data

    async def read(self) -> bytes:
        """The next bytes, at most `CHUNK`; none at the end of file, or when the process is gone and the pipe empty."""
        while True:
            # Either gives the loop back. Before the read, so that a cancellation loses nothing.
            await (asyncio.sleep(0) if self._writer_gone or self.closed else self._readable())
            data = self._read_ready()
            if data is not None:
                return data

    def read_now(self, inlet: Inlet, seconds: float) -> bytes:
        """As `read`, without giving the loop back, while what waits in `inlet` is written. Raises `TimeoutError`."""
        until = time.monotonic() + seconds
        while not self.closed:
            ready = select.poll()
            ready.register(self._fd, select.POLLIN)
            inlet.poll_with(ready)
            if not ready.poll(max(0.0, until - time.monotonic()) * 1000):
                raise TimeoutError
            inlet.flush_now()
            with contextlib.suppress(BlockingIOError):
                data = os.read(self._fd, CHUNK)
                self.at_end_of_file = not data
                return data
        return b""

    def writer_gone(self) -> None:
        """The process has ended: from now on an empty pipe is the end."""
        self._writer_gone = True
        if self._take is not None and not self.closed:
            self._loop.remove_reader(self._fd)
            self._loop.call_soon(self._hand_over)
        self._wake()

    def discard(self) -> None:
        """From now on drop what nobody reads, so that a program that has much to say can come to its end."""
        if self._waiter is None and self._take is None and not self.closed:
            self.listen(lambda _data: None)

    def close(self) -> None:
        """Read no more; who listens or waits in `read` is given no bytes."""
        super().close()
        if self._take is not None and not self._loop.is_closed():
            self._loop.call_soon(self._hand_over)
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def _readable(self) -> None:
        self._waiter = self._loop.create_future()
        self._loop.add_reader(self._fd, self._wake)
        try:
            await self._waiter
        finally:
            self._waiter = None
            if not self.closed:
                self._loop.remove_reader(self._fd)


class Tail(_Pipe):
    """The harness's standard error: always read, and only its end kept."""

    def __init__(self, fd: int, keep: int = 64 * 1024) -> None:
        """`keep` is how many bytes are remembered."""
        super().__init__(fd)
        self._keep = keep
        self._kept = bytearray()
        self._loop.add_reader(fd, self._take)

    def text(self, lines: int | None = None) -> str:
        """What is remembered, readable: without colours and control characters; only the last `lines`, if given."""
        words = _UNPRINTABLE.sub("", self._kept[-self._keep :].decode("utf-8", "replace")).strip()
        return words if lines is None else "\n".join(words.splitlines()[-lines:])

    def drain(self) -> None:
        """Take what is in the pipe now, within reason: a grandchild may go on writing for ever."""
        for _ in range(64):
            if self.closed or not self._take():
                return

    def _take(self) -> bool:
        try:
            data = os.read(self._fd, CHUNK)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            self.close()
            return False
        self._kept += data
        if len(self._kept) > 2 * self._keep:
            del self._kept[: -self._keep]
        return True
