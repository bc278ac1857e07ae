"""What the model server notices: requests that no model would serve, and faults of our own (design section 4)."""

import asyncio
import gzip
import io
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from forkproof.adapters.model.codec import Ids
from forkproof.adapters.model.server import ModelServer, Oddity
from forkproof.adapters.protocol import NativeCall, Say, Stall, ToolUse
from tests.loopback import Scripted, native, run, serving

USE = ToolUse("call_1", "look", "run", "ls", "", "")
WRONG = {"authorization": "Bearer nope"}
BASIC = {"authorization": "Basic ü"}
ZSTD = {"content-encoding": "zstd"}
UPGRADE = {"connection": "Upgrade", "upgrade": "websocket", "sec-websocket-version": "13"}


def odd(method: str, path: str, status: int, why: str, **options: Any) -> Any:
    """One request, how it is answered, and what is noted."""
    return pytest.param(method, path, status, why, options, id=f"{method}-{path}-{status}-{why[:16]}")


@pytest.mark.parametrize(
    ("method", "path", "status", "why", "options"),
    [
        odd("POST", "/v1/responses", 401, "the key is missing or wrong", json={}, headers=WRONG),
        odd("GET", "/v1/models", 401, "the key is missing or wrong", headers=BASIC),
        odd("POST", "/v1/embeddings", 404, "no such path", json={}),
        odd("GET", "/", 404, "no such path"),
        odd("GET", "/v1/responses", 405, "this path takes POST"),
        odd("POST", "/v1/models", 405, "this path takes GET", json={}),
        odd("GET", "/v1/responses", 426, "websockets are not supported", headers=UPGRADE),
        odd("POST", "/v1/responses", 400, "the body is not JSON", data=b"garbage"),
        odd("POST", "/v1/chat/completions", 400, "the body is not UTF-8", data=b"\xff\xfe"),
        odd("POST", "/v1/chat/completions", 400, "the body is JSON, but not an object", data=b"[]"),
        odd("POST", "/v1/chat/completions", 400, "messages: expected an array", json={"model": "m"}),
        odd("POST", "/v1/responses", 400, "input[0].role: 'clown'", json={"input": [{"role": "clown"}]}),
        odd("POST", "/v1/responses", 415, "content-encoding 'zstd'", data=b"(\xb5/\xfd", headers=ZSTD),
    ],
)
def test_what_no_model_would_serve_is_refused_and_kept(
    method: str, path: str, status: int, why: str, options: dict[str, Any]
) -> None:
    """A wrong key, an unknown path, a websocket, a broken body: the right status, a clear error, and one oddity."""

    async def story() -> None:
        model = Scripted(Say("never"))
        async with serving(model) as (server, harness):
            async with harness.send(method, path, **options) as answer:
                assert answer.status == status
                assert why in (await answer.json())["error"]["message"]
            (oddity,) = server.oddities
            assert (oddity.method, oddity.path, oddity.status) == (method, path, status)
            assert why in oddity.why
            assert model.requests == []

    run(story)


