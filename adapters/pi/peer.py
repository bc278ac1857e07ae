"""pi's RPC over standard streams: one JSON object a line, answers by `id`, events and questions in between.

It is no JSON-RPC: a request is `{"id", "type", ...}`, its answer `{"type": "response", "id", "success", ...}`; all else
is an event or an extension's question. What arrives is understood, handed on, kept in `oddities`, or the error that
ends the talk. Source: docs/pi.md; pi's docs/rpc.md.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias, TypeVar

from forkproof.adapters.errors import Garbage, HarnessDied, HarnessHung
from forkproof.adapters.jsonrpc import MAX_LINE, Process

__all__ = ["Event", "Peer", "Rejected"]

T = TypeVar("T")
Event: TypeAlias = Mapping[str, Any]

_SHOWN = 200
_ODDITIES_KEPT = 100
_HINT = "standard output is the protocol's: one JSON object a line; docs/pi.md names the releases that were driven"


class Rejected(Exception):
    """pi answered a request with `"success": false`; the message is pi's own."""


class Peer:
    """One end of the talk. Made inside a running loop; it reads until the end of the output, garbage, or `close`.

    `on_event` gets every message that is no answer, in the order of arrival, at once.
    """

    def __init__(self, process: Process, on_event: Callable[[Event], None]) -> None:
        self._process = process
        self._on_event = on_event
        self._pending: dict[str, tuple[str, asyncio.Future[Any]]] = {}
        self._last_id = 0
        self._phase = "the start"
        self.oddities: list[str] = []
        """What arrived and belongs to nothing; the first hundred of them."""
        self._fault: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()
        self._reader = asyncio.create_task(self._read())

    @property
    def over(self) -> bool:
        """Whether no answer can come any more."""
        return self._fault.done()

    async def request(self, kind: str, deadline: float, **members: Any) -> Any:
        """Ask, and give the answer's `data`, None where it has none. `deadline` in seconds.

        Raises `Rejected` for a failure that pi states, `HarnessDied` and `Garbage` when no answer can come any more,
        and `HarnessHung` when the time is over; the process has been ended then.
        """
        self._last_id += 1
        number = str(self._last_id)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._pending[number] = (kind, answer)
        try:
            self.send({"id": number, "type": kind, **members})
            return await self.attend(answer, deadline, kind)
        finally:
            del self._pending[number]

    def send(self, message: Event) -> None:
        """Write one message. Raises what ended the talk, if it ended."""
        if self._fault.done():
            raise self._fault.result()
        try:
            self._process.send(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        except HarnessHung as error:
            self._end(error)
            raise

    async def attend(self, awaited: Awaitable[T], seconds: float, phase: str) -> T:
        """Wait for something that pi must bring about, for so many seconds; `phase` names it in the error.

        Raises as `request` does, and whatever `awaited` raises.
        """
        self._phase = phase
        future = asyncio.ensure_future(awaited)
        try:
            await asyncio.wait((future, self._fault), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if future.done():
                return future.result()
            if not self._fault.done():
                self._reader.cancel()  # or it would report the death that `hang` brings about
                self._end(await self._process.hang(phase, seconds))
            raise self._fault.result()
        finally:
            if not future.cancel() and not future.cancelled():
                future.exception()  # seen, also where a cancellation came in between

    async def ended(self) -> Exception:
        """Wait for what ends the talk, and give it."""
        return await asyncio.shield(self._fault)

    async def close(self) -> None:
        """Stop reading; the process goes on. Later requests fail."""
        self._end(HarnessDied("the talk with pi was closed", "this is the adapter's own doing"))
        self._reader.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)

    # --- What arrives ----------------------------------------------------------------------------------------------

    async def _read(self) -> None:
        try:
            rest = await self._read_lines()
        except Exception as error:  # noqa: BLE001  # garbage, or a fault of a callback of ours: whoever waits gets it
            self._end(error)
            return
        death = await self._process.death(self._phase)
        if rest:
            death = HarnessDied(f"{death.cause}\nit stopped in the middle of a line: {_shown(rest)}", death.hint)
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
            if size > MAX_LINE:
                begin = next(part for part in parts if part)[:_SHOWN]
                raise Garbage(f"a line of more than {MAX_LINE} bytes that begins {_shown(begin)}", _HINT)
        return b"".join(parts)

    def _take(self, line: bytes) -> None:
        if not line.strip():
            self._odd("an empty line")
            return
        try:
            message = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise Garbage(f"not JSON ({error}): {_shown(line)}", _HINT) from None
        match message:
            case {"type": "response", "command": str(kind), "success": bool()}:
                self._settle(kind, message)
            case {"type": str(kind)} if kind != "response":
                self._on_event(message)
            case _:
                raise Garbage(f"neither an answer nor an event: {_shown(line)}", _HINT)

    def _settle(self, kind: str, message: Event) -> None:
        answer = self._waiting(kind, message.get("id"))
        if answer is None or answer.done():
            self._odd(f"an answer that nobody waits for: {_shown(json.dumps(message).encode())}")
        elif message["success"]:
            answer.set_result(message.get("data"))
        else:
            answer.set_exception(Rejected(str(message.get("error", ""))))

    def _waiting(self, kind: str, number: Any) -> asyncio.Future[Any] | None:
        """Who waits for this answer; where it bears no id, as one to an unknown command of 0.73, the oldest such."""
        if number is None:
            return next((answer for asked, answer in self._pending.values() if asked == kind), None)
        return self._pending.get(number, (kind, None))[1] if isinstance(number, str) else None

    # --- How it ends -----------------------------------------------------------------------------------------------

    def _end(self, fault: Exception) -> None:
        if not self._fault.done():
            self._fault.set_result(fault)

    def _odd(self, what: str) -> None:
        if len(self.oddities) < _ODDITIES_KEPT:
            self.oddities.append(what)


def _shown(line: bytes) -> str:
    text = ascii(line[:_SHOWN].decode("utf-8", "replace"))
    return text + (f" … ({len(line)} bytes)" if len(line) > _SHOWN else "")
