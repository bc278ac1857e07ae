"""A talk with a harness in lines over its standard streams: how it is read, waited for, and how it ends.

What the lines say is the business of a subclass: JSON-RPC (`jsonrpc.Peer`), or a harness's own protocol.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar

from forkproof.adapters.errors import Garbage, HarnessDied, HarnessHung

__all__ = ["MAX_LINE", "LineTalk", "Process", "shown"]

T = TypeVar("T")

MAX_LINE = 16 * 1024 * 1024
"""Bytes of one line at most: what a line needs while it is decoded, several times its length, must stay affordable."""

_SHOWN = 200
_ODDITIES_KEPT = 100


class Process(Protocol):
    """What a peer needs of a process; `supervisor.Supervised` is one."""

    def send(self, data: bytes) -> None:
        """Write all of it, without blocking."""
        ...

    def listen(self, take: Callable[[bytes], None]) -> None:
        """Hand over what arrives, chunk by chunk; no bytes at the end, once."""
        ...

    def ignore(self) -> None:
        """Hand over no more."""
        ...

    async def death(self, during: str) -> HarnessDied:
        """The error that says how the process ended."""
        ...

    async def hang(self, during: str, seconds: float) -> HarnessHung:
        """End the process; gives the error that says what it was doing."""
        ...


class LineTalk:
    """One end of the talk. Made inside a running loop; it reads until the end of the output, garbage, or `close`."""

    def __init__(self, process: Process, *, hint: str, max_line: int = MAX_LINE) -> None:
        """`hint` is what to tell of garbage."""
        self._process = process
        self._hint = hint
        self._max_line = max_line
        self._understood = 0
        self._phase = "the start"
        self._buffer = bytearray()
        self._lines: deque[bytes] = deque()
        self._unsettled: set[asyncio.Future[Any]] = set()
        self._handlers: set[asyncio.Task[None]] = set()
        self._dying: asyncio.Task[None] | None = None
        self.oddities: list[str] = []
        """What arrived and belongs to nothing, e.g. an answer to a question never asked; the first hundred of them."""
        self._loop = asyncio.get_running_loop()
        self._fault: asyncio.Future[Exception] = self._loop.create_future()
        process.listen(self._hear)

    def _take(self, line: bytes) -> None:
        """Understand one line. Raises `Garbage`."""
        raise NotImplementedError

    async def attend(self, awaited: Awaitable[T], seconds: float, phase: str) -> T:
        """Wait for something that this harness must bring about, for so many seconds; `phase` names it in the error.

        Raises as `request` does, and whatever `awaited` raises.
        """
        self._phase = phase
        future = asyncio.ensure_future(awaited)
        understood, odd = self._understood, len(self.oddities)
        try:
            await asyncio.wait((future, self._fault), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if future.done():
                return future.result()
            if not self._fault.done():
                await self._hung(phase, seconds, understood, odd)
            raise self._fault.result()
        finally:
            if not future.cancel() and not future.cancelled():
                future.exception()  # seen, also where a cancellation came in between

    async def answered(self, answer: asyncio.Future[T], seconds: float, phase: str) -> T:
        """As `attend`, and cheaper, for an answer that nobody but this talk settles.

        Whatever comes first settles it: what arrives, the end of the talk, or the deadline.
        """
        self._phase = phase
        understood, odd = self._understood, len(self.oddities)
        self._unsettled.add(answer)
        deadline = self._loop.call_later(seconds, _too_late, answer) if seconds < math.inf else None
        try:
            return await answer
        except _TooLateError:
            await self._hung(phase, seconds, understood, odd)
            raise self._fault.result() from None
        finally:
            if deadline is not None:
                deadline.cancel()
            self._unsettled.discard(answer)

    async def _hung(self, phase: str, seconds: float, understood: int, odd: int) -> None:
        """End the process, and the talk; so much was `understood`, and so many oddities were there, before the wait."""
        self._stop_reading()  # or it would report the death that `hang` brings about
        error = await self._process.hang(phase, seconds)
        self._end(self._only_oddities(error, odd) if understood == self._understood else error)

    async def close(self) -> None:
        """Stop reading and answering; the process goes on. Later requests fail."""
        self._end(HarnessDied("the talk with the harness was closed", "this is the adapter's own doing"))
        self._stop_reading()
        tasks = [*self._handlers, *([] if self._dying is None else [self._dying])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _write(self, data: bytes) -> None:
        """Send one line. Raises what ended the talk, if it ended."""
        if self._fault.done():
            raise self._fault.result()
        try:
            self._process.send(data + b"\n")
        except HarnessHung as error:
            self._end(error)
            raise

    def _hear(self, chunk: bytes) -> None:
        if not chunk:
            self._dying = self._loop.create_task(self._died())
            return
        try:
            self._keep(chunk)
        except Garbage as error:
            self._break_off(error)
        else:
            self._take_kept()

    def _keep(self, chunk: bytes) -> None:
        """Put whole lines aside in their order. Raises `Garbage` for one that never ends."""
        *lines, rest = chunk.split(b"\n")
        if lines and self._buffer:
            lines[0] = bytes(self._buffer) + lines[0]
            self._buffer.clear()
        self._lines.extend(lines)
        self._buffer += rest
        if len(self._buffer) > self._max_line:
            begin = bytes(self._buffer[:_SHOWN])
            raise Garbage(f"a line of more than {self._max_line} bytes that begins {shown(begin)}", self._hint)

    def _take_kept(self) -> None:
        try:
            while self._lines:
                self._take(self._lines.popleft())
        except Exception as error:  # noqa: BLE001  # garbage, or a fault of a callback of ours: whoever waits gets it
            self._break_off(error)

    async def _died(self) -> None:
        death = await self._process.death(self._phase)
        if self._buffer:
            words = f"{death.cause}\nit stopped in the middle of a line: {shown(bytes(self._buffer))}"
            death = HarnessDied(words, death.hint)
        self._end(death)

    def _break_off(self, fault: Exception) -> None:
        self._stop_reading()
        self._end(fault)

    def _stop_reading(self) -> None:
        self._process.ignore()
        if self._dying is not None:
            self._dying.cancel()

    def _end(self, fault: Exception) -> None:
        if self._fault.done():
            return
        self._fault.set_result(fault)
        for answer in self._unsettled:
            if not answer.done():
                answer.set_exception(fault)

    def _odd(self, what: str) -> None:
        if len(self.oddities) < _ODDITIES_KEPT:
            self.oddities.append(what)

    def _only_oddities(self, error: HarnessHung, before: int) -> HarnessHung | Garbage:
        """A harness that sent nothing but what belongs to nothing did not hang: it talks past us.

        So many oddities were there `before` it was waited for; those say nothing of this silence.
        """
        sent = self.oddities[before:]
        return Garbage(f"{error.cause}\nand all that it sent was {'; '.join(sent[-3:])}", self._hint) if sent else error


class _TooLateError(Exception):
    """The deadline came before the answer."""


def _too_late(answer: asyncio.Future[Any]) -> None:
    if not answer.done():
        answer.set_exception(_TooLateError())


def shown(line: bytes) -> str:
    """The beginning of a line, printable, for a message."""
    text = ascii(line[:_SHOWN].decode("utf-8", "replace"))
    return text + (f" … ({len(line)} bytes)" if len(line) > _SHOWN else "")