def test_a_body_larger_than_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A body past the limit gets 413; one of some megabytes, a long conversation, is fine."""
    monkeypatch.setattr("forkproof.adapters.model.body.LIMIT", 4 * 2**20)

    async def story() -> None:
        async with serving(Scripted(Say("x"))) as (server, harness):
            for size, status in ((3 * 2**20, 200), (5 * 2**20, 413)):
                sent = json.dumps({"model": "m", "input": "y" * size}).encode()
                async with harness.send("POST", "/v1/responses", data=io.BytesIO(sent)) as answer:
                    assert answer.status == status
                    await answer.read()
            assert [oddity.status for oddity in server.oddities] == [413]

    run(story)


@pytest.mark.parametrize("header", ["x-api-key", "Authorization"])
def test_the_key_may_come_in_either_header(header: str) -> None:
    """Clients of other providers send the key as x-api-key; the scheme's case doesn't matter."""

    async def story() -> None:
        async with serving(Scripted()) as (server, harness), aiohttp.ClientSession() as session:
            value = harness.key if header == "x-api-key" else f"bearer {harness.key}"
            async with session.get(harness.url + "/v1/models", headers={header: value}) as answer:
                assert answer.status == 200
            async with session.get(harness.url + "/v1/models") as answer:
                assert answer.status == 401
            assert server.oddities == (Oddity("GET", "/v1/models", 401, "the key is missing or wrong"),)

    run(story)


def test_a_key_of_strange_bytes_is_refused_like_any_other() -> None:
    """Bytes in the header that are no UTF-8 give 401, never a fault of ours."""

    async def story() -> None:
        async with serving(Scripted()) as (server, harness):
            port = int(harness.url.rpartition(":")[2])
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /v1/models HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \xff\xfe\r\n\r\n")
            assert b" 401 " in await reader.readline()
            writer.close()
            await writer.wait_closed()
            assert [oddity.status for oddity in server.oddities] == [401]

    run(story)


def test_a_packed_body_in_small_pieces_is_read() -> None:
    """Gzip and chunked transfer are unpacked, wherever the chunks break a character."""

    async def story() -> None:
        model = Scripted(Say("x"))
        sent = {"model": "m", "input": "ünï \u2028 😀"}
        raw = json.dumps(sent, ensure_ascii=False).encode()

        async def single(data: bytes) -> AsyncIterator[bytes]:
            for byte in data:
                yield bytes([byte])

        async with serving(model) as (_, harness):
            for data, encoding in ((raw, "identity"), (gzip.compress(raw), "gzip")):
                headers = {"content-encoding": encoding}
                async with harness.send("POST", "/v1/responses", data=single(data), headers=headers) as answer:
                    assert answer.status == 200
        assert [request.raw for request in model.requests] == [sent, sent]

    run(story)


# --- Faults of our own -----------------------------------------------------------------------------------------------


class Unmapped(Exception):  # stands for any exception of an adapter
    """No native tool for this use."""


def unmapped(use: ToolUse) -> NativeCall:
    """An adapter that knows no tool."""
    raise Unmapped(use.name)


def test_a_fault_of_the_suite_is_raised_where_the_server_was_started() -> None:
    """The harness gets a 500, and the block that runs the server ends in the fault: nobody blames the harness."""

    async def story() -> None:
        async with serving(Scripted(USE), unmapped) as (server, harness):
            async with harness.ask("chat") as answer:
                assert answer.status == 500
            (oddity,) = server.oddities
            assert "the suite failed: Unmapped('look')" in oddity.why

    with pytest.raises(ExceptionGroup) as raised:
        run(story)
    assert raised.group_contains(Unmapped, match="look")


def test_a_fault_in_the_middle_of_a_stream_breaks_it() -> None:
    """What was begun is not finished as if all were well, and the fault still comes out."""

    async def story() -> None:
        class Broken(Scripted):
            async def released(self, stall: str) -> None:
                raise Unmapped(stall)

        model = Broken(Say("x"), Stall("gate"), Say("y"))
        async with serving(model) as (_, harness), harness.ask("responses") as answer:
            assert b"response.completed" not in await answer.read()

    with pytest.raises(ExceptionGroup) as raised:
        run(story)
    assert raised.group_contains(Unmapped, match="gate")


def test_a_fault_does_not_hide_the_error_that_ended_the_run() -> None:
    """An exception that is on its way already is the one that the caller sees."""

    async def story() -> None:
        async with serving(Scripted(USE), unmapped) as (_, harness), harness.ask("chat") as answer:
            assert answer.status == 500
            raise KeyError

    with pytest.raises(KeyError):
        run(story)


def test_there_is_no_endpoint_before_the_start() -> None:
    """The port is the system's choice: nobody can know the address before the server listens."""
    with pytest.raises(RuntimeError, match="does not run"):
        _ = ModelServer(Scripted(), native, Ids("x")).endpoint
