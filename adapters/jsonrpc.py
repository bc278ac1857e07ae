"""A JSON-RPC 2.0 peer over a harness's standard streams: one JSON object a line, lossless, both sides may ask.

Whatever arrives is either understood, kept in `oddities`, or the error that ends the talk; nothing is dropped. Sources:
jsonrpc.org/specification; design section 5; Codex leaves the `jsonrpc` member out, ACP demands it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from forkproof.adapters.errors import AdapterError, Garbage, HarnessDied, HarnessHung

__all__ = ["MAX_LINE", "METHOD_NOT_FOUND", "Peer", "Process", "RpcError"]

T = TypeVar("T")
Message: TypeAlias = Mapping[str, Any]
OnRequest: TypeAlias = Callable[[str, Any], Awaitable[Any]]
OnNotification: TypeAlias = Callable[[str, Any], None]
WireLog: TypeAlias = Callable[[Literal["in", "out"], Message], None]

MAX_LINE = 16 * 1024 * 1024
"""Bytes of one line at most: what a line needs while it is decoded, several times its length, must stay affordable."""

METHOD_NOT_FOUND = -32601
_SHOWN = 200
_ODDITIES_KEPT = 100


class RpcError(Exception):
    """The other side answered a request with an error; raised by a handler of ours it is sent as the answer."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        self.code = code
        self.message = message
        self.data = data
        super().__init__(f"{message} ({code})")


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


async def _refuse(method: str, _params: Any) -> Any:
    raise RpcError(METHOD_NOT_FOUND, f"Method not found: {method}")


def _ignore(_method: str, _params: Any) -> None:
    return None


