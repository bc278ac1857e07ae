"""What a strict client makes of our answers: server-sent events parsed by the rules, deltas gathered and checked.

Written after what the provider's own clients do, without them: every event must have the members that the schema
requires, and what the deltas add up to must be what the finished items say.
"""

import codecs
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

ITEM = {"output_index", "item"}
PLACE = {"output_index", "item_id"}
REQUIRED = {
    "response.created": {"response"},
    "response.in_progress": {"response"},
    "response.completed": {"response"},
    "response.output_item.added": ITEM,
    "response.output_item.done": ITEM,
    "response.content_part.added": PLACE | {"content_index", "part"},
    "response.content_part.done": PLACE | {"content_index", "part"},
    "response.output_text.delta": PLACE | {"content_index", "delta", "logprobs"},
    "response.output_text.done": PLACE | {"content_index", "text", "logprobs"},
    "response.function_call_arguments.delta": PLACE | {"delta"},
    "response.function_call_arguments.done": PLACE | {"arguments", "name"},
    "response.custom_tool_call_input.delta": PLACE | {"delta"},
    "response.custom_tool_call_input.done": PLACE | {"input"},
}
RESPONSE = {
    "id", "object", "created_at", "status", "error", "incomplete_details", "instructions", "metadata", "model",
    "output", "parallel_tool_calls", "temperature", "tool_choice", "tools", "top_p", "usage",
}  # fmt: skip
PREFIX = {"message": "msg_", "function_call": "fc_", "custom_tool_call": "ctc_"}
CHUNK = {"id", "object", "created", "model", "choices"}


@dataclass(frozen=True)
class HeardCall:
    """A call as it reached the client; `text` are its arguments as sent."""

    id: str
    name: str
    text: str
    freeform: bool


