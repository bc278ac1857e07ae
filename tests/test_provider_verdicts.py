"""Verdicts about the provider: a PASS needs something seen, and each fault fails under the clause that it breaks."""

import asyncio
import textwrap
from collections.abc import Sequence
from dataclasses import replace

import pytest

from forkproof.adapters.inprocess import ReferenceAdapter
from forkproof.adapters.model.script import ScriptedModel
from forkproof.adapters.protocol import Deadlines, Trial
from forkproof.conformance.contract import load_contract
from forkproof.conformance.judge import judge
from forkproof.conformance.trace.checks import check_ids
from forkproof.conformance.trace.lint import lint
from forkproof.conformance.trace.load import load_bytes
from forkproof.conformance.trial import observe
from forkproof.reference.entries import Entry
from forkproof.reference.rules import RULES
from forkproof.reference.semantics import Semantics

STORY = """
trace: 1
title: A fork of a remote conversation
needs: [fork.before, NEEDS]
steps:
  - turn: one
    user: One.
    model: [MODEL]
  - turn: two
    user: Two.
    model: [{say: Two.}]
  - fork: alt
    before: two
    SETTINGS
  - turn: three
    in: alt
    user: Three.
    model: [{say: Three.}]
    expect:
      - PRV-1: EXPECT
"""


def story(expect: str, *, needs: str = "provider.remote", model: str = "{say: One.}", settings: str = "") -> str:
    text = STORY.replace("EXPECT", expect).replace("NEEDS", needs).replace("MODEL", model)
    return text.replace("    SETTINGS\n", f"    settings: {settings}\n" if settings else "")


def verdict(text: str, adapter: ReferenceAdapter | None = None) -> tuple[str, str]:
    """The verdict of the only check, and its reason."""
    loaded = load_bytes(textwrap.dedent(text).encode(), slug="t/story")
    seen = asyncio.run(observe(adapter or ReferenceAdapter(), loaded.trace, loaded.slug, 1, Deadlines()))
    (result,) = judge(loaded.trace, check_ids(loaded), seen, load_contract())
    return result.verdict.value, result.reason


class Forgetful(ReferenceAdapter):
    """Declares that the provider keeps conversations, and never asks it to."""

    async def start(self, trial: Trial) -> object:  # type: ignore[override]  # only its effect counts
        return await super().start(replace(trial, keeping=None))


@pytest.mark.parametrize("expect", ["{continues: [one, none]}", "{effective_prompt: [one.user, one.say, three.user]}"])
def test_what_was_never_kept_proves_nothing(expect: str) -> None:
    """A harness that sends everything each time was not put to the test, although the model read the right thing."""
    assert verdict(story(expect))[0] == "PASS"
    said = verdict(story(expect), Forgetful())
    assert said[0] == "UNTESTABLE"
    assert "keep nothing" in said[1]


def test_writers_of_what_was_never_kept() -> None:
    """Nobody wrote anywhere, so nobody wrote to the wrong place: untestable."""
    text = story("{remote_writers: {alt: [alt]}}", needs="provider.conversation")
    assert verdict(text)[0] == "PASS"
    assert verdict(text, Forgetful()) == ("UNTESTABLE", "nothing of alt was kept by the provider in this run")


@pytest.mark.parametrize(
    ("fields", "choice", "expected"),
    [
        ("{cache_key: same, session: differs}", "shared", "PASS"),
        ("{cache_key: same}", "own", "FAIL"),
        ("{cache_key: differs}", "own", "PASS"),
        ("{cache_key: absent}", "none", "PASS"),
        ("{cache_key: absent}", "shared", "FAIL"),
        ("{remote_id: differs}", "shared", "FAIL"),
        ("{session: same}", "shared", "FAIL"),
    ],
)
def test_fields_against_the_source(fields: str, choice: str, expected: str) -> None:
    """Each field is compared with the newest request of the fork's source before it."""
    said = verdict(story(f"{{provider: {fields}}}", needs="provider.conversation"), adapter(choice))
    assert said[0] == expected


