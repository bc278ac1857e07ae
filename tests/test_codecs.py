"""What the codecs read: a request becomes the canonical prompt, with nothing lost (design section 4)."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forkproof.adapters.model import body
from forkproof.adapters.model.codec import MalformedRequestError, codecs
from forkproof.adapters.prompt import Blob, Message, Prompt, Reasoning, Stored, Text, ToolCall, ToolResult
from tests import prompt_strategies as some

CODECS = codecs()
RESPONSES, CHAT, MESSAGES = CODECS["responses"], CODECS["chat"], CODECS["messages"]
every = pytest.mark.parametrize("codec", CODECS.values(), ids=CODECS)


def wire(kind: str, *words: str) -> list[dict[str, str]]:
    """A content array with these texts."""
    return [{"type": kind, "text": text} for text in words]


def shell(identity: str, arguments: str) -> dict[str, Any]:
    """A call of Goose's shell tool in Chat Completions."""
    return {"id": identity, "type": "function", "function": {"name": "shell", "arguments": arguments}}


def over_the_wire(sent: dict[str, Any]) -> Any:
    return body.read(json.dumps(sent).encode())


def in_form(form: Callable[[tuple[Message, ...]], tuple[Message, ...]], prompt: Prompt) -> Prompt:
    """The prompt as one of OpenAI's formats has it: without a header, the session and the cache key are one."""
    key = prompt.cache_key if prompt.cache_key is not None else prompt.session
    return replace(prompt, messages=form(prompt.messages), session=key, cache_key=key)


# --- Requests --------------------------------------------------------------------------------------------------------


@some.patient
@given(some.prompts(remote=True))
def test_a_prompt_survives_responses(prompt: Prompt) -> None:
    """decode(encode_prompt(p)) is p in the normal form that the module states, and the normal form is a fixed point."""
    normal = in_form(some.responses_form, prompt)
    sent = RESPONSES.encode_prompt(prompt)
    assert RESPONSES.decode(over_the_wire(sent), {}) == normal
    assert RESPONSES.encode_prompt(normal) == sent


@some.patient
@given(some.prompts(remote=False))
def test_a_prompt_survives_chat(prompt: Prompt) -> None:
    """decode(encode_prompt(p)) is p in the normal form that the module states, and the normal form is a fixed point."""
    normal = in_form(some.chat_form, prompt)
    sent = CHAT.encode_prompt(prompt)
    assert CHAT.decode(over_the_wire(sent), {}) == normal
    assert CHAT.decode(over_the_wire(CHAT.encode_prompt(normal)), {}) == normal


@some.patient
@given(some.messages_prompts)
def test_a_prompt_survives_messages(prompt: Prompt) -> None:
    """decode(encode_prompt(p)) is p in the normal form that the module states, and the normal form is a fixed point."""
    normal = replace(prompt, messages=some.messages_form(prompt.messages))
    sent = MESSAGES.encode_prompt(prompt)
    assert MESSAGES.decode(over_the_wire(sent), {}) == normal
    assert MESSAGES.encode_prompt(normal) == sent


