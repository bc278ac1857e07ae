"""What a provider keeps and what is bound to it: the suite's store, opaque thinking, shared ids, broken streams."""

import json
from collections.abc import Sequence

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkproof.adapters.model.codec import Ids, Rendering, codecs
from forkproof.adapters.model.given import Given
from forkproof.adapters.model.items import Item, items_of
from forkproof.adapters.model.markers import Markers
from forkproof.adapters.model.remote import ProviderStore, UnknownStateError
from forkproof.adapters.prompt import (
    Blob,
    Message,
    Part,
    Prompt,
    Reasoning,
    Stored,
    Text,
    ToolCall,
    ToolResult,
    as_json,
)
from forkproof.adapters.protocol import Drop, ModelReply, Say, Stall, Think, ToolUse
from forkproof.reference.provider import Kept, cache_key, continuation
from forkproof.reference.session import Header
from tests import prompt_strategies as some
from tests.loopback import Scripted, run, serving

MARKERS = Markers("7f3a1c")
HELLO = ModelReply((Say("Hello."),))


def user(text: str) -> Message:
    return Message("user", (Text(text),))


def said(prompt: Prompt) -> list[str]:
    return [part.content for message in prompt.messages for part in message.parts if isinstance(part, Text)]


# --- The store -------------------------------------------------------------------------------------------------------


def kept(store: ProviderStore, *messages: Message, stored: Stored, reply: ModelReply = HELLO) -> str:
    prompt = Prompt(messages, stored=stored)
    return store.keep(prompt, store.effective(prompt), reply)


def test_a_response_is_a_state_that_never_changes() -> None:
    """Two requests that continue one response make two states, neither of which holds the other's (PRV-1)."""
    store = ProviderStore("7f3a1c")
    first = kept(store, user("one"), stored=Stored("response"))
    left = kept(store, user("left"), stored=Stored("response", first))
    right = kept(store, user("right"), stored=Stored("response", first))
    assert len({first, left, right}) == 3
    read = store.effective(Prompt((user("more"),), stored=Stored("response", left)))
    assert said(read) == ["one", "Hello.", "left", "Hello.", "more"]


def test_a_conversation_grows_under_its_id() -> None:
    """Whoever names it adds to it, and reads all that anyone added: that is why a fork needs one of its own (PRV-1)."""
    store = ProviderStore("7f3a1c")
    first = kept(store, user("one"), stored=Stored("conversation"))
    assert kept(store, user("two"), stored=Stored("conversation", first)) == first
    read = store.effective(Prompt((user("three"),), stored=Stored("conversation", first)))
    assert said(read) == ["one", "Hello.", "two", "Hello.", "three"]
    assert kept(store, user("x"), stored=Stored("conversation")) != first


@pytest.mark.parametrize(
    ("stored", "status", "code"),
    [
        (Stored("response", "resp_none"), 400, "previous_response_not_found"),
        (Stored("conversation", "conv_none"), 404, ""),
        (Stored("thread", "msg_none"), 404, "thread_not_found"),
    ],
)
def test_an_unknown_id_is_refused(stored: Stored, status: int, code: str) -> None:
    """As the real interfaces do it: a made-up id never falls back to an empty conversation (PRV-7)."""
    with pytest.raises(UnknownStateError, match="not found") as refusal:
        ProviderStore("7f3a1c").effective(Prompt((user("x"),), stored=stored))
    assert (refusal.value.status, refusal.value.code) == (status, code)


def test_a_state_is_not_continued_as_another_kind() -> None:
    """An id of a response is no id of a conversation."""
    store = ProviderStore("7f3a1c")
    response = kept(store, user("one"), stored=Stored("response"))
    with pytest.raises(UnknownStateError):
        store.effective(Prompt((user("x"),), stored=Stored("conversation", response)))


