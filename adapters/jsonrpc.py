"""A JSON-RPC 2.0 peer over a harness's standard streams: one JSON object a line, lossless, both sides may ask.

Whatever arrives is either understood, kept in `oddities`, or the error that ends the talk; nothing is dropped. Sources:
jsonrpc.org/specification; design section 5; Codex leaves the `jsonrpc` member out, ACP demands it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, TypeAlias

from forkproof.adapters.errors import AdapterError, Garbage
from forkproof.adapters.linetalk import MAX_LINE, LineTalk, Process, shown

__all__ = ["MAX_LINE", "METHOD_NOT_FOUND", "Peer", "Process", "RpcError"]

Message: TypeAlias = Mapping[str, Any]
OnRequest: TypeAlias = Callable[[str, Any], Awaitable[Any]]
OnNotification: TypeAlias = Callable[[str, Any], None]
WireLog: TypeAlias = Callable[[Literal["in", "out"], Message], None]

METHOD_NOT_FOUND = -32601
_written = json.JSONEncoder(separators=(",", ":")).encode
_GARBAGE_HINT = "standard output is the protocol's: one JSON object a line; log messages belong to standard error"


class RpcError(Exception):
    """The other side answered a request with an error; raised by a handler of ours it is sent as the answer."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        self.code = code
        self.message = message
        self.data = data
        super().__init__(f"{message} ({code})")


async def _refuse(method: str, _params: Any) -> Any:
    raise RpcError(METHOD_NOT_FOUND, f"Method not found: {method}")


def _ignore(_method: str, _params: Any) -> None:
    return None


class Peer(LineTalk):
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
        self._member: Message = {"jsonrpc": "2.0"} if jsonrpc_member else {}
        self._on_request = on_request
        self._on_notification = on_notification
        self._log = wire_log
        self._pending: dict[int, asyncio.Future[Any]] = {}
        self._last_id = 0
        super().__init__(process, hint=_GARBAGE_HINT, max_line=max_line)

    # --- What we ask -----------------------------------------------------------------------------------------------

    async def request(self, method: str, params: Any, deadline: float) -> Any:
        """Ask, and give the result. `deadline` in seconds.

        Raises `RpcError` for an error answer, `HarnessDied` and `Garbage` when no answer can come any more, and
        `HarnessHung` when the time is over; the process has been ended then.
        """
        self._last_id += 1
        number = self._last_id
        answer: asyncio.Future[Any] = self._loop.create_future()
        self._pending[number] = answer
        try:
            self._send({"id": number, "method": method, "params": params})
            return await self.answered(answer, deadline, method)
        finally:
            del self._pending[number]

    def notify(self, method: str, params: Any = None) -> None:
        """Tell, and expect no answer; `params` of None are left out. Raises what ended the talk, if it ended."""
        self._send({"method": method} | ({} if params is None else {"params": params}))

    def _send(self, message: Message) -> None:
        if self._fault.done():
            raise self._fault.result()
        whole = {**self._member, **message}
        self._log("out", whole)
        self._write(_written(whole).encode())

    # --- What arrives ----------------------------------------------------------------------------------------------

    def _take(self, line: bytes) -> None:
        if not line.strip():
            self._odd("an empty line")
            return
        self._took(_parsed(line), line)

    def _took(self, message: Message, line: bytes) -> None:
        self._log("in", message)
        match message:
            case {"method": str(method), "id": int() | str() as number}:
                self._understood += 1
                self._handlers.add(self._loop.create_task(self._answer(number, method, message.get("params"))))
            case {"method": str(method)} if message.get("id") is None:
                self._understood += 1
                self._on_notification(method, message.get("params"))
            case {"id": number} if "method" not in message and ("result" in message or "error" in message):
                self._settle(number, message)
            case _:
                raise Garbage(f"neither a request nor an answer: {shown(line)}", _GARBAGE_HINT)

    def _settle(self, number: Any, message: Message) -> None:
        answer = self._pending.get(number) if type(number) is int else None
        if answer is None or answer.done():
            self._odd(f"an answer to {number!r}, which waits for none: {shown(json.dumps(message).encode())}")
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
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  # a coroutine runs in a task
        try:
            await self._give_answer(number, method, params)
        finally:
            # Not by a callback of the task, which would cost a pass of the loop for every request.
            self._handlers.discard(task)

    async def _give_answer(self, number: int | str, method: str, params: Any) -> None:
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


def _parsed(line: bytes) -> Message:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Garbage(f"not JSON ({error}): {shown(line)}", _GARBAGE_HINT) from None
    if not isinstance(message, dict):
        raise Garbage(f"JSON, but not an object: {shown(line)}", _GARBAGE_HINT)
    return message
