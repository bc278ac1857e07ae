"""The model server: one HTTP server on loopback that plays the model for a real harness.

It checks the key, decodes the request, asks the scripted `Model`, and writes the reply in the harness's wire format. It
keeps no log of requests, the model does that; it keeps only what it did not expect, the oddities. This is the only
module that imports aiohttp: import it when a real harness runs. Source: design section 4.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from forkproof.adapters.model import body, openai, sse
from forkproof.adapters.model.codec import Codec, Frame, MalformedRequestError, Rendering, codecs
from forkproof.adapters.protocol import Drop, Endpoint, Model, ModelReply, ModelRequest, NativeCall, Stall, ToolUse

__all__ = ["ModelServer", "Oddity"]

MODELS = "/v1/models"

CLEANUP_SECONDS = 1.0
"""How long closed connections may take to notice, once their handlers were cancelled."""

LOG = logging.getLogger(__name__)
LOG.addHandler(logging.NullHandler())  # aiohttp's complaints about broken clients must not reach the terminal


@dataclass(frozen=True, slots=True)
class Oddity:
    """A request that did not go as a model's client and server agree: what came, the status that it got, and why."""

    method: str
    path: str
    status: int
    why: str


class ModelServer:
    """Plays `model` over HTTP while the `async with` block runs.

    `native` maps an abstract tool to the harness's own call. `ids` makes response and message ids; give one object
    to all servers of a run. `models` is what `GET /v1/models` lists. `clock` gives seconds since the epoch. An
    exception of `model` or `native` is a fault of the suite: the harness gets a 500, and leaving the block raises
    an `ExceptionGroup` of all faults, unless another exception is already on its way.

    When a client goes away, the handler is cancelled at once, also inside `Model.respond` and `Model.released`.
    """

    def __init__(
        self,
        model: Model,
        native: Callable[[ToolUse], NativeCall],
        ids: Callable[[str], str],
        *,
        models: Sequence[str] = ("fake-model",),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._model = model
        self._native = native
        self._ids = ids
        self._models = tuple(models)
        self._key = secrets.token_hex(24)
        self._clock = clock
        self._codecs: Mapping[str, Codec] = {codec.path: codec for codec in codecs().values()}
        self._runner: web.AppRunner | None = None
        self._handlers: set[asyncio.Task[Any]] = set()
        self._oddities: list[Oddity] = []
        self._faults: list[Exception] = []
        self._endpoint: Endpoint | None = None

    @property
    def endpoint(self) -> Endpoint:
        """Where the server listens and the key that it asks for. Raises `RuntimeError` before it runs."""
        if self._endpoint is None:
            raise RuntimeError("the model server does not run yet")
        return self._endpoint

    @property
    def oddities(self) -> tuple[Oddity, ...]:
        """What was not expected, in the order of the answers."""
        return tuple(self._oddities)

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=body.LIMIT)
        app.router.add_route("*", "/{path:.*}", self._handle)
        # Unpacking is ours: aiohttp would refuse an unknown encoding before we could tell of it.
        self._runner = web.AppRunner(
            app,
            access_log=None,
            logger=LOG,
            auto_decompress=False,
            handler_cancellation=True,
            shutdown_timeout=CLEANUP_SECONDS,
        )
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        port = self._runner.addresses[0][1]
        self._endpoint = Endpoint(f"http://127.0.0.1:{port}", self._key)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()
        if error is None:
            self.settle()

    def settle(self) -> None:
        """Raise the faults of the suite since this was last called, as an `ExceptionGroup`; nothing without any."""
        faults, self._faults = self._faults, []
        if faults:
            raise ExceptionGroup("the suite failed while it played the model", faults)

    async def stop(self) -> None:
        """Close every connection now, stalled streams too. Stopping twice is harmless."""
        runner, self._runner = self._runner, None
        if runner is None:
            return
        for site in list(runner.sites):
            await site.stop()
        for handler in self._handlers:
            handler.cancel()
        await runner.cleanup()

    # --- One request ---------------------------------------------------------------------------------------------

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        task = asyncio.current_task()
        if task is not None:
            self._handlers.add(task)
            task.add_done_callback(self._handlers.discard)
        try:
            refusal = self._refusal(request)
            return await self._serve(request) if refusal is None else refusal
        except MalformedRequestError as error:
            return self._odd(request, error.status, str(error))
        except web.HTTPRequestEntityTooLarge as error:
            return self._odd(request, error.status, f"the body is larger than {body.LIMIT} bytes")
        except web.RequestPayloadError as error:
            return self._odd(request, HTTPStatus.BAD_REQUEST, f"the body could not be read: {error}")

    def _refusal(self, request: web.Request) -> web.Response | None:
        """The answer to a request that no model's server would serve, or None."""
        if not self._authorized(request):
            return self._odd(request, HTTPStatus.UNAUTHORIZED, "the key is missing or wrong")
        if request.headers.get("upgrade", "").lower() == "websocket":
            return self._odd(request, HTTPStatus.UPGRADE_REQUIRED, "websockets are not supported, use plain HTTP")
        allowed = "GET" if request.path == MODELS else "POST" if request.path in self._codecs else None
        if allowed is None:
            return self._odd(request, HTTPStatus.NOT_FOUND, "no such path")
        if request.method != allowed:
            return self._odd(request, HTTPStatus.METHOD_NOT_ALLOWED, f"this path takes {allowed}")
        return None

    def _authorized(self, request: web.Request) -> bool:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        given = token.strip() if scheme.lower() == "bearer" else request.headers.get("x-api-key", "")
        return secrets.compare_digest(given.encode("utf-8", "surrogateescape"), self._key.encode())

    def _odd(self, request: web.Request, status: int, why: str) -> web.Response:
        self._oddities.append(Oddity(request.method, request.path, int(status), why))
        codec = self._codecs.get(request.path)
        return _json((codec.failure if codec else openai.failure)(int(status), why), int(status))

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        if request.path == MODELS:
            return self._listing()
        codec = self._codecs[request.path]
        sent = body.read(await request.read(), request.headers.get("content-encoding", "").strip().lower())
        prompt = codec.decode(sent, {name.lower(): value for name, value in request.headers.items()})
        stream = web.StreamResponse(headers={"content-type": "text/event-stream", "cache-control": "no-cache"})
        try:
            reply = await self._model.respond(ModelRequest(prompt, request.path, sent))
            if reply.status != HTTPStatus.OK:
                return _json(codec.failure(reply.status, reply.message), reply.status)
            rendering = Rendering(self._native, self._ids, int(self._clock()), prompt.model, _wants_usage(sent))
            if sent.get("stream") is True:
                return await self._send(request, stream, list(codec.stream(reply, rendering)))
            return await self._send_whole(request, reply, codec.whole(reply, rendering))
        except ConnectionResetError:  # the client went away while we wrote
            return stream
        except Exception as fault:  # noqa: BLE001  # whatever it is, the player must hear of it, not aiohttp's log
            self._faults.append(fault)
            refusal = self._odd(request, HTTPStatus.INTERNAL_SERVER_ERROR, f"the suite failed: {fault!r}")
            stream.force_close()
            return stream if stream.prepared else refusal

    async def _send(
        self, request: web.Request, stream: web.StreamResponse, frames: Sequence[Frame]
    ) -> web.StreamResponse:
        await stream.prepare(request)
        for frame in frames:
            match frame:
                case Stall(name):
                    await self._model.released(name)
                case Drop():
                    _break(request)
                    return stream
                case _:
                    await stream.write(frame)
        await stream.write_eof()
        return stream

    async def _send_whole(self, request: web.Request, reply: ModelReply, value: Mapping[str, Any]) -> web.Response:
        for part in reply.parts:
            if isinstance(part, Stall):
                await self._model.released(part.name)
            elif isinstance(part, Drop):
                _break(request)
        return _json(value)

    def _listing(self) -> web.Response:
        created = int(self._clock())
        rows = [{"id": m, "object": "model", "created": created, "owned_by": "forkproof"} for m in self._models]
        return _json({"object": "list", "data": rows})


def _break(request: web.Request) -> None:
    """Close the connection under an answer that is not complete; what was written reaches the client."""
    if request.transport is not None:
        request.transport.close()


def _wants_usage(sent: Mapping[str, Any]) -> bool:
    options = sent.get("stream_options")
    return isinstance(options, Mapping) and options.get("include_usage") is True


def _json(value: Any, status: int = 200) -> web.Response:
    return web.Response(body=sse.json_bytes(value), status=status, content_type="application/json")