def test_what_is_kept_and_what_is_not() -> None:
    """Instructions come anew with every request; nothing is kept unasked, or of an answer that breaks off."""
    store = ProviderStore("7f3a1c")
    id_ = kept(store, Message("system", (Text("Be brief."),)), user("one"), stored=Stored("response"))
    assert said(store.effective(Prompt((), stored=Stored("response", id_)))) == ["one", "Hello."]
    plain = Prompt((user("one"),))
    assert store.effective(plain) is plain
    assert store.keep(plain, plain, HELLO) == ""
    assert kept(store, user("x"), stored=Stored("response"), reply=ModelReply((Say("a"), Drop()))) == ""
    assert kept(store, user("x"), stored=Stored("response", id_, keep=False)) == ""


def test_a_held_answer_is_kept_when_it_is_whole() -> None:
    """Its id is known from the start, and continued only once the answer came to its end (PRV-7)."""
    store = ProviderStore("7f3a1c")
    held = ModelReply((Stall("first"), Say("a"), Stall("gate"), Say("b")))
    id_ = kept(store, user("x"), stored=Stored("response"), reply=held)
    more = Prompt((user("more"),), stored=Stored("response", id_))
    for _ in range(2):
        with pytest.raises(UnknownStateError):
            store.effective(more)
        store.released("first")
    store.released("gate")
    assert said(store.effective(more)) == ["x", "a", "b", "more"]


def test_what_a_conversation_gained_meanwhile_stands_before() -> None:
    """Two answers to one conversation at the same time are both in it, in the order of their ends (PRV-1)."""
    store = ProviderStore("7f3a1c")
    id_ = kept(store, user("one"), stored=Stored("conversation"))
    kept(store, user("slow"), stored=Stored("conversation", id_), reply=ModelReply((Stall("gate"), Say("Late."))))
    kept(store, user("fast"), stored=Stored("conversation", id_))
    store.released("gate")
    read = store.effective(Prompt((), stored=Stored("conversation", id_)))
    assert said(read) == ["one", "Hello.", "fast", "Hello.", "slow", "Late."]


# --- Threads ---------------------------------------------------------------------------------------------------------


def thread(store: ProviderStore, *messages: Message, after: str | None = None, model: str = "m") -> str:
    tools = ("bash",) if after is None else ()
    prompt = Prompt(messages, tools, model, {"thinking": "adaptive"}, stored=Stored("thread", after))
    return store.keep(prompt, store.effective(prompt), HELLO)


def test_a_thread_keeps_all_of_a_request() -> None:
    """Whoever continues it sends neither the instructions nor the tools again, and the model has both."""
    store = ProviderStore("7f3a1c")
    first = thread(store, Message("system", (Text("Be brief."),)), user("one"))
    second = thread(store, user("two"), after=first)
    read = store.effective(Prompt((user("x"),), (), "m", {"thinking": "adaptive"}, stored=Stored("thread", second)))
    assert said(read) == ["Be brief.", "one", "Hello.", "two", "Hello.", "x"]
    assert read.tools == ("bash",)


def test_an_answer_of_a_thread_is_continued_once() -> None:
    """A source and its fork can't both go on from one answer: that is why a fork needs a thread of its own (PRV-1)."""
    store = ProviderStore("7f3a1c")
    first = thread(store, user("one"))
    second = thread(store, user("left"), after=first)
    with pytest.raises(UnknownStateError) as refusal:
        thread(store, user("right"), after=first)
    assert (refusal.value.status, refusal.value.code) == (400, "thread_already_continued")
    places = {store.place(Stored("thread", before), id_) for before, id_ in ((None, first), (first, second))}
    assert places == {first}


def test_a_thread_is_bound_to_its_settings() -> None:
    """Another model or effort is another thread; the refusal names what differs."""
    store = ProviderStore("7f3a1c")
    first = thread(store, user("one"))
    with pytest.raises(UnknownStateError, match="in: model") as refusal:
        thread(store, user("two"), after=first, model="other")
    assert refusal.value.code == "thread_fingerprint_mismatch"
    assert thread(store, user("two"), after=first) != first


