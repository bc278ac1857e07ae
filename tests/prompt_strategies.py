"""Hypothesis strategies for canonical prompts and model replies, and each wire format's normal form of a prompt."""

import itertools
import json
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from forkproof.adapters.prompt import Message, Prompt, Reasoning, Stored, Text, ToolCall, ToolResult
from forkproof.adapters.protocol import ModelReply, NativeCall, Say, Stall, ToolUse

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine must not read as a failing property."""

NASTY = (
    "\u2028", "\u2029", "\x85", "\r\n", "\r", "\n\n", "\x00", "\x1b[0m", "\ufeff", "data: [DONE]", "event: x\n", "{}",
    "[", '"', "\\", "\\u2028", "\ud800", "\udfff", "😀", "e\u0301", "fp7f3a.plan.user", " ", "</turn-context>",
)  # fmt: skip


def as_json_carries(value: Any) -> Any:
    """The value as JSON gives it back: two surrogates that form a pair become one character."""
    return json.loads(json.dumps(value))


words = st.text(st.characters(exclude_categories=()), max_size=40)
texts = st.lists(st.sampled_from(NASTY) | words, max_size=4).map("".join).map(as_json_carries)
names = st.from_regex(r"[a-z][a-z0-9_]{0,20}", fullmatch=True)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(texts, json_values, max_size=3).map(as_json_carries)


# --- Prompts ---------------------------------------------------------------------------------------------------------

calls = st.builds(ToolCall, texts, names, objects | texts)
reasonings = st.builds(Reasoning, texts, texts)
says = st.builds(Text, texts)
results = st.builds(ToolResult, texts, texts)


def _message(role: str, parts: st.SearchStrategy[Any], smallest: int = 0) -> st.SearchStrategy[Message]:
    return st.builds(Message, st.just(role), st.lists(parts, min_size=smallest, max_size=4).map(tuple))


messages = st.one_of(
    _message("system", says),
    _message("user", says),
    _message("assistant", says | calls | reasonings),
    _message("tool", results, 1),
)
flags = st.sampled_from(("true", "false"))
shared_settings = {
    "reasoning_effort": texts,
    "temperature": st.floats(0, 2).map(json.dumps),
    "parallel_tool_calls": flags,
    "tool_choice": texts,
}
chat_settings = shared_settings | {"store": flags}
remote_states = st.none() | st.one_of(
    st.builds(Stored, st.just("response"), st.none(), st.just(value=True)),
    st.builds(Stored, st.sampled_from(("response", "conversation")), texts, st.booleans()),
)
threads = st.none() | st.builds(Stored, st.just("thread"), st.none() | texts)


messages_settings = {
    "reasoning_effort": texts,
    "thinking": texts,
    "thinking_budget": st.integers(0, 9999).map(json.dumps),
    "temperature": st.floats(0, 2).map(json.dumps),
    "tool_choice": texts,
}
messages_prompts = st.builds(
    Prompt,
    st.lists(messages, max_size=6).map(tuple),
    tools=st.lists(names, max_size=3).map(tuple),
    model=texts,
    settings=st.fixed_dictionaries({}, optional=messages_settings),
    session=st.none() | texts,
    stored=threads,
)
"""Any prompt that Anthropic Messages can carry."""


def prompts(*, remote: bool) -> st.SearchStrategy[Prompt]:
    """Any prompt of OpenAI's formats; with `remote`, it may continue a state that the provider keeps."""
    return st.builds(
        Prompt,
        st.lists(messages, max_size=6).map(tuple),
        tools=st.lists(names, max_size=3).map(tuple),
        model=texts,
        settings=st.fixed_dictionaries({}, optional=shared_settings if remote else chat_settings),
        session=st.none() | texts,
        stored=remote_states if remote else st.none(),
        cache_key=st.none() | texts,
    )


def responses_form(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Neighbouring texts stay together; every other part is a message of its own."""
    return tuple(
        Message(message.role, tuple(run))
        for message in messages
        for run in (_runs(message.parts, lambda a, b: isinstance(a, Text) and isinstance(b, Text)) or [[]])
    )


def chat_form(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """One reasoning, then texts, then calls; each result alone; nothing opaque and no empty reasoning."""
    rank = {Reasoning: 0, Text: 1, ToolCall: 2, ToolResult: 3}

    def together(before: Any, after: Any) -> bool:
        first, second = rank[type(before)], rank[type(after)]
        return first < second or first == second in (1, 2)

    return tuple(
        Message(message.role, tuple(Reasoning(p.content) if isinstance(p, Reasoning) else p for p in run if _spoken(p)))
        for message in messages
        for run in (_runs(message.parts, together) or [[]])
    )


def messages_form(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """A call's arguments are an object; all else is as it was."""
    return tuple(Message(message.role, tuple(map(_with_object, message.parts))) for message in messages)


def _with_object(part: Any) -> Any:
    if isinstance(part, ToolCall) and isinstance(part.arguments, str):
        return ToolCall(part.id, part.name, {"input": part.arguments})
    return part


def _spoken(part: Any) -> bool:
    return not isinstance(part, Reasoning) or part.content != ""


def _runs(parts: tuple[Any, ...], together: Any) -> list[list[Any]]:
    runs: list[list[Any]] = [[part] for part in parts[:1]]
    for before, after in itertools.pairwise(parts):
        if together(before, after):
            runs[-1].append(after)
        else:
            runs.append([after])
    return runs


# --- Replies ---------------------------------------------------------------------------------------------------------

natives = st.builds(NativeCall, names, objects) | st.builds(NativeCall, names, texts, st.booleans())
uses = st.builds(ToolUse, texts, names, st.just("run"), natives, st.just(""), st.just(""))
replies = st.builds(ModelReply, st.lists(st.builds(Say, texts) | uses | st.builds(Stall, names), max_size=5).map(tuple))


def native(use: ToolUse) -> NativeCall:
    """The native call that a generated use carries as its arguments."""
    assert isinstance(use.arguments, NativeCall)
    return use.arguments
