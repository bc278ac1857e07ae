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
from datetime import UTC, datetime
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from forkproof.adapters.model import body, openai, sse
from forkproof.adapters.model.chaos import Chaos, Pause, Piece
from forkproof.adapters.model.codec import Codec, MalformedRequestError, Rendering, codecs
from forkproof.adapters.model.paths import Route, routes
from forkproof.adapters.protocol import Drop, Endpoint, Model, ModelReply, ModelRequest, NativeCall, Stall, ToolUse

__all__ = ["ModelServer", "Oddity"]

STREAM = {"content-type": "text/event-stream", "cache-control": "no-cache"}

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
    to all servers of a run. `models` is what `GET /v1/models` lists. `clock` gives seconds since the epoch. `chaos`
    disturbs the answers; `converse` gives the id of a new, empty conversation, without it there are none. An exception
    of `model` or `native` is a fault of the suite: the harness gets a 500, and leaving the block raises an
    `ExceptionGroup` of all faults, unless another exception is already on its way.

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
        chaos: Chaos | None = None,
        converse: Callable[[], str] | None = None,
    ) -> None:
        self._model = model
        self._native = native
        self._ids = ids
        self._models = tuple(models)
        self._key = secrets.token_hex(24)
        self._clock = clock
        self._chaos = chaos
        self._converse = converse
        self._answers = 0
        self._routes = routes(codecs().values())
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
            return await self._serve(request, self._routes[request.path]) if refusal is None else refusal
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
        route = self._routes.get(request.path)
        if route is None or (route.kind == "conversation" and self._converse is None):
            return self._odd(request, HTTPStatus.NOT_FOUND, "no such path")
        if request.method != route.method:
            return self._odd(request, HTTPStatus.METHOD_NOT_ALLOWED, f"this path takes {route.method}")
        return None

    def _authorized(self, request: web.Request) -> bool:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        given = token.strip() if scheme.lower() == "bearer" else request.headers.get("x-api-key", "")
        return secrets.compare_digest(given.encode("utf-8", "surrogateescape"), self._key.encode())

    def _odd(self, request: web.Request, status: int, why: str) -> web.Response:
        self._oddities.append(Oddity(request.method, request.path, int(status), why))
        route = self._routes.get(request.path)
        codec = route.codec if route is not None else None
        return _json((codec.failure if codec else openai.failure)(int(status), why), int(status))

    async def _serve(self, request: web.Request, route: Route) -> web.StreamResponse:
        if route.codec is None:
            return self._listing(request) if route.kind == "models" else self._conversation()
        sent = body.read(await request.read(), request.headers.get("content-encoding", "").strip().lower())
        prompt = route.codec.decode(sent, {name.lower(): value for name, value in request.headers.items()})
        if route.kind == "count":
            return _json({"input_tokens": openai.USAGE[0]})
        self._answers += 1
        unlucky = self._chaos.error(self._answers) if self._chaos is not None else None
        if unlucky is not None:
            return _json(route.codec.failure(unlucky, "try again"), unlucky)
        return await self._answer(request, route.codec, ModelRequest(prompt, request.path, sent))

    async def _answer(self, request: web.Request, codec: Codec, asked: ModelRequest) -> web.StreamResponse:
        """The model's answer, streamed where the client asked for that."""
        sent, streamed = asked.raw, asked.raw.get("stream") is True
        stream = web.StreamResponse(headers=STREAM if streamed else {"content-type": "application/json"})
        try:
            reply = await self._model.respond(asked)
            if reply.status != HTTPStatus.OK:
                return _json(codec.failure(reply.status, reply.message, reply.code), reply.status)
            rendering = Rendering(self._native, self._ids, int(self._clock()), asked.prompt.model, _wants_usage(sent))
            pieces = self._pieces(codec, reply, rendering, streamed=streamed)
            if not streamed:
                stream.content_length = sum(len(piece) for piece in pieces if isinstance(piece, bytes))
            await self._send(request, stream, pieces)
        except ConnectionResetError:  # the client went away while we wrote
            return stream
        except Exception as fault:  # noqa: BLE001  # whatever it is, the player must hear of it, not aiohttp's log
            self._faults.append(fault)
            refusal = self._odd(request, HTTPStatus.INTERNAL_SERVER_ERROR, f"the suite failed: {fault!r}")
            stream.force_close()
            return stream if stream.prepared else refusal
        return stream

    def _pieces(self, codec: Codec, reply: ModelReply, rendering: Rendering, *, streamed: bool) -> list[Piece]:
        """What is sent, held and broken off, in order; a whole answer can only be held before all of it."""
        key = repr(reply.parts)
        if streamed:
            frames = list(codec.stream(reply, rendering))
            return list(frames if self._chaos is None else self._chaos.disturb(frames, key))
        whole = sse.json_bytes(codec.whole(reply, rendering))
        held: list[Piece] = [part for part in reply.parts if isinstance(part, Stall | Drop)]
        return [*held, *([whole] if self._chaos is None else self._chaos.split(whole, key))]

    async def _send(self, request: web.Request, stream: web.StreamResponse, pieces: Sequence[Piece]) -> None:
        for piece in pieces:
            match piece:
                case Stall(name):
                    await self._model.released(name)
                case Drop():
                    _break(request)
                    return
                case Pause(seconds):
                    await asyncio.sleep(seconds)
                case _:
                    if not stream.prepared:
                        await stream.prepare(request)
                    await stream.write(piece)
        await stream.write_eof()

    def _conversation(self) -> web.Response:
        id_ = self._converse() if self._converse is not None else ""
        return _json({"id": id_, "object": "conversation", "created_at": int(self._clock()), "metadata": {}})

    def _listing(self, request: web.Request) -> web.Response:
        """The models, in the form of the provider whose client asks."""
        created = int(self._clock())
        if "anthropic-version" not in request.headers:
            rows = [{"id": m, "object": "model", "created": created, "owned_by": "forkproof"} for m in self._models]
            return _json({"object": "list", "data": rows})
        at = datetime.fromtimestamp(created, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        models = [{"type": "model", "id": m, "display_name": m, "created_at": at} for m in self._models]
        return _json({"data": models, "has_more": False, "first_id": self._models[0], "last_id": self._models[-1]})


def _break(request: web.Request) -> None:
    """Close the connection under an answer that is not complete; what was written reaches the client."""
    if request.transport is not None:
        request.transport.close()


def _wants_usage(sent: Mapping[str, Any]) -> bool:
    options = sent.get("stream_options")
    return isinstance(options, Mapping) and options.get("include_usage") is True


def _json(value: Any, status: int = 200) -> web.Response:
    return web.Response(body=sse.json_bytes(value), status=status, content_type="application/json")
