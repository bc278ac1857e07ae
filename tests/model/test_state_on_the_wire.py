"""What the provider keeps, over real wires: ids told, continued, refused, written by two (clauses PRV-1 to PRV-7)."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from forkproof.adapters.model.codec import Ids
from forkproof.adapters.model.markers import Markers
from forkproof.adapters.model.script import ScriptedModel
from forkproof.adapters.model.server import ModelServer
from forkproof.adapters.protocol import ModelReply, Say, Stall
from tests import stream_client as client
from tests.loopback import Client, heard, native, run

MARKERS = Markers("7f3a1c")


def marked(text: str, name: str) -> str:
    return MARKERS.mark(text, name)


@contextlib.asynccontextmanager
async def scripted(*turns: str, reply: ModelReply | None = None) -> AsyncIterator[tuple[ScriptedModel, Client]]:
    """A scripted model on a server; each turn is answered by `<turn>.say`, or by `reply`."""
    model = ScriptedModel(MARKERS, lambda _prompt: None)
    for turn in turns:
        model.begin_turn(turn, (reply or ModelReply((Say(marked("Yes.", f"{turn}.say")),)),))
    async with (
        ModelServer(model, native, Ids("7f3a"), converse=model.store.converse) as server,
        aiohttp.ClientSession() as session,
    ):
        yield model, Client(server, session)


async def respond(harness: Client, turn: str, **fields: Any) -> tuple[int, dict[str, Any]]:
    """One request in Responses."""
    body = {"model": "m", "input": marked("Do.", f"{turn}.user")} | fields
    async with harness.send("POST", "/v1/responses", json=body) as answer:
        return answer.status, await answer.json()


async def message(harness: Client, turn: str, *, beta: bool = True, **fields: Any) -> tuple[int, dict[str, Any]]:
    """One request in Messages."""
    said = [{"role": "user", "content": marked("Do.", f"{turn}.user")}]
    body = {"model": "m", "max_tokens": 9, "messages": said} | fields
    headers = {"anthropic-beta": "message-threads-2026-08-12"} if beta else {}
    async with harness.send("POST", "/v1/messages?beta=true", json=body, headers=headers) as answer:
        return answer.status, await answer.json()


def items(model: ScriptedModel, index: int) -> list[str]:
    return [item.name for item in model.requests[index].items]


def after(id_: str) -> dict[str, str]:
    return {"type": "continue", "previous_message_id": id_}


def test_a_response_is_continued_by_its_id() -> None:
    """The model reads what the provider kept; of the items the last were sent (PRV-1, PRV-2)."""

    async def story() -> None:
        async with scripted("one", "two", "three") as (model, harness):
            _, first = await respond(harness, "one", instructions="Be brief.")
            _, second = await respond(harness, "two", previous_response_id=first["id"])
            _, other = await respond(harness, "three", previous_response_id=first["id"], store=False)
            assert items(model, 1) == ["one.user", "one.say", "two.user"]
            assert items(model, 2) == ["one.user", "one.say", "three.user"]
            assert [request.sent for request in model.requests] == [1, 1, 1]
            assert model.requests[1].stored == second["id"] != first["id"]
            assert model.requests[2].stored == ""
            status, refused = await respond(harness, "two", previous_response_id=other["id"])
            assert status == 400
            assert refused["error"]["code"] == "previous_response_not_found"

    run(story)


def test_an_unknown_response_is_refused_as_openai_does() -> None:
    """Status, code and field; and the request stands in the record as refused (PRV-7)."""

    async def story() -> None:
        async with scripted("one") as (model, harness):
            status, refused = await respond(harness, "one", previous_response_id="resp_made_up")
            assert status == 400
            assert refused["error"] == {
                "message": "Previous response with id 'resp_made_up' not found.",
                "type": "invalid_request_error",
                "param": "previous_response_id",
                "code": "previous_response_not_found",
            }
            assert model.requests[0].refused == refused["error"]["message"]

    run(story)


def test_a_conversation_is_made_and_grows() -> None:
    """Its id is the one thing that two sessions may write to: the judge reads that from `stored` (PRV-1)."""

    async def story() -> None:
        async with scripted("one", "two") as (model, harness):
            async with harness.send("POST", "/v1/conversations", json={}) as answer:
                made = await answer.json()
            assert (made["object"], made["id"][:5]) == ("conversation", "conv_")
            _, first = await respond(harness, "one", conversation=made["id"])
            _, second = await respond(harness, "two", conversation={"id": made["id"]})
            assert first["conversation"] == second["conversation"] == {"id": made["id"]}
            assert len({first["id"], second["id"], made["id"]}) == 3
            assert items(model, 1) == ["one.user", "one.say", "two.user"]
            assert {request.stored for request in model.requests} == {made["id"]}
            status, refused = await respond(harness, "one", conversation="conv_made_up")
            assert (status, refused["error"]["message"]) == (404, "Conversation with id 'conv_made_up' not found.")

    run(story)


def test_a_thread_of_messages_is_continued_once() -> None:
    """As pi and Claude Code send it: the answer's id names the place, and an id goes on only once (PRV-1)."""

    async def story() -> None:
        async with scripted("one", "two", "three") as (model, harness):
            tools = [{"name": "bash", "input_schema": {"type": "object"}}]
            system = [{"type": "text", "text": "Be brief."}]
            _, first = await message(harness, "one", thread={"type": "create"}, tools=tools, system=system)
            _, second = await message(harness, "two", thread=after(first["id"]))
            assert items(model, 1) == ["one.user", "one.say", "two.user"]
            assert model.requests[1].prompt.tools == ("bash",)
            status, refused = await message(harness, "three", thread=after(first["id"]))
            assert (status, refused["error"]["details"]) == (400, {"error_code": "thread_already_continued"})
            _, third = await message(harness, "three", thread=after(second["id"]))
            assert items(model, 3) == ["one.user", "one.say", "two.user", "two.say", "three.user"]
            assert {request.stored for request in model.requests} == {first["id"], ""}
            assert len({first["id"], second["id"], third["id"]}) == 3

    run(story)