# --- What the model gave ---------------------------------------------------------------------------------------------


def gave(*parts: Say | Think | ToolUse, model: str = "deep") -> Given:
    found = Given()
    found.add(ModelReply(parts), Prompt((), model=model), MARKERS)
    return found


def seen(found: Given, *parts: Part) -> list[tuple[str, str | None]]:
    prompt = Prompt((Message("assistant", parts),))
    return [(item.name, item.status) for item in items_of(prompt, MARKERS, found)]


SIGNED = Think("plan.think", MARKERS.mark("Let me see.", "plan.think"), MARKERS.opaque("plan.think"), "signed")
SEALED = Think("plan.think.2", MARKERS.mark("So be it.", "plan.think.2"), MARKERS.opaque("plan.think.2"), "encrypted")


def test_opaque_thinking_is_intact_only_byte_for_byte() -> None:
    """A signature covers its text; what is encrypted may go without it; anything else is altered (PRV-4, PRV-5)."""
    found = gave(SIGNED, SEALED)
    text, opaque = SIGNED.text, SIGNED.opaque
    assert seen(found, Reasoning(text, opaque)) == [("plan.think", "intact")]
    for altered in (Reasoning(text[:-1], opaque), Reasoning(text, opaque[:-1]), Reasoning(text), Reasoning("", opaque)):
        assert seen(found, altered) == [("plan.think", "altered")]
    assert seen(found, Reasoning("", SEALED.opaque)) == [("plan.think.2", "intact")]
    assert seen(found, Reasoning("", SEALED.opaque.lower())) == [("unknown.think", "altered")]


def test_thinking_that_is_not_the_traces_makes_no_item() -> None:
    """A harness's own plain thinking is noise; the trace's plain thinking is known by its marker, and has no state."""
    plain = Think("plan.think", MARKERS.mark("Hm.", "plan.think"))
    assert seen(gave(plain), Reasoning("Something else."), Reasoning(plain.text)) == [("plan.think", None)]


def test_it_is_told_what_depends_on_thinking_and_who_made_it() -> None:
    """That is the item behind it in the same answer; thinking at an answer's end has none."""
    found = gave(SIGNED, ToolUse("call_1", "look", "read", "a.txt", "", ""), SEALED, model="deep")
    assert (found.thoughts["plan.think"].dependent, found.thoughts["plan.think"].maker) == ("look.call", "deep")
    assert found.thoughts["plan.think.2"].dependent == ""


def _use(name: str, path: str) -> ToolUse:
    return ToolUse("call_1", name, "read", path, MARKERS.tag(f"{name}.start"), MARKERS.tag(f"{name}.end"))


def _result(name: str) -> ToolResult:
    return ToolResult("call_1", f"{MARKERS.tag(f'{name}.start')}\nx\n{MARKERS.tag(f'{name}.end')}")


def test_calls_that_share_an_id_are_told_apart() -> None:
    """By their arguments, and the results by the tool's own markers, also where the older call is gone (TOOL-5)."""
    found = gave(_use("first", "a.txt"), _use("second", "b.txt"))
    one, two = (ToolCall("call_1", "read", {"path": path}) for path in ("a.txt", "b.txt"))
    assert [n for n, _ in seen(found, one, _result("first"), two, _result("second"))] == [
        "first.call", "first.result", "second.call", "second.result",
    ]  # fmt: skip
    assert [n for n, _ in seen(found, two, _result("second"))] == ["second.call", "second.result"]
    assert [n for n, _ in seen(found, two, _result("first"))] == ["second.call", "first.result"]


def test_an_attachment_is_an_item_only_with_its_content() -> None:
    """A name or a placeholder in its place is none (ENV-8)."""
    whole = Blob("a.txt", MARKERS.mark("alpha", "plan.attachment"))
    prompt = Prompt((Message("user", (Text("[a.txt]"), whole)),))
    assert items_of(prompt, MARKERS) == (Item("plan.attachment", "user"),)
    assert as_json(prompt)["messages"][0]["parts"][1] == {"type": "blob", "name": "a.txt", "content": whole.content}


