"""The person whom the suite plays: how questions are answered, held open, and what hooks say."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from forkproof.adapters.inprocess import ReferenceAdapter
from forkproof.adapters.model.markers import Markers
from forkproof.adapters.protocol import HookRun, HookSaid, Question
from forkproof.conformance.engine import Played
from forkproof.conformance.person import ScriptedPerson
from forkproof.conformance.trace.settings import HookDefinition
from tests.broken_references import play

MARKERS = Markers("0000ab")


def about(call: str) -> Question:
    return Question("session-1", MARKERS.call_id(call))


def run(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(story())


def test_a_question_is_answered_as_the_trace_says() -> None:
    """What the trace says nothing about is not allowed: a harness that asks too much gets no further for it."""

    async def story() -> None:
        person = ScriptedPerson(MARKERS)
        person.prepare({"push": "allow_once"}, None)
        assert await person.permit(about("push")) == "allow_once"
        assert await person.permit(about("other")) == "reject"
        assert [question.call for question in person.asked] == ["push", "other"]

    run(story)


def test_an_open_question_waits_for_its_step() -> None:
    """`until: push.asked` and then `approve`; a second answer has nothing to answer."""

    async def story() -> None:
        person = ScriptedPerson(MARKERS)
        person.prepare({}, "push")
        waiting = asyncio.ensure_future(person.permit(about("push")))
        await person.questioned("push")
        assert not waiting.done()
        assert person.answer("push", "allow_for_session")
        assert await waiting == "allow_for_session"
        assert not person.answer("push", "reject")

    run(story)


def test_a_question_that_is_withdrawn_is_open_no_more() -> None:
    """The turn that asked was cancelled."""

    async def story() -> None:
        person = ScriptedPerson(MARKERS)
        person.prepare({}, "push")
        waiting = asyncio.ensure_future(person.permit(about("push")))
        await person.questioned("push")
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert not person.answer("push", "allow_once")

    run(story)


def test_hooks_say_what_the_trace_gives_them() -> None:
    """A context goes out with its marker; a hook that nobody installed says nothing."""
    hooks = [
        HookDefinition(hook="rules", at="start", context="Be brief."),
        HookDefinition(hook="no", at="before-fork", cancels=True),
    ]
    person = ScriptedPerson(MARKERS, hooks)
    assert person.run_hook(HookRun("rules", "s")) == HookSaid("Be brief. [fp0000ab.rules.context]")
    assert person.run_hook(HookRun("no", "s")) == HookSaid(cancels=True)
    assert person.run_hook(HookRun("stranger", "s")) == HookSaid()
    assert [each.hook for each in person.hook_runs] == ["rules", "no", "stranger"]


STORY = """
trace: 1
title: Questions that never come
needs: [approvals, tool.count]
settings: {{permissions: {mode}}}
steps:
  - turn: deploy
    user: Deploy.
    model: {model}
    until: push.asked
    expect:
      - AUT-4: {{asked: {{push: true}}}}
  - approve: push
  - await: deploy
    expect:
      - AUT-3: {{runs: {{deploys: 1}}}}
      - AUT-1: {{asked: {{push: false}}}}
"""
CALLS = "[{call: push, count: deploys}, {say: Done.}]"


def verdicts(played: Played) -> dict[str, str]:
    found = {id_.partition("::")[2]: event.verdict for id_, event in played.checks.items()}
    return {clause: verdict for clause, verdict in found.items() if not clause.startswith("invariant")}


def test_a_question_that_never_came_can_not_be_answered() -> None:
    """Whoever never asks fails no check about the answer: its precondition was not seen."""
    found = verdicts(play(ReferenceAdapter, STORY.format(mode="auto", model=CALLS)))
    assert found == {"AUT-4": "UNTESTABLE", "AUT-3": "UNTESTABLE", "AUT-1": "UNTESTABLE"}


def test_a_question_that_came_is_seen_until_the_end() -> None:
    """`asked` looks at all questions so far, so that none can be forgotten by waiting."""
    found = verdicts(play(ReferenceAdapter, STORY.format(mode="ask", model=CALLS)))
    assert found == {"AUT-4": "PASS", "AUT-3": "PASS", "AUT-1": "FAIL"}


def test_nobody_can_be_asked_about_a_call_that_never_was() -> None:
    """A model server that fails before the call leaves `asked` without a subject, also `asked: false`."""
    story = """
trace: 1
title: A call that never was
needs: [approvals, tool.count]
settings: {permissions: auto}
steps:
  - turn: deploy
    user: Deploy.
    model: [{fail: 400}, {call: push, count: deploys}, {say: Done.}]
    expect:
      - AUT-3: {asked: {push: false}}
"""
    assert verdicts(play(ReferenceAdapter, story)) == {"AUT-3": "UNTESTABLE"}