def test_a_codex_request_is_read() -> None:
    """What Codex 0.171 sends becomes the canonical prompt: items keep their order, free-form calls stay text."""
    sent = {
        "model": "gpt-5.5",
        "stream": True,
        "store": False,
        "tool_choice": "auto",
        "parallel_tool_calls": True,
        "reasoning": {"effort": "medium"},
        "include": ["reasoning.encrypted_content"],
        "prompt_cache_key": "key",
        "text": {"verbosity": "low"},
        "tools": [
            {"type": "function", "name": "exec_command", "parameters": {}},
            {"type": "custom", "name": "apply_patch", "format": {}},
            {"type": "namespace", "name": "multi_agent_v1", "tools": []},
            {"type": "tool_search", "execution": "client"},
        ],
        "input": [
            {"type": "message", "id": "m1", "role": "developer", "content": wire("input_text", "Rules.")},
            {"role": "user", "content": [*wire("input_text", "Do"), {"type": "input_image", "image_url": "x"}]},
            {"type": "reasoning", "id": "r1", "summary": wire("summary_text", "Hm."), "encrypted_content": "gAAA="},
            {"type": "function_call", "call_id": "c1", "name": "exec_command", "arguments": '{"cmd":"ls"}'},
            {"type": "function_call_output", "call_id": "c1", "output": "a\nb"},
            {"type": "custom_tool_call", "call_id": "c2", "name": "apply_patch", "input": '{"not": "parsed"}'},
            {"type": "custom_tool_call_output", "call_id": "c2", "output": wire("input_text", "ok", "2")},
            {"type": "local_shell_call", "call_id": "c3", "action": {"type": "exec", "command": ["pwd"]}},
            {"type": "local_shell_call_output", "id": "c3", "output": "/"},
            {"type": "item_reference", "id": "msg_9"},
            {"type": "compaction", "encrypted_content": "x"},
        ],
    }  # fmt: skip
    found = RESPONSES.decode(over_the_wire(sent), {"thread-id": "t1", "session-id": "s1"})
    assert found == Prompt(
        messages=(
            Message("system", (Text("Rules."),)),
            Message("user", (Text("Do"), Text("[image]"))),
            Message("assistant", (Reasoning("Hm.", "gAAA="),)),
            Message("assistant", (ToolCall("c1", "exec_command", {"cmd": "ls"}),)),
            Message("tool", (ToolResult("c1", "a\nb"),)),
            Message("assistant", (ToolCall("c2", "apply_patch", '{"not": "parsed"}'),)),
            Message("tool", (ToolResult("c2", "ok\n2"),)),
            Message("assistant", (ToolCall("c3", "local_shell", {"type": "exec", "command": ["pwd"]}),)),
            Message("tool", (ToolResult("c3", "/"),)),
            Message("assistant", (Text("[item_reference msg_9]"),)),
            Message("assistant", (Text("[compaction]"),)),
        ),
        tools=("exec_command", "apply_patch", "multi_agent_v1", "tool_search"),
        model="gpt-5.5",
        settings={"reasoning_effort": "medium", "tool_choice": "auto", "parallel_tool_calls": "true"},
        session="t1",
        cache_key="key",
    )


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ({}, Stored("response")),
        ({"store": True}, Stored("response")),
        ({"store": False}, None),
        ({"previous_response_id": "resp_1"}, Stored("response", "resp_1")),
        ({"previous_response_id": "resp_1", "store": False}, Stored("response", "resp_1", keep=False)),
        ({"conversation": "conv_1"}, Stored("conversation", "conv_1")),
        ({"conversation": {"id": "conv_1"}, "store": False}, Stored("conversation", "conv_1", keep=False)),
        ({"conversation": None, "previous_response_id": None}, Stored("response")),
    ],
)
def test_what_responses_are_to_be_kept(sent: dict[str, Any], stored: Stored | None) -> None:
    """The provider keeps every response but where it is told not to, and continues what the request names (PRV-1)."""
    assert RESPONSES.decode({"model": "m", "input": "Hi"} | sent, {}).stored == stored


@pytest.mark.parametrize(
    ("thread", "stored"),
    [
        (None, None),
        ({"type": "create"}, Stored("thread")),
        ({"type": "continue", "previous_message_id": "msg_1"}, Stored("thread", "msg_1")),
    ],
)
def test_a_thread_of_messages(thread: dict[str, str] | None, stored: Stored | None) -> None:
    """What pi and Claude Code send where the provider keeps the conversation (PRV-1)."""
    sent = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]} | ({"thread": thread} if thread else {})
    assert MESSAGES.decode(sent, {}).stored == stored


def test_the_short_forms_of_responses_are_read() -> None:
    """A plain string is a user message, instructions come first if there are any, and a message needs no type."""
    plain = {"model": "m", "instructions": "Be brief.", "input": "Hi"}
    assert RESPONSES.decode(plain, {}).messages == (
        Message("system", (Text("Be brief."),)),
        Message("user", (Text("Hi"),)),
    )
    assert RESPONSES.decode(plain | {"instructions": ""}, {}).messages == (Message("user", (Text("Hi"),)),)
    untyped = {
        "model": "m",
        "instructions": None,
        "input": [{"role": "user", "content": "Hi"}],
        "prompt_cache_key": "k",
    }
    assert RESPONSES.decode(untyped, {}) == Prompt(
        (Message("user", (Text("Hi"),)),), model="m", session="k", stored=Stored("response"), cache_key="k"
    )


