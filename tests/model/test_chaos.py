"""Seeded chaos: whatever a network does to an answer, a strict client hears the same (design section 4)."""

import itertools
import json
from collections.abc import Callable
from typing import Any

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkproof.adapters.model.chaos import LONGEST_PAUSE, MOST_PAUSES, Chaos, Pause, chaos_for
from forkproof.adapters.model.codec import Ids, Rendering, codecs
from forkproof.adapters.protocol import Drop, ModelReply, Say, Stall, Think, ToolUse
from tests import prompt_strategies as some
from tests import stream_client as client
from tests.loopback import Scripted, heard, run, serving

CODECS = codecs()
GATHER: dict[str, Callable[[list[tuple[str, str]]], list[Any]]] = {
    "responses": client.gather_responses,
    "chat": client.gather_chat,
    "messages": client.gather_messages,
}
every = pytest.mark.parametrize("wire", CODECS)
seeds = st.integers(0, 2**32)
LONG = "a text that needs more than one delta, éü \u2028 😀 \\u00e4 " * 8
USE = ToolUse("call_1", "look", "run", "ls", "", "")


def frames_of(wire: str, reply: ModelReply) -> list[Any]:
    rendering = Rendering(some.native, Ids("7f3a"), 1_700_000_000, "fake-model", usage=True)
    return list(CODECS[wire].stream(reply, rendering))


def sent(pieces: list[Any]) -> list[bytes]:
    return [piece for piece in pieces if isinstance(piece, bytes)]


def readable(events: list[tuple[str, str]]) -> list[tuple[str, Any]]:
    """The events with their JSON read: escapes and characters as they are say the same."""
    return [(name, data if data == "[DONE]" else json.loads(data)) for name, data in events]


@every
@some.patient
@given(reply=some.replies, seed=seeds)
def test_a_reply_survives_any_chaos(wire: str, reply: ModelReply, seed: int) -> None:
    """Event for event a strict reader gets what it gets without chaos, and so the same texts and calls."""
    frames = frames_of(wire, reply)
    plain = client.parse(sent(frames))
    disturbed = client.parse(sent(list(Chaos(seed).disturb(frames, repr(reply)))))
    assert readable(disturbed) == readable(plain)
    assert GATHER[wire](disturbed) == GATHER[wire](plain)


@every
@some.patient
@given(reply=some.replies, seed=seeds)
def test_chaos_is_of_its_seed(wire: str, reply: ModelReply, seed: int) -> None:
    """The same seed and the same answer make the same pieces; the pauses are short and few."""
    frames = frames_of(wire, reply)
    pieces = list(Chaos(seed).disturb(frames, "a"))
    assert pieces == list(Chaos(seed).disturb(frames, "a"))
    pauses = [piece.seconds for piece in pieces if isinstance(piece, Pause)]
    assert all(0 <= pause <= LONGEST_PAUSE for pause in pauses)
    assert sum(pause > 0 for pause in pauses) <= MOST_PAUSES * (1 + sum(isinstance(p, Stall) for p in reply.parts))


@every
@some.patient
@given(reply=some.replies, seed=seeds)
def test_chaos_holds_nothing_back_at_a_stall(wire: str, reply: ModelReply, seed: int) -> None:
    """When the stream is held, every event before it is out: whoever waits for a delta gets it."""
    frames = frames_of(wire, reply)
    assert up_to_stalls(list(Chaos(seed).disturb(frames))) == up_to_stalls(frames)


def up_to_stalls(pieces: list[Any]) -> list[Any]:
    """What a reader has at each stall."""
    found, data = [], []
    for piece in pieces:
        if isinstance(piece, Stall):
            found.append((piece, readable(client.parse(data))))
        elif isinstance(piece, bytes):
            data.append(piece)
    return found


def test_chaos_comes_in_every_kind() -> None:
    """Over some seeds there are pieces within characters, both line ends, comments, ids, and raw characters."""
    frames = frames_of("messages", ModelReply((Say(LONG),)))
    found = set()
    for seed in range(60):
        pieces = sent(list(Chaos(seed).disturb(frames)))
        whole = b"".join(pieces)
        found |= {"crlf"} if b"\r\n" in whole else {"lf"}
        found |= {name for name, mark in (("comment", b": keep-alive"), ("id", b"id: 1")) if mark in whole}
        found |= {"raw"} if "é".encode() in whole else {"escaped"}
        found |= {"split"} if any(piece[:1] and 0x80 <= piece[0] < 0xC0 for piece in pieces) else set()
        assert "\u2028".encode() not in whole
    assert found == {"crlf", "lf", "comment", "id", "raw", "escaped", "split"}


