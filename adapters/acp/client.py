"""The client's side of the Agent Client Protocol, version 1: its methods on a JSON-RPC peer, nothing dropped.

It offers neither a file system nor a terminal, allows each tool call once when it is asked, and answers whatever it
does not know with "method not found". Updates and fields that no schema knows are kept with all others in `transcript`:
a client that drops them can't tell what an agent states about a fork.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from forkproof.adapters.errors import AdapterError, Garbage, HarnessDied, StartFailed
from forkproof.adapters.jsonrpc import METHOD_NOT_FOUND, Peer, Process, RpcError
from forkproof.adapters.protocol import Deadlines

__all__ = ["PROTOCOL_VERSION", "Client"]

PROTOCOL_VERSION = 1
_PAGES = 100


class Client:
    """One agent's client. Made inside a running loop; `initialize` first, `close` in the end.

    `transcript` holds every message in order, each with its direction; `agent` what the agent said of itself at
    `initialize`; `allowed` the permission requests that were granted.
    """

    def __init__(self, process: Process, deadlines: Deadlines) -> None:
        self.transcript: list[tuple[Literal["in", "out"], Mapping[str, Any]]] = []
        self.agent: Mapping[str, Any] = {}
        self.allowed: list[Mapping[str, Any]] = []
        self._deadlines = deadlines
        self._peer = Peer(
            process, on_request=self._answer, wire_log=lambda way, said: self.transcript.append((way, said))
        )

    async def initialize(self) -> None:
        """Agree on the protocol.

        Raises `StartFailed` when the agent ends or refuses, `HarnessHung` when it stays silent, `Garbage`.
        """
        offer = {
            "protocolVersion": PROTOCOL_VERSION,
            "clientCapabilities": {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False},
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

    async def load(self, session: str, directory: str) -> None:
        """`session/load`: the agent makes a stored session ready for prompts."""
        await self.call("session/load", {"sessionId": session, "cwd": directory, "mcpServers": []})

    async def prompt(self, session: str, text: str) -> str:
        """`session/prompt`: the stop reason, once the turn is over.

        It has no deadline of its own: a trace may keep a turn open, and the player that waits for its end has one.
        """
        params = {"sessionId": session, "prompt": [{"type": "text", "text": text}]}
        answer = await self.call("session/prompt", params, float("inf"))
        stop = answer.get("stopReason")
        if not isinstance(stop, str):
            raise _garbage("session/prompt", "no stopReason", answer)
        return stop

    def cancel(self, session: str) -> None:
        """`session/cancel`, a notification: the open prompt is what answers it."""
        self._peer.notify("session/cancel", {"sessionId": session})

    async def directories(self) -> Mapping[str, str]:
        """The directory of every session in `session/list`, all pages; empty where the agent has no such method."""
        found: dict[str, str] = {}
        cursor: Mapping[str, Any] = {}
        for _ in range(_PAGES):
            try:
                page = await self.call("session/list", cursor)
            except RpcError as error:
                if error.code == METHOD_NOT_FOUND:
                    return found
                raise
            for entry in page.get("sessions") or ():
                match entry:
                    case {"sessionId": str(session), "cwd": str(directory)}:
                        found[session] = directory
            if not page.get("nextCursor"):
                return found
            cursor = {"cursor": page["nextCursor"]}
        raise Garbage(f"session/list goes on after {_PAGES} pages", "its nextCursor may lead back to an earlier page")

    async def close(self) -> None:
        """Stop talking; the process goes on."""
        await self._peer.close()

    async def made(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """A request that makes a session: the whole answer; its `sessionId` is a string. Raises as `call` does."""
        answer = await self.call(method, params)
        if not isinstance(answer.get("sessionId"), str):
            raise _garbage(method, "no sessionId", answer)
        return answer

    async def _answer(self, method: str, params: Any) -> Any:
        if method != "session/request_permission":
            raise RpcError(METHOD_NOT_FOUND, f"Method not found: {method}")
        options = params.get("options") if isinstance(params, Mapping) else None
        chosen = _once(options or ())
        if chosen is None:
            return {"outcome": {"outcome": "cancelled"}}
        self.allowed.append(params)
        return {"outcome": {"outcome": "selected", "optionId": chosen}}


def _once(options: Any) -> str | None:
    """The option that allows this one call; a grant that outlives the call would change what later calls show."""
    for option in options:
        match option:
            case {"kind": "allow_once", "optionId": str(name)}:
                return name
    return None


def _garbage(method: str, what: str, answer: Any) -> AdapterError:
    return Garbage(
        f"the answer to {method} holds {what}: {str(answer)[:200]}", "the agent's answer is not what ACP says"
    )


_NOT_ACP = "check the recipe's command: it must start an agent that speaks ACP version 1 on standard input and output"