@pytest.mark.parametrize("codec", [RESPONSES, CHAT], ids=["responses", "chat"])
def test_a_refusal_is_text_of_the_model(codec: Any) -> None:
    """A refusal in a content array is read like any other words of the model."""
    sent = [{"role": "assistant", "content": [{"type": "refusal", "refusal": "I won't."}]}]
    found = codec.decode({"model": "m", "messages": sent, "input": sent}, {})
    assert found.messages == (Message("assistant", (Text("I won't."),)),)


def test_a_result_goes_out_as_its_call_did() -> None:
    """The API pairs custom_tool_call with custom_tool_call_output, and function_call with function_call_output."""
    parts = (ToolCall("c1", "n", "free"), ToolResult("c1", "a"), ToolCall("c2", "n", {}), ToolResult("c2", "b"))
    sent = RESPONSES.encode_prompt(Prompt((Message("assistant", parts),)))["input"]
    kinds = ["custom_tool_call", "custom_tool_call_output", "function_call", "function_call_output"]
    assert [item["type"] for item in sent] == kinds


def test_a_goose_request_is_read() -> None:
    """What Goose 1.52 sends becomes the canonical prompt; its session id stands in a header."""
    sent = {
        "model": "gpt-4o",
        "max_tokens": 16384,
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [{"type": "function", "function": {"name": "shell", "parameters": {}}}],
        "messages": [
            {"role": "system", "content": "You are goose."},
            {"role": "user", "content": [*wire("text", "Do"), {"type": "image_url", "image_url": {"url": "x"}}]},
            {"role": "assistant", "content": "On it.", "reasoning_content": "Hm.",
             "tool_calls": [shell("c1", '{"command":"ls"}')]},
            {"role": "tool", "tool_call_id": "c1", "content": wire("text", "a", "b")},
            {"role": "assistant", "content": None,
             "tool_calls": [shell("c2", "[broken")]},
        ],
    }  # fmt: skip
    assert CHAT.decode(over_the_wire(sent), {"agent-session-id": "20261130_1"}) == Prompt(
        messages=(
            Message("system", (Text("You are goose."),)),
            Message("user", (Text("Do"), Text("[image]"))),
            Message("assistant", (Reasoning("Hm."), Text("On it."), ToolCall("c1", "shell", {"command": "ls"}))),
            Message("tool", (ToolResult("c1", "a\nb"),)),
            Message("assistant", (ToolCall("c2", "shell", "[broken"),)),
        ),
        tools=("shell",),
        model="gpt-4o",
        session="20261130_1",
    )