def adapter(choice: str) -> ReferenceAdapter:
    return ReferenceAdapter(Semantics(cache_key=choice))  # type: ignore[arg-type]  # the choices of the test above


def test_thinking_that_was_never_given() -> None:
    """The answer failed before it: whatever the request holds, nothing is proved."""
    text = story(
        "{thinking: {one.think: intact}}",
        needs="thinking.signed",
        model="{fail: 500}, {think: Hm., signed: true}, {say: One.}",
    )
    assert verdict(text)[0] == "UNTESTABLE"


THINKS = "{think: Hm., signed: true}, {say: One.}"


def test_thinking_that_need_not_be_left_out() -> None:
    """`absent` is no fault of a harness that asks the same model again."""
    text = story("{thinking: {one.think: absent}}", needs="thinking.signed", model=THINKS)
    assert verdict(text) == ("UNTESTABLE", "the model that made one.think is asked, which may well be sent it")


def _stripped(entries: Sequence[Entry], model: str) -> Sequence[Entry]:
    return RULES.thinking(entries, f"not {model}")


def test_thinking_that_is_left_out_is_as_good_as_intact() -> None:
    """The contract leaves that to the harness, so a sequence without it is fine too."""
    leaves_out = ReferenceAdapter(rules=replace(RULES, thinking=_stripped))
    expect = "{thinking: {one.think: intact}, prompt: [one.user, one.say, three.user]}"
    text = story(expect, needs="thinking.signed", model=THINKS)
    assert verdict(text, leaves_out)[0] == verdict(text)[0] == "PASS"


def test_thinking_for_another_model() -> None:
    """Sent on as it was, it fails by naming both models."""
    careless = ReferenceAdapter(rules=replace(RULES, thinking=lambda entries, _: entries))
    text = story(
        "{thinking: {one.think: intact}}", needs="settings, thinking.signed", model=THINKS, settings="{model: other}"
    )
    assert verdict(text)[0] == "PASS"
    said = verdict(text, careless)
    assert said[0] == "FAIL"
    assert "made by reference-model and is sent to other" in said[1]


def test_a_refused_request_is_no_turn_of_the_script() -> None:
    """The provider's 404 reaches the harness, and the request is seen with the reason (PRV-7)."""
    made_up = ReferenceAdapter(
        rules=replace(RULES, continuation=lambda *asked: RULES.continuation(*asked)._replace(id="resp_mine"))
    )
    said = verdict(story("{continues: [one, none]}"), made_up)
    assert said[0] == "FAIL"
    assert "with id 'resp_mine' not found" in said[1]


@pytest.mark.parametrize(
    ("expect", "needs", "problem"),
    [
        ("{continues: [ones, none]}", "provider.remote", "FPL021 no turn `ones`; did you mean `one`?"),
        ("{remote_writers: {alt: [all]}}", "provider.remote", "FPL021 no session `all`; did you mean `alt`?"),
        ("{thinking: {one.say: intact}}", "provider.remote", "FPL021 no thinking `one.say`"),
        ("{continues: [one]}", "tool.read", "FPL031 this uses `provider.remote`, which `needs` does not declare"),
        ("{effective_prompt: [three.say]}", "provider.remote", "FPL042 `three.say` comes after this request was sent"),
        ("{prompt: []}", "attachments", "FPL032 nothing in the trace uses `attachments`"),
    ],
)
def test_what_the_linter_says(expect: str, needs: str, problem: str) -> None:
    """Names and capabilities of the provider are looked at as all others are."""
    found = lint(load_bytes(story(expect, needs=needs).encode(), slug="t/story"))
    assert problem in [f"{p.code} {p.message}" for p in found]


def test_a_stream_is_held_under_its_name_only() -> None:
    """The player lets go a waiting command or a held stream, whichever bears the name."""
    from forkproof.adapters.model.markers import Markers
    from forkproof.adapters.protocol import ModelReply, Say, Stall

    model = ScriptedModel(Markers("7f3a1c"), lambda _: None)
    assert not model.holds("gate")
    model.begin_turn("one", (ModelReply((Stall("gate"), Say("x"))),))
    assert model.holds("gate")
    assert not model.holds("other")