# --- The reference's decisions ---------------------------------------------------------------------------------------

WORDS = st.lists(st.sampled_from("abc"), max_size=5).map(lambda words: tuple(map(user, words)))
STATES = st.dictionaries(
    st.from_regex(r"s[0-9]{1,2}", fullmatch=True),
    st.builds(Kept, st.sampled_from(["response", "conversation"]), st.sampled_from(["main", "alt"]), WORDS),
    max_size=6,
)


@given(WORDS, STATES, st.sampled_from(["response", "conversation"]))
def test_what_is_kept_and_what_is_sent_make_the_context(
    messages: Sequence[Message], states: dict[str, Kept], kind: str
) -> None:
    """Whatever is kept, the model reads the whole context, once, and no conversation of another (PRV-1, PRV-2)."""
    found = continuation(tuple(messages), states, kind, "alt")  # type: ignore[arg-type]  # one of the two literals
    before = states[found.id].messages if found.id is not None else ()
    assert (*before, *found.rest) == tuple(messages)
    if found.id is not None:
        assert states[found.id].kind == kind
        assert kind == "response" or states[found.id].session == "alt"


def test_a_family_shares_its_cache_key_if_so_chosen() -> None:
    """The key is apart from the identity: kept for a shared beginning, or new, or none (PRV-3)."""
    root, child = Header("s1", "/w", {}), Header("s2", "/w", {}, family="s1")
    assert cache_key(root, "shared") == cache_key(child, "shared") != root.id
    assert cache_key(root, "own") != cache_key(child, "own")
    assert cache_key(root, "none") is None


# --- On the wire -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wire", ["responses", "chat", "messages"])
@pytest.mark.parametrize("stream", [True, False])
def test_a_dropped_answer_is_a_broken_connection(wire: str, stream: bool) -> None:
    """The client never sees a complete answer, and the server has nothing to complain of."""

    async def story() -> None:
        model = Scripted(Say("before"), Drop())
        async with serving(model) as (server, harness):

            async def read() -> bytes:
                async with harness.ask(wire, stream=stream) as answer:
                    return bytes(await answer.content.read())

            with pytest.raises(aiohttp.ClientError):
                await read()
            assert server.oddities == ()

    run(story)


def test_thinking_and_stored_ids_go_out_in_responses() -> None:
    """Thinking is an item with its opaque form, and the id of what is kept is the response's own; chat has neither."""
    reply = ModelReply((SEALED, Say("Done.")), stored="resp_kept")
    rendering = Rendering(some.native, Ids("7f3a"), 1_700_000_000, "fake-model")
    whole = codecs()["responses"].whole(reply, rendering)
    assert whole["id"] == "resp_kept"
    thinking, message = whole["output"]
    assert (thinking["type"], thinking["encrypted_content"]) == ("reasoning", SEALED.opaque)
    assert message["type"] == "message"
    streamed = b"".join(f for f in codecs()["responses"].stream(reply, rendering) if isinstance(f, bytes)).decode()
    assert json.dumps(SEALED.opaque) in streamed
    sent = codecs()["chat"].whole(reply, rendering)
    assert sent["choices"][0]["message"]["content"] == "Done."
    assert SEALED.opaque not in json.dumps(sent)


def test_sent_back_thinking_is_known_again() -> None:
    """What a client of Responses sends back decodes to the thinking that was given, byte for byte (PRV-5)."""
    codec = codecs()["responses"]
    prompt = Prompt((Message("assistant", (Reasoning(SEALED.text, SEALED.opaque),)),), model="deep")
    assert seen(gave(SEALED), *codec.decode(codec.encode_prompt(prompt), {}).messages[0].parts) == [
        ("plan.think.2", "intact")
    ]
