"""pi's RPC over standard streams: one JSON object a line, answers by `id`, events and questions in between.

It is no JSON-RPC: a request is `{"id", "type", ...}`, its answer `{"type": "response", "id", "success", ...}`; all else
is an event or an extension's question. What arrives is understood, handed on, kept in `oddities`, or the error that
ends the talk. Source: docs/pi.md; pi's docs/rpc.md.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from forkproof.adapters.errors import Garbage
from forkproof.adapters.linetalk import MAX_LINE, LineTalk, Process, shown

__all__ = ["Event", "Peer", "Rejected"]

Event: TypeAlias = Mapping[str, Any]

_HINT = "standard output is the protocol's: one JSON object a line; docs/pi.md names the releases that were driven"


class Rejected(Exception):
    """pi answered a request with `"success": false`; the message is pi's own."""


class Peer(LineTalk):
    """One end of the talk. Made inside a running loop; it reads until the end of the output, garbage, or `close`.

    `on_event` gets every message that is no answer, in the order of arrival, at once.
    """

    def __init__(self, process: Process, on_event: Callable[[Event], None]) -> None:
        self._on_event = on_event
        self._pending: dict[str, tuple[str, asyncio.Future[Any]]] = {}
        self._last_id = 0
        super().__init__(process, hint=_HINT, max_line=MAX_LINE)

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
        answer: asyncio.Future[Any] = self._loop.create_future()
        self._pending[number] = (kind, answer)
        try:
            self.send({"id": number, "type": kind, **members})
            return await self.answered(answer, deadline, kind)
        finally:
            del self._pending[number]

    def send(self, message: Event) -> None:
        """Write one message. Raises what ended the talk, if it ended."""
        self._write(json.dumps(message, separators=(",", ":")).encode())

    async def ended(self) -> Exception:
        """Wait for what ends the talk, and give it."""
        return await asyncio.shield(self._fault)

    # --- What arrives ----------------------------------------------------------------------------------------------

    def _take(self, line: bytes) -> None:
        if not line.strip():
            self._odd("an empty line")
            return
        try:
            message = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise Garbage(f"not JSON ({error}): {shown(line)}", _HINT) from None
        match message:
            case {"type": "response", "command": str(kind), "success": bool()}:
                self._settle(kind, message)
            case {"type": str(kind)} if kind != "response":
                self._understood += 1
                self._on_event(message)
            case _:
                raise Garbage(f"neither an answer nor an event: {shown(line)}", _HINT)

    def _settle(self, kind: str, message: Event) -> None:
        number = message.get("id")
        answer = self._waiting(kind, number)
        if answer is None or answer.done():
            self._odd(f"an answer to {number!r}, which waits for none: {shown(json.dumps(message).encode())}")
            return
        self._understood += 1
        if message["success"]:
            answer.set_result(message.get("data"))
        else:
            answer.set_exception(Rejected(str(message.get("error", ""))))

    def _waiting(self, kind: str, number: Any) -> asyncio.Future[Any] | None:
        """Who waits for this answer; where it bears no id, as one to an unknown command of 0.73, the oldest such."""
        if number is None:
            return next((answer for asked, answer in self._pending.values() if asked == kind), None)
        return self._pending.get(number, (kind, None))[1] if isinstance(number, str) else None
