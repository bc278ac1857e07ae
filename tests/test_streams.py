"""How the codecs say what the model says: a strict client hears the script, streamed or whole (design section 4)."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkproof.adapters.model import openai, sse
from forkproof.adapters.model.codec import Ids, Rendering, codecs
from forkproof.adapters.protocol import ModelReply, NativeCall, Say, Stall, Think, ToolUse
from tests import prompt_strategies as some
from tests import stream_client as client

CODECS = codecs()
RESPONSES, CHAT, MESSAGES = CODECS["responses"], CODECS["chat"], CODECS["messages"]
every = pytest.mark.parametrize("codec", CODECS.values(), ids=CODECS)


def rendering(*, usage: bool = True) -> Rendering:
    return Rendering(some.native, Ids("7f3a"), 1_700_000_000, "fake-model", usage=usage)


def heard_calls(reply: ModelReply) -> list[client.HeardCall]:
    return [expected_call(part) for part in reply.parts if isinstance(part, ToolUse)]


def expected_call(use: ToolUse) -> client.HeardCall:
    native = some.native(use)
    text = native.arguments if isinstance(native.arguments, str) else json.dumps(native.arguments, ensure_ascii=False)
    return client.HeardCall(use.id, native.name, text, native.freeform)


def in_responses(reply: ModelReply) -> list[str | client.HeardCall]:
    return [
        part.text if isinstance(part, Say) else expected_call(part)
        for part in reply.parts
        if not isinstance(part, Stall)
    ]


def in_chat(reply: ModelReply) -> list[str | client.HeardCall]:
    spoken = [part.text for part in reply.parts if isinstance(part, Say)]
    return [*(["\n".join(spoken)] if spoken else []), *heard_calls(reply)]


def in_messages(reply: ModelReply) -> list[str | client.HeardCall]:
    heard: list[str | client.HeardCall] = []
    for part in reply.parts:
        if isinstance(part, Say):
            heard.append(part.text)
        elif isinstance(part, ToolUse):
            call = expected_call(part)
            heard.append(client.HeardCall(call.id, call.name, as_object(call.text), freeform=False))
    return heard


def as_object(text: str) -> str:
    """The arguments as the one object that a Messages call has."""
    found = openai.read_arguments(text)
    return json.dumps({"input": found} if isinstance(found, str) else found, ensure_ascii=False)


def chunked(frames: list[Any], cuts: list[int]) -> list[bytes]:
    """The stream's bytes, cut anywhere."""
    data = b"".join(frame for frame in frames if isinstance(frame, bytes))
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[a:b] for a, b in itertools.pairwise(places)]


cuts = st.lists(st.integers(0, 5000), max_size=12)


@some.patient
@given(some.replies, cuts)
def test_a_reply_survives_responses(reply: ModelReply, cuts: list[int]) -> None:
    """Streamed in any chunks or whole, a client hears the texts and calls of the script in their order."""
    frames = list(RESPONSES.stream(reply, rendering()))
    assert client.gather_responses(client.parse(chunked(frames, cuts))) == in_responses(reply)
    assert client.read_response(json.loads(json.dumps(RESPONSES.whole(reply, rendering())))) == in_responses(reply)


@some.patient
@given(some.replies, cuts, st.booleans())
def test_a_reply_survives_chat(reply: ModelReply, cuts: list[int], usage: bool) -> None:
    """Streamed in any chunks or whole, a client hears the script's texts, joined by line ends, and its calls."""
    frames = list(CHAT.stream(reply, rendering(usage=usage)))
    assert client.gather_chat(client.parse(chunked(frames, cuts)), usage=usage) == in_chat(reply)
    assert client.read_completion(json.loads(json.dumps(CHAT.whole(reply, rendering())))) == in_chat(reply)


@some.patient
@given(some.replies, cuts)
def test_a_reply_survives_messages(reply: ModelReply, cuts: list[int]) -> None:
    """Streamed in any chunks or whole, a client hears the texts and calls of the script in their order."""
    frames = list(MESSAGES.stream(reply, rendering()))
    assert client.gather_messages(client.parse(chunked(frames, cuts))) == in_messages(reply)
    assert client.read_message(json.loads(json.dumps(MESSAGES.whole(reply, rendering())))) == in_messages(reply)


@every
@some.patient
@given(reply=some.replies)
def test_the_wire_is_ascii_and_each_event_one_line(codec: Any, reply: ModelReply) -> None:
    """No text can end a line or break a character early, whatever a client takes for a line end."""
    for frame in codec.stream(reply, rendering()):
        if isinstance(frame, bytes):
            *lines, last, empty = frame.decode("ascii").split("\n")
            assert (last[:6], empty, len(lines) <= 2) == ("", "", True)
            assert all(line.isprintable() for line in lines)