def test_a_claude_code_request_is_read() -> None:
    """What Claude Code sends becomes the canonical prompt: results are told apart from the reminders around them."""
    mark = {"cache_control": {"type": "ephemeral"}}
    sent = {
        "model": "claude-opus-5-5",
        "max_tokens": 32000,
        "stream": True,
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "output_config": {"effort": "high"},
        "metadata": {"user_id": '{"device_id":"d","account_uuid":"","session_id":"s1"}'},
        "system": [{"type": "text", "text": "You are Claude Code."}, {"type": "text", "text": "Rules."} | mark],
        "tools": [
            {"name": "Bash", "description": "Runs.", "input_schema": {"type": "object"}},
            {"type": "web_search_20250305", "name": "web_search"},
        ],
        "messages": [
            {"role": "user", "content": [*wire("text", "<system-reminder>x</system-reminder>", "Do"),
             {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
                {"type": "redacted_thinking", "data": "ZGF0YQ=="},
                {"type": "text", "text": "On it."},
                {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls"}},
                {"type": "tool_use", "id": "c2", "name": "Bash", "input": {}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": wire("text", "a", "b")},
                {"type": "tool_result", "tool_use_id": "c2", "content": "no", "is_error": True} | mark,
                {"type": "text", "text": "Go on."},
                {"type": "document", "title": "a.txt",
                 "source": {"type": "text", "media_type": "text/plain", "data": "alpha"}},
                {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "AA"}}]},
            {"role": "system", "content": "A later rule."},
            {"role": "assistant", "content": "Fine."},
            {"role": "user", "content": [
                {"type": "text", "text": "Before."},
                {"type": "tool_result", "tool_use_id": "c3", "content": [{"type": "image", "source": {}}]},
                {"type": "tool_result", "tool_use_id": "c4"}]},
        ],
    }  # fmt: skip
    found = MESSAGES.decode(over_the_wire(sent), {})
    assert found == Prompt(
        messages=(
            Message("system", (Text("You are Claude Code."), Text("Rules."))),
            Message("user", (Text("<system-reminder>x</system-reminder>"), Text("Do"), Text("[image]"))),
            Message(
                "assistant",
                (
                    Reasoning("Hm.", "c2ln"),
                    Reasoning("", "ZGF0YQ=="),
                    Text("On it."),
                    ToolCall("c1", "Bash", {"command": "ls"}),
                    ToolCall("c2", "Bash", {}),
                ),
            ),
            Message("tool", (ToolResult("c1", "a\nb"), ToolResult("c2", "no"))),
            Message("user", (Text("Go on."), Blob("a.txt", "alpha"), Text("[document]"))),
            Message("system", (Text("A later rule."),)),
            Message("assistant", (Text("Fine."),)),
            Message("user", (Text("Before."),)),
            Message("tool", (ToolResult("c3", "[image]"), ToolResult("c4", ""))),
        ),
        tools=("Bash", "web_search"),
        model="claude-opus-5-5",
        settings={"thinking": "enabled", "thinking_budget": "1024", "reasoning_effort": "high"},
        session="s1",
    )


@pytest.mark.parametrize(
    ("headers", "user", "session"),
    [
        ({"x-claude-code-session-id": "a", "agent-session-id": "b"}, "x_session_c", "a"),
        ({"agent-session-id": "b"}, None, "b"),
        ({"x-session-affinity": "p"}, None, "p"),
        ({}, "user_d_account__session_c", "c"),
        ({}, '{"session_id": "j"}', "j"),
        ({}, '{"session_id": 5}', None),
        ({}, "somebody", None),
        ({}, None, None),
    ],
)
def test_the_session_of_a_messages_request(headers: dict[str, str], user: str | None, session: str | None) -> None:
    """A harness tells its session in a header, or within the id of the user."""
    sent = {"model": "m", "messages": [], "metadata": {"user_id": user}}
    assert MESSAGES.decode(sent, headers).session == session


def test_an_attached_text_survives_messages() -> None:
    """It goes out as a document with its name, and comes back with its content (ENV-8)."""
    prompt = Prompt((Message("user", (Text("Look."), Blob("a.txt", "alpha"))),), model="m")
    assert MESSAGES.decode(over_the_wire(MESSAGES.encode_prompt(prompt)), {}) == prompt


@pytest.mark.parametrize("text", ["", "[1]", '"x"', "{", "NaN", '{"a": NaN}', "1" * 5000, "[" * 100_000])
def test_arguments_that_are_no_object_stay_text(text: str) -> None:
    """Broken arguments are the model's words too: they are kept, not refused."""
    call = {"type": "function_call", "call_id": "c", "name": "n", "arguments": text}
    (message,) = RESPONSES.decode({"model": "m", "input": [call]}, {}).messages
    assert message.parts == (ToolCall("c", "n", text),)


@pytest.mark.parametrize(
    ("codec", "sent", "place"),
    [
        ("responses", {}, "input: expected an array, got nothing"),
        ("responses", {"input": 5, "model": "m"}, "input: expected an array, got a number"),
        ("responses", {"input": ["x"]}, "input[0]: expected an object, got a string"),
        ("responses", {"input": [{"type": 3}]}, "input[0].type"),
        ("responses", {"input": [{"role": "clown", "content": "x"}]}, "input[0].role: 'clown'"),
        ("responses", {"input": [{"role": "user", "content": [{"type": "text"}]}]}, "input[0].content[0].text"),
        ("responses", {"input": [{"type": "function_call", "name": "x", "arguments": "{}"}]}, "input[0].call_id"),
        ("responses", {"input": [], "instructions": True}, "instructions: expected a string, got a boolean"),
        ("responses", {"input": [], "tools": [{}]}, "tools[0].type"),
        ("responses", {"input": []}, "model: expected a string"),
        ("responses", {"input": "x", "model": "m", "previous_response_id": "a", "conversation": "b"}, "not allowed"),
        ("responses", {"input": "x", "model": "m", "previous_response_id": 5}, "previous_response_id: expected a str"),
        ("responses", {"input": "x", "model": "m", "conversation": {}}, "conversation: expected a string"),
        ("messages", {"messages": [], "model": "m", "thread": "t"}, "thread: expected an object"),
        ("messages", {"messages": [], "model": "m", "thread": {"type": "fork"}}, "thread.type: expected create"),
        ("messages", {"messages": [], "model": "m", "thread": {"type": "continue"}}, "thread.previous_message_id"),
        ("chat", {}, "messages: expected an array"),
        ("chat", {"messages": [{"role": "tool", "content": "x"}]}, "messages[0].tool_call_id"),
        ("chat", {"messages": [{"role": "assistant", "tool_calls": {}}, {}]}, "messages[1].role"),
        ("chat", {"messages": [{"role": "assistant", "tool_calls": [{"id": "c"}]}]}, "].tool_calls[0].function"),
        ("messages", {"model": "m"}, "messages: expected an array, got nothing"),
        ("messages", {"messages": []}, "model: expected a string"),
        ("messages", {"messages": [{"role": "tool"}]}, "messages[0].role: 'tool'"),
        ("messages", {"messages": [{"role": "user", "content": 5}]}, "messages[0].content: expected an array"),
        ("messages", {"messages": [{"role": "user", "content": [{}]}]}, "messages[0].content[0].type"),
        ("messages", {"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]}, ".tool_use_id"),
        ("messages", {"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "n"}]}]},
         "messages[0].content[0].input: expected an object"),
        ("messages", {"messages": [{"role": "user", "content": [{"type": "document"}]}]}, "[0].source"),
        ("messages", {"messages": [], "model": "m", "system": True}, "system: expected an array"),
        ("messages", {"messages": [], "model": "m", "tools": [{}]}, "tools[0].name"),
    ],
)  # fmt: skip
def test_a_malformed_request_names_its_place(codec: str, sent: dict[str, Any], place: str) -> None:
    """What a codec can't read is refused with the place in the body."""
    with pytest.raises(MalformedRequestError) as refusal:
        CODECS[codec].decode(sent, {})
    assert place in str(refusal.value)
    assert refusal.value.status == 400


KEYS = st.sampled_from(
    ("input", "messages", "role", "content", "type", "text", "tools", "tool_calls", "call_id", "id", "name", "model",
     "function", "arguments", "summary", "reasoning", "action", "instructions", "tool_call_id", "custom", "output",
     "system", "source", "data", "thread", "previous_message_id", "previous_response_id", "conversation",
      "thinking", "signature", "tool_use_id", "title", "metadata", "user_id")
)  # fmt: skip
VALUES = st.sampled_from(
    ("user", "assistant", "tool", "message", "function_call", "reasoning", "text", "custom", "m", "x_call_output",
     "tool_use", "tool_result", "thinking", "redacted_thinking", "document")
)  # fmt: skip
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=20,
)


@every
@some.patient
@given(sent=st.dictionaries(KEYS, JUNK, max_size=6))
@example(sent={"model": "m", "input": "x", "messages": []})
def test_no_body_breaks_a_codec(codec: Any, sent: dict[str, Any]) -> None:
    """Any JSON object is either read or refused, never answered by another exception."""
    try:
        found = codec.decode(sent, {})
    except MalformedRequestError:
        return
    assert isinstance(found, Prompt)


def test_the_codecs_cost_no_http_library() -> None:
    """Only the server module imports aiohttp, so that runs without a real harness never pay for it."""
    program = (
        "import sys; from forkproof.adapters.model.codec import codecs; codecs(); "
        "import forkproof.adapters.model.body; sys.exit('aiohttp' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
