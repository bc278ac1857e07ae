"""A talk with a harness in lines over its standard streams: how it is read, waited for, and how it ends.

What the lines say is the business of a subclass: JSON-RPC (`jsonrpc.Peer`), or a harness's own protocol.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Protocol, TypeVar

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

    async def read(self) -> bytes:
        """Some bytes; empty at the end."""
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
        self._handlers: set[asyncio.Task[None]] = set()
        self.oddities: list[str] = []
        """What arrived and belongs to nothing, e.g. an answer to a question never asked; the first hundred of them."""
        self._fault: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()
        self._reader = asyncio.create_task(self._read())

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
                self._reader.cancel()  # or it would report the death that `hang` brings about
                error = await self._process.hang(phase, seconds)
                self._end(self._only_oddities(error, odd) if understood == self._understood else error)
            raise self._fault.result()
        finally:
            if not future.cancel() and not future.cancelled():
                future.exception()  # seen, also where a cancellation came in between

    async def close(self) -> None:
        """Stop reading and answering; the process goes on. Later requests fail."""
        self._end(HarnessDied("the talk with the harness was closed", "this is the adapter's own doing"))
        tasks = (self._reader, *self._handlers)
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

    async def _read(self) -> None:
        try:
            rest = await self._read_lines()
        except Exception as error:  # noqa: BLE001  # garbage, or a fault of a callback of ours: whoever waits gets it
            self._end(error)
            return
        death = await self._process.death(self._phase)
        if rest:
            death = HarnessDied(f"{death.cause}\nit stopped in the middle of a line: {shown(rest)}", death.hint)
        self._end(death)

    async def _read_lines(self) -> bytes:
        """Take every whole line to the end of the output; gives what follows the last one."""
        parts: list[bytes] = []
        size = 0
        while chunk := await self._process.read():
            *lines, rest = chunk.split(b"\n")
            for line in lines:
                self._take(b"".join((*parts, line)))
                parts, size = [], 0
            parts.append(rest)
            size += len(rest)
            if size > self._max_line:
                begin = next(part for part in parts if part)[:_SHOWN]
                raise Garbage(f"a line of more than {self._max_line} bytes that begins {shown(begin)}", self._hint)
        return b"".join(parts)

    def _end(self, fault: Exception) -> None:
        if not self._fault.done():
            self._fault.set_result(fault)

    def _odd(self, what: str) -> None:
        if len(self.oddities) < _ODDITIES_KEPT:
            self.oddities.append(what)

    def _only_oddities(self, error: HarnessHung, before: int) -> HarnessHung | Garbage:
        """A harness that sent nothing but what belongs to nothing did not hang: it talks past us.

        So many oddities were there `before` it was waited for; those say nothing of this silence.
        """
        sent = self.oddities[before:]
        return Garbage(f"{error.cause}\nand all that it sent was {'; '.join(sent[-3:])}", self._hint) if sent else error


def shown(line: bytes) -> str:
    """The beginning of a line, printable, for a message."""
    text = ascii(line[:_SHOWN].decode("utf-8", "replace"))
    return text + (f" … ({len(line)} bytes)" if len(line) > _SHOWN else "")
