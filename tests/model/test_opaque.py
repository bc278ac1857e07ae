"""Opaque thinking over each wire: what a client sends back is verified byte for byte (clauses PRV-4, PRV-5)."""

import json
from typing import Any

import pytest

from forkproof.adapters.model.codec import Ids, Rendering, codecs
from forkproof.adapters.model.given import Given
from forkproof.adapters.model.items import items_of
from forkproof.adapters.model.markers import Markers
from forkproof.adapters.prompt import Prompt
from forkproof.adapters.protocol import ModelReply, Say, Think
from tests import prompt_strategies as some

MARKERS = Markers("7f3a1c")
TEXT = MARKERS.mark("Let me see, ünï.", "plan.think")
CODECS = codecs()


def think(form: Any) -> Think:
    return Think("plan.think", TEXT, MARKERS.opaque("plan.think"), form)


def given(*parts: Think) -> Given:
    found = Given()
    found.add(ModelReply((*parts, Say(MARKERS.mark("Yes.", "plan.say")))), Prompt((), model="deep"), MARKERS)
    return found


def answered(wire: str, thought: Think) -> Any:
    """The thinking in a whole answer, as a client holds it."""
    rendering = Rendering(some.native, Ids("7f3a"), 1_700_000_000, "deep")
    whole = json.loads(json.dumps(CODECS[wire].whole(ModelReply((thought, Say("x"))), rendering)))
    return (whole["content"] if wire == "messages" else whole["output"])[0]


def read(wire: str, block: Any, found: Given) -> list[tuple[str, str | None]]:
    """The items in a request that holds this block again."""
    messages = [{"role": "assistant", "content": [block]}]
    body = {"model": "deep", "messages": messages} if wire == "messages" else {"model": "deep", "input": [block]}
    prompt = CODECS[wire].decode(json.loads(json.dumps(body)), {})
    return [(item.name, item.status) for item in items_of(prompt, MARKERS, found)]


def changed(text: str) -> str:
    return ("B" if text[0] == "A" else "A") + text[1:]


@pytest.mark.parametrize("form", ["signed", "encrypted"])
@pytest.mark.parametrize("wire", ["responses", "messages"])
def test_what_comes_back_as_it_was_is_intact(wire: str, form: str) -> None:
    """A client that keeps the block as it got it passes, in both forms on both wires."""
    assert read(wire, answered(wire, think(form)), given(think(form))) == [("plan.think", "intact")]


@pytest.mark.parametrize(
    ("wire", "form", "member"),
    [
        ("messages", "signed", "signature"),
        ("messages", "encrypted", "data"),
        ("responses", "signed", "encrypted_content"),
        ("responses", "encrypted", "encrypted_content"),
    ],
)
@pytest.mark.parametrize("how", [changed, str.lower, lambda text: text[:-1], lambda text: text + " "])
def test_one_byte_of_the_opaque_form_tells(wire: str, form: str, member: str, how: Any) -> None:
    """Another byte, another case, cut short, or with a space: none of it is what the model gave."""
    block = answered(wire, think(form))
    ((_, status),) = read(wire, block | {member: how(block[member])}, given(think(form)))
    assert status == "altered"


def test_signed_thinking_belongs_to_its_text() -> None:
    """The signature covers the text: another text, or none, is altered; what is encrypted may go without it."""
    block = answered("messages", think("signed"))
    for text in (TEXT[:-1], TEXT.replace("ü", "u"), ""):
        assert read("messages", block | {"thinking": text}, given(think("signed"))) == [("plan.think", "altered")]
    sealed = answered("responses", think("encrypted"))
    assert read("responses", sealed | {"summary": []}, given(think("encrypted"))) == [("plan.think", "intact")]


def test_plain_thinking_of_messages_has_no_state() -> None:
    """Its signature is made up, because that wire has no thinking without one: it proves nothing and breaks nothing."""
    plain = Think("plan.think", TEXT)
    assert read("messages", answered("messages", plain), given(plain)) == [("plan.think", None)]


def test_an_opaque_form_that_was_never_given_is_told() -> None:
    """A signature from elsewhere is no thinking of this model."""
    block = {"type": "redacted_thinking", "data": "bWFkZSB1cA=="}
    assert read("messages", block, given(think("signed"))) == [("unknown.think", "altered")]
