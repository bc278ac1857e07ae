"""Serves any `protocol.Adapter` that is written in Python over the open protocol: the reference, or one of your own.

    from forkproof.adapters.stdio.serve import serve
    serve(MyAdapter())

The adapter's loop is the one that reads: an operation, a question to the person and a hook take the same order over the
protocol as in process. Source: design section 5.
"""

from __future__ import annotations

import asyncio
import sys
import traceback
from pathlib import Path
from typing import Any

from forkproof.adapters.errors import AdapterError, Garbage, StartFailed
from forkproof.adapters.jsonrpc import METHOD_NOT_FOUND, RpcError
from forkproof.adapters.prompt import Prompt
from forkproof.adapters.protocol import (
    Adapter,
    Decision,
    HookRun,
    HookSaid,
    ModelReply,
    ModelRequest,
    Question,
    Trial,
    World,
)
from forkproof.adapters.stdio import messages as m
from forkproof.adapters.stdio.decode import WireError, decode
from forkproof.adapters.stdio.methods import METHODS
from forkproof.adapters.stdio.peer import DirectPeer
from forkproof.adapters.stdio.streams import Streams
from forkproof.adapters.stdio.wire import encode

__all__ = ["serve"]

_FAILED = -32000
_PARSE_ERROR = -32700
_INVALID_PARAMS = -32602
_INTERNAL = -32603
_FOREVER = float("inf")


def serve(adapter: Adapter) -> None:
    """Speak on standard input and output until the input ends; then the adapter is stopped."""
    asyncio.run(_serve(adapter))


async def _serve(adapter: Adapter) -> None:
    server = _Server(adapter)
    try:
        await server.peer.ended()
    finally:
        await adapter.stop()
        await server.peer.close()


class _ForgivingPeer(DirectPeer):
    """Answers a line that is no message with an error, as a server does, and goes on."""

    def _take(self, line: bytes) -> None:
        try:
            super()._take(line)
        except Garbage as error:
            self._send({"id": None, "error": {"code": _PARSE_ERROR, "message": error.cause}})

    async def ended(self) -> None:
        """Return when the suite's end is closed, or the talk broke."""
        await asyncio.wait([self._fault])


class _Server:
    """One served adapter: its peer, and after `start` its world."""

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter
        self._world: World | None = None
        own_world = {method: self._looked(method) for method in METHODS if method in _WORLD}
        self.peer = _ForgivingPeer(Streams(), on_request=self._asked, direct=own_world)

    async def _asked(self, method: str, params: Any) -> Any:
        try:
            return await self._answer(method, params)
        except AdapterError as error:
            raise RpcError(_FAILED, error.cause, {"code": error.code, "hint": error.hint}) from error
        except RpcError:
            raise
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            raise RpcError(_INTERNAL, f"{type(error).__name__}: {error}") from error

    async def _answer(self, method: str, params: Any) -> Any:
        known = METHODS.get(method)
        if known is None or known.asked_by != "suite":
            raise RpcError(METHOD_NOT_FOUND, f"Method not found: {method}")
        message = _taken(method, params)
        if known.operation:
            return encode(await self._adapter.perform(message))
        match message:
            case m.Initialize(version):
                if version != m.PROTOCOL_VERSION:
                    raise RpcError(_FAILED, f"version {version} is not spoken here, {m.PROTOCOL_VERSION} is")
                return encode(m.Initialized(m.PROTOCOL_VERSION, self._adapter.describe().harness))
            case m.Start():
                return await self._start(message)
            case m.AskNative(use):
                return encode(self._adapter.native_call(use))
            case m.Classify(prompt):
                return encode(m.Classified(self._adapter.classify(prompt)))
            case m.CallRef(call):
                await self._here.started(call)
                return {}
            case _ if method == "describe":
                return encode(_described(self._adapter))
            case _:
                await self._adapter.stop()
                return {}

    async def _start(self, asked: m.Start) -> Any:
        trial = Trial(
            Path(asked.root),
            _Model(self.peer, self._adapter),
            asked.endpoint,
            asked.deadlines,
            asked.keeping,
            _Person(self.peer),
            asked.hooks,
            asked.cuts,
        )
        self._world = await self._adapter.start(trial)
        return {}

    # --- The world -------------------------------------------------------------------------------------------------

    @property
    def _here(self) -> World:
        if self._world is None:
            raise StartFailed("there is no world before `start`", "")
        return self._world

    def _looked(self, method: str) -> Any:
        def look(params: Any) -> Any:
            try:
                return self._look(method, _taken(method, params))
            except (AdapterError, OSError, ValueError) as error:
                raise RpcError(_FAILED, str(error)) from error

        return look

    def _look(self, method: str, message: Any) -> Any:
        world = self._here
        match message:
            case m.CreateDirectory(name, files):
                return encode(m.DirectoryRef(world.create(name, files)))
            case m.ReserveDirectory(name):
                return encode(m.DirectoryRef(world.reserve(name)))
            case m.CopyDirectory(source, target):
                world.copy(source, target)
            case m.WriteFiles(directory, files):
                world.write(directory, files)
            case m.DirectoryRef(directory) if method == "world/read":
                return encode(m.Files(world.read(directory), world.runs()))
            case m.DirectoryRef(directory):
                world.block(directory)
            case m.CallRef(call):
                world.release(call)
            case _:
                return encode(m.Counts(world.runs() if method == "world/runs" else world.processes()))
        return {}


_WORLD = frozenset(method for method in METHODS if method.startswith("world/")) - {"world/started"}


class _Model:
    """Implements `protocol.Model`: the suite plays it at the other end."""

    def __init__(self, peer: DirectPeer, adapter: Adapter) -> None:
        self._peer = peer
        self._adapter = adapter

    async def respond(self, request: ModelRequest) -> ModelReply:
        asked = m.Respond(request.prompt, request.path, self._kind(request.prompt))
        said = await self._peer.request("model/respond", encode(asked), _FOREVER)
        found: m.Reply = decode(m.Reply, said)
        return found.reply

    def _kind(self, prompt: Prompt) -> Any:
        return self._adapter.classify(prompt)

    async def released(self, stall: str) -> None:
        await self._peer.request("model/released", encode(m.StallRef(stall)), _FOREVER)


class _Person:
    """Implements `protocol.Person`."""

    def __init__(self, peer: DirectPeer) -> None:
        self._peer = peer

    async def permit(self, question: Question) -> Decision:
        said: m.Decided = decode(m.Decided, await self._peer.request("person/permit", encode(question), _FOREVER))
        return said.decision

    def run_hook(self, run: HookRun) -> HookSaid:
        said: HookSaid = decode(HookSaid, self._peer.request_now("person/hook", encode(run), _FOREVER))
        return said


def _described(adapter: Adapter) -> m.Described:
    own = adapter.describe()
    return m.Described(
        own.harness,
        own.version,
        own.capabilities,
        own.policies,
        own.unobservable,
        own.wire,
        own.binary_sha256,
        own.route,
        own.variant,
        model="http" if adapter.needs_server else "protocol",
        world="adapter",
        classify=adapter.needs_server,
        reusable=not adapter.needs_server,
        deadline=own.deadline,
    )


def _taken(method: str, params: Any) -> Any:
    try:
        return decode(METHODS[method].params, {} if params is None else params)
    except WireError as error:
        raise RpcError(_INVALID_PARAMS, f"{method}: {error}") from None
