"""The model server over real loopback sockets: what a harness gets (design section 4)."""

import asyncio
from collections.abc import Callable
from typing import Any

import aiohttp
import pytest

from forkproof.adapters.model.codec import Ids, codecs
from forkproof.adapters.model.server import ModelServer
from forkproof.adapters.prompt import Message, Text
from forkproof.adapters.protocol import ModelReply, ModelRequest, Say, Stall, ToolUse
from tests import stream_client as client
from tests.loopback import PATIENCE, Client, Scripted, heard, native, run, serving

LONG = "a text that needs more than one delta, ünï \u2028 😀"
USE = ToolUse("call_1", "look", "run", "ls", "", "")
CALL = client.HeardCall("call_1", "shell", '{"command": "ls"}', freeform=False)
GATHER: dict[str, Callable[[list[tuple[str, str]]], list[Any]]] = {
    "responses": client.gather_responses,
    "chat": client.gather_chat,
    "messages": client.gather_messages,
}
READ = {"responses": client.read_response, "chat": client.read_completion, "messages": client.read_message}
every = pytest.mark.parametrize("wire", ["responses", "chat", "messages"])


# --- Answers ---------------------------------------------------------------------------------------------------------


@every
def test_a_streamed_answer(wire: str) -> None:
    """A request that asks for a stream gets the reply as server-sent events, and the model got the canonical prompt."""

    async def story() -> None:
        model = Scripted(Say(LONG), USE)
        async with serving(model) as (server, harness):
            async with harness.ask(wire, LONG) as answer:
                assert (answer.status, answer.content_type) == (200, "text/event-stream")
                assert GATHER[wire](await heard(answer)) == [LONG, CALL]
            (request,) = model.requests
            assert request.prompt.messages == (Message("user", (Text(LONG),)),)
            assert request.path == codecs()[wire].path
            assert request.raw["stream"] is True
            assert server.oddities == ()

    run(story)


def test_header_names_come_in_any_case() -> None:
    """The session id of a header reaches the prompt, however the client spells the header's name."""

    async def story() -> None:
        model = Scripted(Say("x"))
        async with serving(model) as (_, harness):
            sent = {"model": "m", "input": "Hi"}
            headers = {"Agent-Session-ID": "20261130_1"}
            async with harness.send("POST", "/v1/responses", json=sent, headers=headers) as answer:
                assert answer.status == 200
        assert [request.prompt.session for request in model.requests] == ["20261130_1"]

    run(story)


@every
def test_a_whole_answer(wire: str) -> None:
    """A request that doesn't ask for a stream gets one JSON body."""

    async def story() -> None:
        async with serving(Scripted(Say(LONG), USE)) as (_, harness), harness.ask(wire, stream=False) as answer:
            assert answer.content_type == "application/json"
            assert READ[wire](await answer.json()) == [LONG, CALL]

    run(story)


@every
@pytest.mark.parametrize("status", [400, 429, 500])
def test_a_scripted_failure(wire: str, status: int) -> None:
    """A reply with another status than 200 is the provider's error, streaming or not, and nothing odd."""

    async def story() -> None:
        async with serving(Scripted(status=status, message="no luck")) as (server, harness):
            for stream in (True, False):
                async with harness.ask(wire, stream=stream) as answer:
                    assert answer.status == status
                    assert (await answer.json())["error"]["message"] == "no luck"
            assert server.oddities == ()

    run(story)


def test_the_listing_of_models() -> None:
    """Goose asks for the models when a session starts; it gets the names that the suite was told."""

    async def story() -> None:
        async with serving(Scripted()) as (server, harness), harness.send("GET", "/v1/models") as answer:
            listing = await answer.json()
            assert listing["object"] == "list"
            assert [(row["id"], row["object"], row["created"]) for row in listing["data"]] == [
                ("one", "model", 1_700_000_000),
                ("two", "model", 1_700_000_000),
            ]
            assert server.oddities == ()

    run(story)


def test_servers_of_a_run_share_their_ids() -> None:
    """Two servers with one `Ids` never give one id twice; each has its own port and key, on loopback only."""

    async def story() -> None:
        ids, model, found = Ids("7f3a"), Scripted(Say("x")), []
        async with ModelServer(model, native, ids) as one, ModelServer(model, native, ids) as two:
            assert one.endpoint.url != two.endpoint.url
            assert one.endpoint.key != two.endpoint.key
            async with aiohttp.ClientSession() as session:
                for server in (one, two, one):
                    assert server.endpoint.url.startswith("http://127.0.0.1:")
                    async with Client(server, session).ask("chat", stream=False) as answer:
                        found.append((await answer.json())["id"])
        assert len(set(found)) == 3

    run(story)


