"""A model server on loopback with a harness's side of the wire, for tests."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import aiohttp

from forkproof.adapters.model.codec import Ids, codecs
from forkproof.adapters.model.server import ModelServer
from forkproof.adapters.prompt import Message, Prompt, Text
from forkproof.adapters.protocol import ModelReply, ModelRequest, NativeCall, Say, Stall, ToolUse
from tests import stream_client as client

PATIENCE = 60
"""Seconds after which a test gives up: far above what any of them needs."""


class Scripted:
    """A model that gives each request the same reply, and tells of the stalls that it is asked about."""

    def __init__(self, *parts: Say | ToolUse | Stall, status: int = 200, message: str = "") -> None:
        self.reply = ModelReply(parts, status, message)
        self.requests: list[ModelRequest] = []
        self.stalled = asyncio.Event()
        self.go_on = asyncio.Event()
        self.abandoned = asyncio.Event()

    async def respond(self, request: ModelRequest) -> ModelReply:
        """The one reply."""
        self.requests.append(request)
        return self.reply

    async def released(self, stall: str) -> None:
        """Return once `go_on` is set."""
        assert stall == "gate"
        self.stalled.set()
        try:
            await self.go_on.wait()
        except asyncio.CancelledError:
            self.abandoned.set()
            raise


class Client:
    """A harness's side of the wire."""

    def __init__(self, server: ModelServer, session: aiohttp.ClientSession) -> None:
        self.url = server.endpoint.url
        self.key = server.endpoint.key
        self._session = session

    def send(self, method: str, path: str, **options: Any) -> Any:
        """Any request, with the right key unless a header says otherwise."""
        headers = {"authorization": f"Bearer {self.key}"} | options.pop("headers", {})
        return self._session.request(method, self.url + path, headers=headers, **options)

    def ask(self, wire: str, text: str = "Hi", *, stream: bool = True) -> Any:
        """A request to the model with one user message."""
        codec = codecs()[wire]
        sent = codec.encode_prompt(Prompt((Message("user", (Text(text),)),), model="fake-model"))
        return self.send("POST", codec.path, json=sent | {"stream": stream})


def native(use: ToolUse) -> NativeCall:
    """Every tool is the shell."""
    return NativeCall("shell", {"command": use.arguments})


@contextlib.asynccontextmanager
async def serving(
    model: Any, native: Callable[[ToolUse], NativeCall] = native, **options: Any
) -> AsyncIterator[tuple[ModelServer, Client]]:
    """A server that plays this model, and a client of it."""
    async with (
        ModelServer(
            model, native, Ids("7f3a"), models=("one", "two"), clock=lambda: 1_700_000_000.9, **options
        ) as server,
        aiohttp.ClientSession() as session,
    ):
        yield server, Client(server, session)


def run(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run one story to its end, within our patience."""
    asyncio.run(asyncio.wait_for(story(), PATIENCE))


async def heard(answer: aiohttp.ClientResponse) -> list[tuple[str, str]]:
    """The events of a streamed answer."""
    return client.parse([chunk async for chunk in answer.content.iter_any()])