class Peer:
    """One end of the talk. Made inside a running loop; it reads until the end of the output, garbage, or `close`."""

    def __init__(  # options that have nothing to do with each other, by keyword only
        self,
        process: Process,
        *,
        jsonrpc_member: bool = True,
        on_request: OnRequest = _refuse,
        on_notification: OnNotification = _ignore,
        wire_log: WireLog = lambda _direction, _message: None,
        max_line: int = MAX_LINE,
    ) -> None:
        """`on_request(method, params)` answers their request or raises `RpcError`; each runs in its own task.

        `on_notification` is called in the order of arrival, at once: a notification that follows an answer may be seen
        before the `request` that got the answer goes on. `wire_log` sees each message, either way. `jsonrpc_member`
        says whether ours carry `"jsonrpc": "2.0"`; in theirs it is not asked for.
        """
        self._process = process
        self._member: Message = {"jsonrpc": "2.0"} if jsonrpc_member else {}
        self._on_request = on_request
        self._on_notification = on_notification
        self._log = wire_log
        self._max_line = max_line
        self._pending: dict[int, asyncio.Future[Any]] = {}
        self._last_id = 0
        self._understood = 0
        self._phase = "the start"
        self._handlers: set[asyncio.Task[None]] = set()
        self.oddities: list[str] = []
        """What arrived and belongs to nothing, e.g. an answer to a question never asked; the first hundred of them."""
        self._fault: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()
        self._reader = asyncio.create_task(self._read())

    # --- What we ask -----------------------------------------------------------------------------------------------

    async def request(self, method: str, params: Any, deadline: float) -> Any:
        """Ask, and give the result. `deadline` in seconds.

        Raises `RpcError` for an error answer, `HarnessDied` and `Garbage` when no answer can come any more, and
        `HarnessHung` when the time is over; the process has been ended then.
        """
        self._last_id += 1
        number = self._last_id
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._pending[number] = answer
        try:
            self._send({"id": number, "method": method, "params": params})
            return await self.attend(answer, deadline, method)
        finally:
            del self._pending[number]

    def notify(self, method: str, params: Any = None) -> None:
        """Tell, and expect no answer; `params` of None are left out. Raises what ended the talk, if it ended."""
        self._send({"method": method} | ({} if params is None else {"params": params}))

    async def attend(self, awaited: Awaitable[T], seconds: float, phase: str) -> T:
        """Wait for something that this harness must bring about, for so many seconds; `phase` names it in the error.

        Raises as `request` does, and whatever `awaited` raises.
        """
        self._phase = phase
        future = asyncio.ensure_future(awaited)
        understood = self._understood
        try:
            await asyncio.wait((future, self._fault), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if future.done():
                return future.result()
            if not self._fault.done():
                self._reader.cancel()  # or it would report the death that `hang` brings about
                error = await self._process.hang(phase, seconds)
                self._end(self._only_oddities(error) if understood == self._understood else error)
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

    def _send(self, message: Message) -> None:
        if self._fault.done():
            raise self._fault.result()
        whole = {**self._member, **message}
        self._log("out", whole)
        try:
            self._process.send(json.dumps(whole, separators=(",", ":")).encode() + b"\n")
        except HarnessHung as error:
            self._end(error)
            raise

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
            if size > self._max_line:
                begin = next(part for part in parts if part)[:_SHOWN]
                raise Garbage(f"a line of more than {self._max_line} bytes that begins {_shown(begin)}", _GARBAGE_HINT)
        return b"".join(parts)

    def _take(self, line: bytes) -> None:
        if not line.strip():
            self._odd("an empty line")
            return
        message = _parsed(line)
        self._log("in", message)
        match message:
            case {"method": str(method), "id": int() | str() as number}:
                self._understood += 1
                task = asyncio.create_task(self._answer(number, method, message.get("params")))
                self._handlers.add(task)
                task.add_done_callback(self._handlers.discard)
            case {"method": str(method)} if message.get("id") is None:
                self._understood += 1
                self._on_notification(method, message.get("params"))
            case {"id": number} if "method" not in message and ("result" in message or "error" in message):
                self._settle(number, message)
            case _:
                raise Garbage(f"neither a request nor an answer: {_shown(line)}", _GARBAGE_HINT)

    def _settle(self, number: Any, message: Message) -> None:
        answer = self._pending.get(number) if type(number) is int else None
        if answer is None or answer.done():
            self._odd(f"an answer to {number!r}, which waits for none: {_shown(json.dumps(message).encode())}")
            return
        self._understood += 1
        error = message.get("error")
        if error is None:
            answer.set_result(message.get("result"))
        elif isinstance(error, Mapping):
            answer.set_exception(RpcError(error.get("code", 0), str(error.get("message", "")), error.get("data")))
        else:
            answer.set_exception(RpcError(0, str(error)))

    async def _answer(self, number: int | str, method: str, params: Any) -> None:
        try:
            answer: Message = {"result": await self._on_request(method, params)}
        except RpcError as error:
            data = {} if error.data is None else {"data": error.data}
            answer = {"error": {"code": error.code, "message": error.message, **data}}
        except Exception as error:  # noqa: BLE001  # a fault of ours: whoever waits gets it as it is
            self._end(error)
            return
        with contextlib.suppress(AdapterError):  # the talk ended meanwhile, or ends by this: see `_send`
            self._send({"id": number, **answer})

    # --- How it ends -----------------------------------------------------------------------------------------------

    def _end(self, fault: Exception) -> None:
        if not self._fault.done():
            self._fault.set_result(fault)

    def _odd(self, what: str) -> None:
        if len(self.oddities) < _ODDITIES_KEPT:
            self.oddities.append(what)

    def _only_oddities(self, error: HarnessHung) -> HarnessHung | Garbage:
        """A harness that sent nothing but what belongs to nothing did not hang: it talks past us."""
        if not self.oddities:
            return error
        return Garbage(f"{error.cause}\nand all that it sent was {'; '.join(self.oddities[-3:])}", _GARBAGE_HINT)


_GARBAGE_HINT = "standard output is the protocol's: one JSON object a line; log messages belong to standard error"


def _parsed(line: bytes) -> Message:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Garbage(f"not JSON ({error}): {_shown(line)}", _GARBAGE_HINT) from None
    if not isinstance(message, dict):
        raise Garbage(f"JSON, but not an object: {_shown(line)}", _GARBAGE_HINT)
    return message


def _shown(line: bytes) -> str:
    text = ascii(line[:_SHOWN].decode("utf-8", "replace"))
    return text + (f" … ({len(line)} bytes)" if len(line) > _SHOWN else "")