@pytest.mark.parametrize(
    ("fields", "status", "code"),
    [
        ({"thread": {"type": "continue", "previous_message_id": "msg_made_up"}}, 404, "thread_not_found"),
        ({"model": "other"}, 400, "thread_fingerprint_mismatch"),
        ({"thinking": {"type": "disabled"}}, 400, "thread_fingerprint_mismatch"),
    ],
)
def test_a_thread_is_refused_as_anthropic_does(fields: dict[str, Any], status: int, code: str) -> None:
    """The code by which clients know that they have to send everything again."""

    async def story() -> None:
        async with scripted("one", "two") as (model, harness):
            _, first = await message(harness, "one", thread={"type": "create"})
            sent = {"thread": after(first["id"])} | fields
            found, refused = await message(harness, "two", **sent)
            assert (found, refused["type"]) == (status, "error")
            assert refused["error"]["details"] == {"error_code": code}
            assert model.requests[1].refused == refused["error"]["message"]
            found, _ = await message(harness, "two", thread={"type": "create"})
            assert found == 200

    run(story)


def test_a_held_answer_of_a_thread_can_be_continued() -> None:
    """Once it came to its end; before, its id is unknown, as it would be after a break."""

    async def story() -> None:
        reply = ModelReply((Say(marked("Wait.", "one.say")), Stall("gate"), Say(marked("Done.", "one.say.2"))))
        async with scripted("one", reply=reply) as (model, harness):
            asked = {
                "model": "m", "max_tokens": 9, "stream": True, "thread": {"type": "create"},
                "messages": [{"role": "user", "content": marked("Do.", "one.user")}],
            }  # fmt: skip
            async with harness.send("POST", "/v1/messages", json=asked) as answer:
                await asyncio.wait_for(model.stalled("gate"), 30)
                id_ = model.requests[0].stored
                assert (await message(harness, "one", thread=after(id_)))[0] == 404
                model.stall("gate").set()
                assert len(client.gather_messages(await heard(answer))) == 2
            model.begin_turn("two", (ModelReply((Say(marked("Yes.", "two.say")),)),))
            status, _ = await message(harness, "two", thread=after(id_))
            assert status == 200
            assert items(model, -1) == ["one.user", "one.say", "one.say.2", "two.user"]

    run(story)
