"""The talk between suite and adapter: a JSON-RPC peer that can also ask without giving its loop back.

Some of the seam's calls are synchronous: the suite looks at files between two steps, and a hook must have run before
the harness goes on. Such a call sends its request and reads on the spot; what arrives meanwhile is kept for later in
its order, but for requests that the other side makes in the same way, which are answered at once: so neither can wait
for the other for ever. A cancelled request is told by the notification `$/cancelRequest`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Protocol, TypeAlias

from forkproof.adapters.errors import AdapterError, HarnessDied, HarnessHung
from forkproof.adapters.jsonrpc import Peer, Process, RpcError, WireLog
from forkproof.adapters.stdio.methods import CANCEL

__all__ = ["CANCELLED", "DirectPeer", "DirectProcess"]

OnDirect: TypeAlias = Callable[[Any], Any]

CANCELLED: Final = -32800
"""The error code of an answer to a request that was cancelled (as in the Language Server Protocol)."""


class DirectProcess(Process, Protocol):
    """A process that can also be read without giving the loop back."""

    def read_now(self, seconds: float) -> bytes:
        """Some bytes; empty at the end. Raises `TimeoutError`."""
        ...

    def kill(self) -> None:
        """End it at once."""
        ...


class DirectPeer(Peer):
    """One end of the talk. `direct` are the methods that are answered at the moment in which they arrive."""

    def __init__(
        self,
        process: DirectProcess,
        *,
        on_request: Callable[[str, Any], Awaitable[Any]],
        direct: Mapping[str, OnDirect],
        wire_log: WireLog = lambda _direction, _message: None,
    ) -> None:
        """`direct` maps a method to what answers it, from its params; it may raise `RpcError`."""
        self._pipe = process
        self._direct = direct
        self._asked = on_request
        self._answering: dict[Any, asyncio.Task[Any]] = {}
        self._called_off: set[Any] = set()
        super().__init__(process, on_request=on_request, on_notification=self._told, wire_log=wire_log)

    # --- Asking ----------------------------------------------------------------------------------------------------

    async def request(self, method: str, params: Any, deadline: float) -> Any:
        """As `Peer.request`; a cancellation is told to the other side."""
        number = self._last_id + 1
        try:
            return await super().request(method, params, deadline)
        except asyncio.CancelledError:
            with contextlib.suppress(AdapterError):
                self.notify(CANCEL, {"id": number})
            raise

    def request_now(self, method: str, params: Any, deadline: float) -> Any:
        """Ask, and wait for the result without giving the loop back.

        Raises `RpcError`, `HarnessDied`, `HarnessHung` (the process was ended then) and `Garbage`.
        """
        self._last_id += 1
        number = self._last_id
        self._send({"id": number, "method": method, "params": params})
        try:
            message = self._await_now(number, method, time.monotonic() + deadline, deadline)
        finally:
            if self._lines:
                self._loop.call_soon(self._take_kept)
        self._log("in", message)
        error = message.get("error")
        if error is None:
            return message.get("result")
        told = error if isinstance(error, Mapping) else {"message": str(error)}
        raise RpcError(int(told.get("code") or 0), str(told.get("message", "")), told.get("data"))

    def _await_now(self, number: int, method: str, until: float, seconds: float) -> Mapping[str, Any]:
        looked_at = 0
        while True:
            while looked_at < len(self._lines):
                message = _read(self._lines[looked_at])
                if message.get("id") == number and "method" not in message:
                    del self._lines[looked_at]
                    return message
                if message.get("method") in self._direct:
                    del self._lines[looked_at]
                    self._answer_now(message)
                    continue
                looked_at += 1
            try:
                chunk = self._pipe.read_now(max(0.0, until - time.monotonic()))
            except TimeoutError:
                self._pipe.kill()
                fault = HarnessHung(f"no answer to {method} within {seconds:g} s", _HINT)
                self._end(fault)
                raise fault from None
            if not chunk:
                raise HarnessDied(f"the adapter's output ended before it answered {method}", _HINT)
            self._keep(chunk)

    def fail(self, error: Exception) -> None:
        """End the talk with this error: whoever waits for an answer gets it."""
        self._end(error)

    # --- What arrives ----------------------------------------------------------------------------------------------

    def _took(self, message: Mapping[str, Any], line: bytes) -> None:
        if message.get("method") in self._direct and message.get("id") is not None:
            self._answer_now(message)
        else:
            super()._took(message, line)

    def _answer_now(self, message: Mapping[str, Any]) -> None:
        self._log("in", message)
        self._understood += 1
        answer: dict[str, Any]
        try:
            answer = {"result": self._direct[message["method"]](message.get("params"))}
        except RpcError as error:
            answer = {"error": {"code": error.code, "message": error.message, "data": error.data}}
        self._send({"id": message.get("id"), **answer})

    async def _give_answer(self, number: int | str, method: str, params: Any) -> None:
        if number in self._called_off:
            self._called_off.discard(number)
            return
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  # a coroutine runs in a task
        self._answering[number] = task
        try:
            await super()._give_answer(number, method, params)
        except asyncio.CancelledError:
            with contextlib.suppress(AdapterError):
                self._send({"id": number, "error": {"code": CANCELLED, "message": "cancelled"}})
            raise
        finally:
            del self._answering[number]

    def _told(self, method: str, params: Any) -> None:
        if method != CANCEL or not isinstance(params, Mapping):
            return
        number = params.get("id")
        task = self._answering.get(number)
        if task is not None:
            task.cancel()
        elif isinstance(number, int | str):
            # It may have arrived in the same breath as the request, whose task has not begun yet.
            self._called_off.add(number)


def _read(line: bytes) -> Mapping[str, Any]:
    """The message of a line; an empty one for what is none, which is told when it is taken in its turn."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


_HINT: Final = "FORKPROOF_WIRE_LOG=FILE keeps every message; docs/adapters.md says what is expected"
