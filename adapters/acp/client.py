"""The client's side of the Agent Client Protocol, version 1: its methods on a JSON-RPC peer.

What the agent asks is answered by a `Desk`. Every message, whether a schema knows it or not, is shown to each tap, and
kept by none but those who need it: a flood of updates is no reason to run out of memory.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from forkproof.adapters.acp.desk import Desk
from forkproof.adapters.errors import AdapterError, Garbage, HarnessDied, StartFailed
from forkproof.adapters.jsonrpc import METHOD_NOT_FOUND, Peer, Process, RpcError
from forkproof.adapters.protocol import Deadlines

__all__ = ["PROTOCOL_VERSION", "Client", "Said", "Tap", "update_of"]

PROTOCOL_VERSION = 1
_PAGES = 100

Tap: TypeAlias = Callable[[Literal["in", "out"], Mapping[str, Any]], None]
"""Shown each message, with its direction as we see it, before anything is done about it."""


class Said:
    """Whether an agent's message in one session held some words, since this was made and tapped."""

    def __init__(self, session: str, pattern: str) -> None:
        self.pattern = pattern
        self.heard = asyncio.Event()
        self._session = session

    def tap(self, way: Literal["in", "out"], message: Mapping[str, Any]) -> None:
        """Look at one message."""
        match update_of(self._session, way, message):
            case {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": str(text)}}:
                if re.search(self.pattern, text):
                    self.heard.set()


class Client:
    """One agent's client. Made inside a running loop; `initialize` first, `close` in the end.

    `agent` is what the agent said of itself at `initialize`; `desk` answers what it asks; each of `taps` is shown every
    message.
    """

    def __init__(self, process: Process, deadlines: Deadlines, desk: Desk, taps: Iterable[Tap] = ()) -> None:
        self.agent: Mapping[str, Any] = {}
        self.desk = desk
        self._deadlines = deadlines
        self._taps = list(taps)
        self._peer = Peer(process, on_request=desk.answer, wire_log=self._log)

    @property
    def allowed(self) -> list[str]:
        """The session of each permission request that was granted."""
        return self.desk.allowed

    async def initialize(self) -> None:
        """Agree on the protocol.

        Raises `StartFailed` when the agent ends or refuses, `HarnessHung` when it stays silent, `Garbage`.
        """
        offer = {
            "protocolVersion": PROTOCOL_VERSION,
            "clientCapabilities": self.desk.offer,
            "clientInfo": {"name": "forkproof", "version": "1"},
        }
        try:
            agent = await self._peer.request("initialize", offer, self._deadlines.start)
        except HarnessDied as error:
            raise StartFailed(error.cause, error.hint) from error
        except RpcError as error:
            raise StartFailed(f"the agent refused `initialize`: {error}", _NOT_ACP) from error
        version = agent.get("protocolVersion") if isinstance(agent, Mapping) else agent
        if version != PROTOCOL_VERSION:
            raise StartFailed(f"the agent speaks version {version!r} of ACP, not {PROTOCOL_VERSION}", _NOT_ACP)
        self.agent = agent

    async def call(self, method: str, params: Mapping[str, Any], deadline: float | None = None) -> Mapping[str, Any]:
        """Any request. `deadline` in seconds, by default an operation's.

        Raises `RpcError` for an error answer, `Garbage` for a result that is no object, else what broke the agent.
        """
        result = await self._peer.request(method, params, self._deadlines.operation if deadline is None else deadline)
        if result is None:
            return {}
        if not isinstance(result, Mapping):
            raise _garbage(method, "no object", result)
        return result

    async def new(self, directory: str) -> Mapping[str, Any]:
        """`session/new`: the whole answer; its `sessionId` is a string."""
        return await self.made("session/new", {"cwd": directory, "mcpServers": []})

    async def fork(self, session: str, directory: str, meta: Mapping[str, Any]) -> Mapping[str, Any]:
        """`session/fork` (still a draft in ACP), with an extension's `_meta` if there is any: the whole answer."""
        params = {"sessionId": session, "cwd": directory, "mcpServers": []}
        return await self.made("session/fork", params | ({"_meta": dict(meta)} if meta else {}))

    async def load(self, session: str, directory: str) -> Mapping[str, Any]:
        """`session/load`: the agent replays a stored session and makes it ready for prompts; the whole answer."""
        return await self.call("session/load", {"sessionId": session, "cwd": directory, "mcpServers": []})

    async def reopen(self, session: str, directory: str) -> Mapping[str, Any]:
        """Make a stored session ready for prompts: `session/load`, or `session/resume` where that is no method."""
        try:
            return await self.load(session, directory)
        except RpcError as error:
            if error.code != METHOD_NOT_FOUND:
                raise
            return await self.call("session/resume", {"sessionId": session, "cwd": directory, "mcpServers": []})

    async def replay(self, session: str, directory: str) -> tuple[Mapping[str, Any], ...]:
        """The updates by which `session/load` tells the whole conversation, in order."""
        told: list[Mapping[str, Any]] = []

        def keep(way: Literal["in", "out"], message: Mapping[str, Any]) -> None:
            update = update_of(session, way, message)
            if update is not None:
                told.append(update)

        with self.tapped(keep):
            await self.load(session, directory)
        return tuple(told)

    @contextmanager
    def tapped(self, tap: Tap) -> Iterator[None]:
        """Show every message to this tap too, as long as the `with` block runs."""
        self._taps.append(tap)
        try:
            yield
        finally:
            self._taps.remove(tap)

    async def prompt(self, session: str, text: str, attachments: Mapping[str, str] = MappingProxyType({})) -> str:
        """`session/prompt`: the stop reason, once the turn is over. `attachments`: files by name, embedded.

        It has no deadline of its own: a trace may keep a turn open, and the player that waits for its end has one.
        """
        embedded = [
            {"type": "resource", "resource": {"uri": f"file:///{name}", "mimeType": "text/plain", "text": content}}
            for name, content in attachments.items()
        ]
        params = {"sessionId": session, "prompt": [{"type": "text", "text": text}, *embedded]}
        answer = await self.call("session/prompt", params, float("inf"))
        stop = answer.get("stopReason")
        if not isinstance(stop, str):
            raise _garbage("session/prompt", "no stopReason", answer)
        return stop

    def cancel(self, session: str) -> None:
        """`session/cancel`, a notification: the open prompt is what answers it."""
        self._peer.notify("session/cancel", {"sessionId": session})

    async def directories(self) -> Mapping[str, str]:
        """The directory of every session in `session/list`; empty where the agent has no such method."""
        try:
            listed = await self.listed()
        except RpcError as error:
            if error.code == METHOD_NOT_FOUND:
                return {}
            raise
        return {entry["sessionId"]: entry["cwd"] for entry in listed if isinstance(entry.get("cwd"), str)}

    async def listed(self) -> tuple[Mapping[str, Any], ...]:
        """Every entry of `session/list`, all pages; each has its `sessionId`."""
        found: list[Mapping[str, Any]] = []
        cursor: Mapping[str, Any] = {}
        for _ in range(_PAGES):
            page = await self.call("session/list", cursor)
            for entry in page.get("sessions") or ():
                match entry:
                    case {"sessionId": str()}:
                        found.append(entry)
            if not page.get("nextCursor"):
                return tuple(found)
            cursor = {"cursor": page["nextCursor"]}
        raise Garbage(f"session/list goes on after {_PAGES} pages", "its nextCursor may lead back to an earlier page")

    async def told(self, said: Said) -> None:
        """Return when the words were said. Raises `HarnessHung` when none come within an operation's deadline."""
        await self._peer.attend(said.heard.wait(), self._deadlines.operation, f"with /{said.pattern}/")

    def _log(self, way: Literal["in", "out"], message: Mapping[str, Any]) -> None:
        for tap in tuple(self._taps):
            tap(way, message)

    async def close(self) -> None:
        """Stop talking; the process goes on."""
        await self._peer.close()

    async def made(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """A request that makes a session: the whole answer; its `sessionId` is a string. Raises as `call` does."""
        answer = await self.call(method, params)
        if not isinstance(answer.get("sessionId"), str):
            raise _garbage(method, "no sessionId", answer)
        return answer


def update_of(session: str, way: Literal["in", "out"], message: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The update that a message tells of this session; None for any other message."""
    match message:
        case {"method": "session/update", "params": {"sessionId": about, "update": Mapping() as update}}:
            return update if way == "in" and about == session else None
        case _:
            return None


def _garbage(method: str, what: str, answer: Any) -> AdapterError:
    return Garbage(
        f"the answer to {method} holds {what}: {str(answer)[:200]}", "the agent's answer is not what ACP says"
    )


_NOT_ACP = "check the recipe's command: it must start an agent that speaks ACP version 1 on standard input and output"
