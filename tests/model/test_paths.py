"""Where the model server answers, and in whose words (design section 4)."""

from typing import Any

import pytest

from forkproof.adapters.model.codec import codecs
from forkproof.adapters.model.paths import routes
from forkproof.adapters.protocol import Say
from tests import stream_client as client
from tests.loopback import Scripted, heard, run, serving

HELLO = [{"role": "user", "content": "Hi"}]
BODIES: dict[str, dict[str, Any]] = {
    "/responses": {"model": "m", "input": "Hi"},
    "/chat/completions": {"model": "m", "messages": HELLO},
    "/messages": {"model": "m", "max_tokens": 9, "messages": HELLO},
    "/messages/count_tokens": {"model": "m", "messages": HELLO},
}


@pytest.mark.parametrize("prefix", ["", "/v1"])
@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize("query", ["", "?beta=true"])
def test_a_base_url_may_end_in_v1_or_not(prefix: str, path: str, query: str) -> None:
    """The clients of one provider append it, those of another don't: both reach the model, with or without a query."""

    async def story() -> None:
        async with serving(Scripted(Say("x"))) as (server, harness):
            async with harness.send("POST", prefix + path + query, json=BODIES[path]) as answer:
                assert answer.status == 200
                assert await answer.json()
            assert server.oddities == ()

    run(story)


def test_every_codec_has_its_path() -> None:
    """A codec that is known is served where it says, and where it says without `/v1`."""
    served = routes(codecs().values())
    for name, codec in codecs().items():
        for path in (codec.path, codec.path.removeprefix("/v1")):
            route = served[path]
            assert (route.kind, route.method, route.codec and route.codec.name) == ("answer", "POST", name)


def test_a_count_of_tokens_is_no_request_to_the_model() -> None:
    """It gets a number; what the model would refuse is refused here too."""

    async def story() -> None:
        model = Scripted(Say("never"))
        async with serving(model) as (server, harness):
            path = "/v1/messages/count_tokens?beta=true"
            async with harness.send("POST", path, json=BODIES["/messages"]) as answer:
                assert (await answer.json())["input_tokens"] > 0
            async with harness.send("POST", path, json={"model": "m"}) as answer:
                assert (answer.status, (await answer.json())["type"]) == (400, "error")
            assert [oddity.status for oddity in server.oddities] == [400]
            assert model.requests == []

    run(story)


def test_anthropics_clients_get_its_list_of_models() -> None:
    """Both providers list at one path; the version header tells whose client asks."""

    async def story() -> None:
        headers = {"anthropic-version": "2023-06-01"}
        async with serving(Scripted()) as (_, harness):
            async with harness.send("GET", "/v1/models", headers=headers) as answer:
                listing = await answer.json()
            assert [(row["type"], row["id"]) for row in listing["data"]] == [("model", "one"), ("model", "two")]
            assert (listing["has_more"], listing["first_id"], listing["last_id"]) == (False, "one", "two")
            assert listing["data"][0]["created_at"] == "2023-11-14T22:13:20Z"

    run(story)


def test_a_wrong_key_is_told_in_the_providers_words() -> None:
    """Anthropic's clients read another envelope than OpenAI's."""

    async def story() -> None:
        async with serving(Scripted()) as (_, harness):
            headers = {"authorization": "", "x-api-key": "nope"}
            async with harness.send("POST", "/v1/messages", json=BODIES["/messages"], headers=headers) as answer:
                found = await answer.json()
                assert (answer.status, found["type"]) == (401, "error")
                assert found["error"]["type"] == "authentication_error"

    run(story)


def test_a_messages_stream_of_a_key_in_its_own_header() -> None:
    """What Anthropic's clients send: the key as x-api-key, the path with a query; the answer is a whole stream."""

    async def story() -> None:
        async with serving(Scripted(Say("Hello there."))) as (server, harness):
            headers = {"authorization": "", "x-api-key": harness.key, "anthropic-version": "2023-06-01"}
            body = BODIES["/messages"] | {"stream": True}
            async with harness.send("POST", "/v1/messages?beta=true", json=body, headers=headers) as answer:
                assert client.gather_messages(await heard(answer)) == ["Hello there."]
            assert server.oddities == ()

    run(story)