def parse(chunks: Iterable[bytes]) -> list[tuple[str, str]]:
    """The events in a byte stream that comes in any chunks, as (name, data), by the rules of the HTML standard."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    text = "".join(decoder.decode(chunk) for chunk in chunks) + decoder.decode(b"", final=True)
    events = []
    name, lines = "", []
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            lines.append(value)
        elif not line and lines:
            events.append((name, "\n".join(lines)))
            name, lines = "", []
    assert not lines, "the stream ends inside an event"
    return events


# --- Responses -------------------------------------------------------------------------------------------------------


def gather_responses(events: list[tuple[str, str]]) -> list[str | HeardCall]:
    """The texts and calls of a whole Responses stream, in order; from the deltas and from the items alike."""
    sent = [json.loads(data) for _, data in events]
    kinds = [event["type"] for event in sent]
    assert kinds == [name for name, _ in events]
    assert kinds[:2] == ["response.created", "response.in_progress"]
    assert kinds[2:].count("response.completed") == 1
    assert kinds[-1] == "response.completed"
    assert [event["sequence_number"] for event in sent] == list(range(len(sent)))
    for event in sent:
        assert event.keys() >= REQUIRED[event["type"]], event
    for event in (sent[0], sent[1], sent[-1]):
        assert event["response"].keys() >= RESPONSE
        assert event["response"]["id"] == sent[0]["response"]["id"]
    assert sent[0]["response"]["usage"] is None
    final = sent[-1]["response"]
    done = [event["item"] for event in sent if event["type"] == "response.output_item.done"]
    assert final["output"] == done == [_rebuild(sent, index) for index in range(len(done))]
    assert final["usage"]["total_tokens"] == final["usage"]["input_tokens"] + final["usage"]["output_tokens"]
    return read_response(final)


def _rebuild(sent: list[dict[str, Any]], index: int) -> dict[str, Any]:
    """One item from its own events alone, its text from the deltas."""
    events = [event for event in sent if event.get("output_index") == index]
    assert events[0]["type"] == "response.output_item.added"
    assert events[-1]["type"] == "response.output_item.done"
    item = dict(events[0]["item"])
    assert item["id"].startswith(PREFIX[item["type"]])
    assert item["status"] == "in_progress"
    assert all(event["item_id"] == item["id"] for event in events[1:-1])
    text = "".join(event["delta"] for event in events if event["type"].endswith(".delta"))
    whole = next(e for e in events if e["type"].endswith((".output_text.done", "_arguments.done", "_input.done")))
    if item["type"] == "message":
        assert item["content"] == []
        added, done = (e["part"] for e in events if e["type"].startswith("response.content_part."))
        assert whole["text"] == done["text"] == text
        item["content"] = [added | {"text": text}]
    else:
        member = "arguments" if item["type"] == "function_call" else "input"
        assert item[member] == ""
        assert whole[member] == text
        item[member] = text
    return item | {"status": "completed"}


def read_response(response: dict[str, Any]) -> list[str | HeardCall]:
    """The texts and calls of a response object."""
    assert response["object"] == "response"
    assert response["status"] == "completed"
    heard: list[str | HeardCall] = []
    for item in response["output"]:
        match item["type"]:
            case "message":
                assert item["role"] == "assistant"
                heard.append("".join(part["text"] for part in item["content"]))
            case "function_call":
                heard.append(HeardCall(item["call_id"], item["name"], item["arguments"], freeform=False))
            case "custom_tool_call":
                heard.append(HeardCall(item["call_id"], item["name"], item["input"], freeform=True))
            case other:
                raise AssertionError(other)
    return heard


# --- Chat Completions ------------------------------------------------------------------------------------------------


def gather_chat(events: list[tuple[str, str]], *, usage: bool = True) -> list[str | HeardCall]:
    """The text, if any, and the calls of a whole Chat Completions stream."""
    assert all(name == "" for name, _ in events)
    assert events[-1][1] == "[DONE]"
    chunks = [json.loads(data) for _, data in events[:-1]]
    assert all(chunk.keys() >= CHUNK for chunk in chunks)
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    assert len({(chunk["id"], chunk["created"], chunk["model"]) for chunk in chunks}) == 1
    if usage:
        last = chunks.pop()
        assert last["choices"] == []
        assert last["usage"]["total_tokens"] == last["usage"]["prompt_tokens"] + last["usage"]["completion_tokens"]
    assert [chunk.get("usage", "absent") for chunk in chunks] == [None if usage else "absent"] * len(chunks)
    choices = [choice for chunk in chunks for choice in chunk["choices"]]
    assert len(choices) == len(chunks)
    assert all(choice["index"] == 0 for choice in choices)
    deltas = [choice["delta"] for choice in choices]
    assert [d.get("role") for d in deltas] == ["assistant"] + [None] * (len(deltas) - 1)
    spoken = [d["content"] for d in deltas if d.get("content") is not None]
    calls = _gather_calls([step for d in deltas for step in d.get("tool_calls", ())])
    finishes = [choice["finish_reason"] for choice in choices]
    assert finishes == [None] * (len(finishes) - 1) + ["tool_calls" if calls else "stop"]
    return [*(["".join(spoken)] if spoken else []), *calls]


def _gather_calls(steps: list[dict[str, Any]]) -> list[HeardCall]:
    calls: list[dict[str, Any]] = []
    for step in steps:
        if step["index"] == len(calls):
            calls.append({"id": step["id"], "type": step["type"], "name": step[step["type"]]["name"], "text": ""})
        else:
            assert step["index"] == len(calls) - 1
            assert "id" not in step
        call = calls[-1]
        body = step[call["type"]]
        call["text"] += body["input" if call["type"] == "custom" else "arguments"]
    return [HeardCall(c["id"], c["name"], c["text"], freeform=c["type"] == "custom") for c in calls]


def read_completion(completion: dict[str, Any]) -> list[str | HeardCall]:
    """The text, if any, and the calls of a completion object."""
    assert completion["object"] == "chat.completion"
    (choice,) = completion["choices"]
    message = choice["message"]
    calls = []
    for call in message.get("tool_calls", ()):
        body = call[call["type"]]
        custom = call["type"] == "custom"
        calls.append(HeardCall(call["id"], body["name"], body["input" if custom else "arguments"], freeform=custom))
    assert choice["finish_reason"] == ("tool_calls" if calls else "stop")
    return [*([message["content"]] if message["content"] is not None else []), *calls]


# --- Messages --------------------------------------------------------------------------------------------------------


def gather_messages(events: list[tuple[str, str]]) -> list[str | HeardCall]:
    """The texts and calls of a whole Messages stream, in order, every block from its own deltas."""
    sent = [json.loads(data) for _, data in events]
    kinds = [event["type"] for event in sent]
    assert kinds == [name for name, _ in events]
    sent = [event for event in sent if event["type"] != "ping"]
    assert sent[0]["type"] == "message_start"
    assert [event["type"] for event in sent[-2:]] == ["message_delta", "message_stop"]
    message = sent[0]["message"]
    assert (message["content"], message["stop_reason"]) == ([], None)
    assert sent[-2]["usage"]["output_tokens"] > 0
    blocks: list[dict[str, Any]] = []
    open_block: dict[str, Any] | None = None
    for event in sent[1:-2]:
        if event["type"] == "content_block_start":
            assert open_block is None
            assert event["index"] == len(blocks)
            open_block = dict(event["content_block"])
            grown = ""
            continue
        assert open_block is not None
        assert event["index"] == len(blocks)
        if event["type"] == "content_block_stop":
            blocks.append(_finished(open_block, grown))
            open_block = None
            continue
        assert event["type"] == "content_block_delta"
        delta = event["delta"]
        if delta["type"] == "signature_delta":
            open_block["signature"] = delta["signature"]
        else:
            member = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
            grown += delta[member[delta["type"]]]
    assert open_block is None
    return read_message(message | {"content": blocks} | sent[-2]["delta"])


def _finished(block: dict[str, Any], grown: str) -> dict[str, Any]:
    match block["type"]:
        case "tool_use":
            assert block["input"] == {}
            return block | {"input": json.loads(grown)}
        case "redacted_thinking":
            assert grown == ""
            return block
        case kind:
            assert block[kind] == ""
            return block | {kind: grown}


def read_message(message: dict[str, Any]) -> list[str | HeardCall]:
    """The texts and calls of a message object; thinking must be signed, and is not heard."""
    assert (message["type"], message["role"], message["stop_sequence"]) == ("message", "assistant", None)
    assert message["id"].startswith("msg_")
    assert message.keys() >= {"model", "usage"}
    heard: list[str | HeardCall] = []
    for block in message["content"]:
        match block["type"]:
            case "text":
                heard.append(block["text"])
            case "tool_use":
                text = json.dumps(block["input"], ensure_ascii=False)
                heard.append(HeardCall(block["id"], block["name"], text, freeform=False))
            case "thinking":
                assert block["signature"]
            case "redacted_thinking":
                assert block["data"]
            case other:
                raise AssertionError(other)
    called = any(isinstance(each, HeardCall) for each in heard)
    assert message["stop_reason"] == ("tool_use" if called else "end_turn")
    return heard