@every
@some.patient
@given(reply=some.replies)
def test_stalls_keep_their_place(codec: Any, reply: ModelReply) -> None:
    """When the stream is held, a client has seen the answer begin and all that the script says before the stall."""
    seen = ""
    before: list[str] = []
    stalls = []
    parts = iter(reply.parts)
    for frame in codec.stream(reply, rendering()):
        if isinstance(frame, bytes):
            seen += _delta_text(frame)
            continue
        assert isinstance(frame, Stall)
        stalls.append(frame)
        for part in parts:
            if isinstance(part, Stall):
                break
            spelled = as_object if codec is MESSAGES else str
            before.append(part.text if isinstance(part, Say) else spelled(expected_call(part).text))
        assert seen.replace("\n", "") == "".join(before).replace("\n", "")
    assert stalls == [part for part in reply.parts if isinstance(part, Stall)]
    assert isinstance(next(iter(codec.stream(reply, rendering()))), bytes)


def _delta_text(frame: bytes) -> str:
    """The new text in one event of any format."""
    ((_, data),) = client.parse([frame])
    if data == "[DONE]":
        return ""
    event = json.loads(data)
    if event.get("type") == "content_block_delta":
        delta = event["delta"]
        return str(delta.get("text", delta.get("partial_json", "")))
    if event.get("type", "").startswith(("message_", "content_block_", "ping")):
        return ""
    if "choices" not in event:
        return str(event["delta"]) if event["type"].endswith(".delta") else ""
    deltas = [choice["delta"] for choice in event["choices"]]
    calls = [step.get("function") or step["custom"] for delta in deltas for step in delta.get("tool_calls", ())]
    spelled = [call.get("arguments", call.get("input", "")) for call in calls]
    return "".join([*(delta.get("content") or "" for delta in deltas), *spelled])


@some.patient
@given(some.texts | st.integers(0, 100_000).map(lambda n: "ä" * n))
def test_deltas_add_up(text: str) -> None:
    """A text longer than one piece goes out in several, none is empty, and their number is bounded."""
    pieces = sse.pieces(text)
    assert "".join(pieces) == text
    assert "" not in pieces
    assert (len(pieces) > 1) == (len(text) > sse.PIECE)
    assert len(pieces) <= sse.MOST_PIECES


@every
def test_a_text_goes_out_in_several_deltas(codec: Any) -> None:
    """Even a short sentence with its marker is cut, so that a client that doesn't join is found out."""
    frames = list(codec.stream(ModelReply((Say("Three stages, one after another. fp7f3a.plan.say"),)), rendering()))
    assert [_delta_text(frame) for frame in frames if _delta_text(frame)] == [
        "Three stages, one after ",
        "another. fp7f3a.plan.say",
    ]


def test_numbers_that_json_lacks_are_not_sent() -> None:
    """NaN on the wire would be our fault, not the harness's: it is refused before it leaves."""
    with pytest.raises(ValueError, match="JSON"):
        sse.data({"a": float("nan")})


@every
def test_ids_are_never_used_twice(codec: Any) -> None:
    """Goose keys its messages by the completion's id: every answer and every item of a run has an id of its own."""
    reply = ModelReply((Say("a"), ToolUse("c1", "n", "run", NativeCall("n", {}), "", "")))
    ours = rendering()
    ids = [found for _ in range(3) for found in _ids(codec.whole(reply, ours))]
    assert len(set(ids)) == len(ids) >= 3
    assert all("7f3a" in found for found in ids)


def _ids(answer: dict[str, Any]) -> list[str]:
    return [answer["id"], *(item["id"] for item in answer.get("output", ()))]


@pytest.mark.parametrize("codec", [RESPONSES, CHAT], ids=["responses", "chat"])
@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
def test_a_failure_has_openais_shape(codec: Any, status: int) -> None:
    """A scripted failure reads like the provider's own: message, type and code."""
    error = codec.failure(status, "no")["error"]
    assert error["message"] == "no"
    assert error.keys() == {"message", "type", "param", "code"}
    usual = "server_error" if status >= 500 else "invalid_request_error"
    assert error["type"] == ("rate_limit_error" if status == 429 else usual)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (404, "not_found_error"),
        (413, "request_too_large"),
        (422, "invalid_request_error"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (529, "overloaded_error"),
    ],
)
def test_a_failure_has_anthropics_shape(status: int, kind: str) -> None:
    """An error within an envelope of its own, by which clients tell what to do."""
    failure = MESSAGES.failure(status, "no")
    assert failure["type"] == "error"
    assert failure["error"] == {"type": kind, "message": "no"}


def test_thinking_goes_out_signed_or_sealed_in_messages() -> None:
    """Signed thinking has its own signature, plain thinking any, and what is encrypted has no text (PRV-4, PRV-5)."""
    parts = (
        Think("a.think", "Hm.", "c2lnbmVk", "signed"),
        Think("a.think.2", "So.", "c2VhbGVk", "encrypted"),
        Think("a.think.3", "Well."),
    )
    signed, sealed, plain = MESSAGES.whole(ModelReply(parts), rendering())["content"]
    assert signed == {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk"}
    assert sealed == {"type": "redacted_thinking", "data": "c2VhbGVk"}
    assert (plain["thinking"], plain["signature"] not in ("", "c2lnbmVk")) == ("Well.", True)
    streamed = b"".join(f for f in MESSAGES.stream(ModelReply(parts), rendering()) if isinstance(f, bytes)).decode()
    assert client.gather_messages(client.parse([streamed.encode()])) == []
    assert streamed.count("c2lnbmVk") == streamed.count("c2VhbGVk") == 1
    assert "So." not in streamed