@every
@some.patient
@given(seed=seeds)
def test_a_drop_is_cut_within_an_event(wire: str, seed: int) -> None:
    """What came before the break is whole, and of the event behind it never so much that it could be read."""
    frames = frames_of(wire, ModelReply((Say("before"), Drop(), Say("after"))))
    pieces = list(Chaos(seed).disturb(frames))
    end = next(index for index, piece in enumerate(pieces) if isinstance(piece, Drop))
    data = b"".join(sent(pieces[:end]))
    whole = client.parse(sent(frames[: frames.index(Drop())]))
    normal = data.replace(b"\r\n", b"\n")
    complete, _, rest = normal.rpartition(b"\n\n")
    events = client.parse([complete + b"\n\n"])
    assert readable(events) == readable(whole)
    # Nothing at all of the event is a cut, too: one in some ten thousand seeds falls there.
    for line in rest.split(b"\n"):
        if line.startswith(b"data:"):
            with pytest.raises(ValueError, match=r"."):
                json.loads(line.removeprefix(b"data:"))


@pytest.mark.parametrize("wire", CODECS)
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_client_hears_the_same_through_chaos(wire: str, stream: bool, seed: int) -> None:
    """Over a real socket, streamed or whole."""

    async def story() -> None:
        read = {"responses": client.read_response, "chat": client.read_completion, "messages": client.read_message}
        async with (
            serving(Scripted(Say(LONG), USE), chaos=Chaos(seed)) as (server, harness),
            harness.ask(wire, stream=stream) as answer,
        ):
            said = GATHER[wire](await heard(answer)) if stream else read[wire](await answer.json())
            assert said == [LONG, client.HeardCall("call_1", "shell", '{"command": "ls"}', freeform=False)]
            assert server.oddities == ()

    run(story)


@every
@pytest.mark.parametrize("stream", [True, False])
def test_a_drop_breaks_the_connection_in_chaos_too(wire: str, stream: bool) -> None:
    """The client never sees a complete answer."""

    async def story() -> None:
        async with serving(Scripted(Say("before"), Drop(), Say("after")), chaos=Chaos(7)) as (server, harness):

            async def read() -> bytes:
                async with harness.ask(wire, stream=stream) as answer:
                    return bytes(await answer.content.read())

            with pytest.raises(aiohttp.ClientError):
                await read()
            assert server.oddities == ()

    run(story)


def test_errors_come_only_where_a_client_tries_again() -> None:
    """Without statuses that a client retries none is refused; with them some are, never two in a row, by the seed."""
    assert {Chaos(seed).error(number) for seed in range(20) for number in range(20)} == {None}
    for seed in range(20):
        drawn = [Chaos(seed, (429, 503)).error(number) for number in range(1, 60)]
        assert {429, 503, None} == set(drawn)
        assert drawn == [Chaos(seed, (429, 503)).error(number) for number in range(1, 60)]
        assert all(None in pair for pair in itertools.pairwise(drawn))


def test_a_retry_after_an_error_is_served() -> None:
    """The refused request never reaches the model: its retry is the first that the script sees."""

    async def story() -> None:
        model = Scripted(Say("x"))
        async with serving(model, chaos=Chaos(1, (529,))) as (server, harness):
            statuses = []
            for _ in range(30):
                async with harness.ask("messages", stream=False) as answer:
                    statuses.append(answer.status)
                    assert (await answer.json())["type"] == ("message" if answer.status == 200 else "error")
            assert {200, 529} == set(statuses)
            assert len(model.requests) == statuses.count(200)
            assert server.oddities == ()

    run(story)


def test_opaque_forms_go_through_chaos_byte_for_byte() -> None:
    """A signature is never cut up in meaning, only in bytes (PRV-4)."""
    thought = Think("a.think", "Hm, ünï.", "c2lnbmVk" * 40, "signed")
    frames = frames_of("messages", ModelReply((thought, Say("x"))))
    for seed in range(30):
        events = readable(client.parse(sent(list(Chaos(seed).disturb(frames)))))
        signed = [data["delta"]["signature"] for _, data in events if data.get("delta", {}).get("signature")]
        assert signed == [thought.opaque]


class Patient:
    """As far as chaos looks at an adapter: a harness that tries again."""

    retried = (503,)


def test_a_harness_meets_errors_only_if_its_adapter_says_that_it_retries() -> None:
    """Without a seed there is no chaos; a harness that does not try again gets no error, whatever the seed."""
    patient, plain = Patient(), object()
    assert chaos_for(None, patient) is None  # type: ignore[arg-type]  # only what chaos looks at
    assert chaos_for(3, patient) == Chaos(3, (503,))  # type: ignore[arg-type]
    assert chaos_for(3, plain) == Chaos(3)  # type: ignore[arg-type]