@pytest.fixture
def endless_cleanup(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stop that waited for anything would outlast our patience."""
    monkeypatch.setattr("forkproof.adapters.model.server.CLEANUP_SECONDS", PATIENCE * 10)


# --- Stalls ----------------------------------------------------------------------------------------------------------


@every
def test_a_stall_holds_the_stream_until_it_is_released(wire: str) -> None:
    """What stands before the stall reaches the client; the rest comes only after the release."""

    async def story() -> None:
        model = Scripted(Say("before"), Stall("gate"), Say("after"))
        async with serving(model) as (_, harness), harness.ask(wire) as answer:
            await model.stalled.wait()
            early = b""
            while b"before" not in early:
                early += await answer.content.readany()
            assert b"after" not in early
            model.go_on.set()
            late = await answer.content.read()
            expected = ["before\nafter"] if wire == "chat" else ["before", "after"]
            assert GATHER[wire](client.parse([early, late])) == expected

    run(story)


@every
def test_a_whole_answer_waits_for_its_stalls(wire: str) -> None:
    """Without a stream nothing can be sent early: the answer comes when every stall is released."""

    async def story() -> None:
        model = Scripted(Stall("gate"), Say("after"))
        async with serving(model) as (_, harness):
            asked = asyncio.ensure_future(harness.ask(wire, stream=False).__aenter__())
            await model.stalled.wait()
            assert not asked.done()
            model.go_on.set()
            assert READ[wire](await (await asked).json()) == ["after"]

    run(story)


@every
@pytest.mark.parametrize("stream", [True, False])
def test_stopping_does_not_wait_for_a_stall(wire: str, stream: bool, endless_cleanup: None) -> None:
    """`stop` ends a held answer: the client sees the connection break, never a complete answer."""

    async def story() -> None:
        model = Scripted(Say("before"), Stall("gate"), Say("after"))
        async with serving(model) as (server, harness):

            async def read() -> bytes:
                async with harness.ask(wire, stream=stream) as answer:
                    return bytes(await answer.content.read())

            reading = asyncio.ensure_future(read())
            await model.stalled.wait()
            await server.stop()
            with pytest.raises(aiohttp.ClientError):
                await reading
            await model.abandoned.wait()
            assert server.oddities == ()
            await server.stop()

    run(story)


@every
def test_a_client_that_leaves_during_a_stall_is_let_go(wire: str) -> None:
    """A harness that cancels its turn hangs up: the handler ends at once and quietly, and others are still served."""

    async def story() -> None:
        model = Scripted(Say("before"), Stall("gate"))
        async with serving(model) as (server, harness):
            answer = await harness.ask(wire).__aenter__()
            await model.stalled.wait()
            answer.close()
            await model.abandoned.wait()
            model.go_on.set()
            async with harness.ask(wire) as other:
                assert GATHER[wire](await heard(other)) == ["before"]
            assert server.oddities == ()

    run(story)


def test_answers_run_side_by_side() -> None:
    """While one answer is held, another request in another format is served to its end."""

    async def story() -> None:
        held = Scripted(Say("slow"), Stall("gate"), Say("late"))
        quick = Scripted(Say("quick"))

        class Router(Scripted):
            async def respond(self, request: ModelRequest) -> ModelReply:
                return await (held if request.path == "/v1/responses" else quick).respond(request)

            async def released(self, stall: str) -> None:
                await held.released(stall)

        async with serving(Router()) as (_, harness), harness.ask("responses") as slow:
            await held.stalled.wait()
            async with harness.ask("chat") as fast:
                assert client.gather_chat(await heard(fast)) == ["quick"]
            held.go_on.set()
            assert client.gather_responses(await heard(slow)) == ["slow", "late"]

    run(story)


def test_an_idle_connection_does_not_delay_the_stop(endless_cleanup: None) -> None:
    """A harness keeps its connection open between requests; stopping closes it instead of waiting."""

    async def story() -> None:
        async with serving(Scripted(Say("x"))) as (server, harness):
            async with harness.ask("chat") as answer:
                await answer.read()
            await server.stop()
            with pytest.raises(aiohttp.ClientConnectionError):
                await harness.ask("chat").__aenter__()

    run(story)
