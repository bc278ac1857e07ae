"""The scripted model answers by what a request holds, never by the order of arrival (design section 4)."""

from __future__ import annotations

import asyncio

from forkproof.adapters.model.markers import Markers
from forkproof.adapters.model.script import BLAND, ScriptedModel, bland_for
from forkproof.adapters.prompt import Message, Prompt, Text, ToolCall, ToolResult
from forkproof.adapters.protocol import Kind, ModelReply, ModelRequest, Say, ToolUse

MARKERS = Markers("7f3a1c")


def use(name: str) -> ToolUse:
    return ToolUse(MARKERS.call_id(name), name, "run", "pwd", MARKERS.tag(f"{name}.start"), MARKERS.tag(f"{name}.end"))


def user(turn: str) -> Message:
    return Message("user", (Text(MARKERS.mark("Go.", f"{turn}.user")),))


def called(name: str, response: str | None = None) -> tuple[Message, ...]:
    call = Message("assistant", (ToolCall(MARKERS.call_id(name), "shell", {}),))
    if response is None:
        return (call,)
    return (call, Message("tool", (ToolResult(MARKERS.call_id(name), response),)))


def model(told: Kind | None = None) -> ScriptedModel:
    return ScriptedModel(MARKERS, lambda _: told)


def ask(script: ScriptedModel, *messages: Message) -> ModelReply:
    return asyncio.run(script.respond(ModelRequest(Prompt(messages))))


STEPS = (ModelReply((use("look"),)), ModelReply((use("edit"),)), ModelReply((Say(MARKERS.mark("Done.", "plan.say")),)))


def test_answered_calls_select_the_step() -> None:
    """Each request gets the first answer whose calls it does not hold a result for, also when it is sent twice."""
    script = model()
    script.begin_turn("plan", STEPS)
    assert ask(script, user("plan")) is STEPS[0]
    assert ask(script, user("plan")) is STEPS[0]
    assert ask(script, user("plan"), *called("look", "x")) is STEPS[1]
    assert ask(script, user("plan"), *called("look", "x"), *called("edit", "x")) is STEPS[2]
    assert [r.reply for r in script.requests] == [0, 0, 1, 2]


def test_a_call_without_a_result_is_not_answered() -> None:
    """A pending call does not move the script on."""
    script = model()
    script.begin_turn("plan", STEPS)
    assert ask(script, user("plan"), *called("look")) is STEPS[0]


def test_a_call_whose_result_never_comes_is_given_up() -> None:
    """A harness that drops a result asks for ever; after twenty times the story goes on, and shows the loss."""
    script = model()
    script.begin_turn("plan", STEPS)
    assert [ask(script, user("plan")) for _ in range(20)] == [STEPS[0]] * 20
    assert ask(script, user("plan")) is STEPS[1]
    assert [ask(script, user("plan")) for _ in range(20)][-1] is STEPS[2]


def test_turns_of_two_sessions_do_not_mix() -> None:
    """With two turns in flight the newest user marker decides, whichever request comes first."""
    script = model()
    left, right = (ModelReply((Say("left"),)),), (ModelReply((Say("right"),)),)
    script.begin_turn("one", left)
    script.begin_turn("two", right)
    assert ask(script, user("one"), user("two")) is right[0]
    assert ask(script, user("one")) is left[0]


def test_a_request_after_the_script_is_off_script() -> None:
    """A turn that is over, or whose script has ended, is not answered from it: the request is kept as off script."""
    script = model()
    script.begin_turn("plan", (ModelReply((use("look"),)),))
    ask(script, user("plan"), *called("look", "x"))
    script.end_turn("plan")
    ask(script, user("plan"))
    assert [r.kind for r in script.requests] == ["off-script", "off-script"]


def test_a_request_without_a_marker_is_side_traffic() -> None:
    """Titles and suggestions are answered blandly and never taken for an item."""
    script = model()
    script.begin_turn("plan", STEPS)
    assert ask(script, Message("user", (Text("Name this chat."),))) is BLAND
    assert script.requests[0].kind == "side"


def test_the_adapter_can_tell_side_traffic_that_carries_a_marker() -> None:
    """A title request quotes the user's message; the adapter's word keeps it from eating the turn's answer."""
    script = model(told="side")
    script.begin_turn("plan", STEPS)
    assert ask(script, user("plan")) is BLAND


def test_a_summary_is_answered_while_a_compaction_runs() -> None:
    """A request of no turn in flight is the summary that was asked for; a turn of another session goes on."""
    script = model()
    summary = ModelReply((Say(MARKERS.mark("Short.", "squeeze.summary")),))
    script.begin_turn("other", STEPS)
    script.begin_summary("squeeze", summary)
    assert ask(script, user("old")) is summary
    assert ask(script, user("other")) is STEPS[0]
    script.end_summary("squeeze")
    ask(script, user("old"))
    assert [r.kind for r in script.requests] == ["summary", "turn", "off-script"]


def test_a_failure_is_served_once_when_more_follows() -> None:
    """The harness's retry meets the next answer; a failure at the end of the script stays."""
    script = model()
    broken, fine = ModelReply(status=500), ModelReply((Say("fine"),))
    script.begin_turn("plan", (broken, fine))
    assert [ask(script, user("plan")).status for _ in range(3)] == [500, 200, 200]
    script.begin_turn("last", (broken,))
    assert [ask(script, user("last")).status for _ in range(3)] == [500, 500, 500]


def test_what_came_to_be_is_known() -> None:
    """A turn's user message, and what the model said and called, count as produced; an unserved answer does not."""
    script = model()
    script.begin_turn("plan", STEPS)
    ask(script, user("plan"))
    assert script.produced == {"plan.user", "look.call", "look.result"}


def test_side_traffic_is_answered_in_the_harnesss_own_form() -> None:
    """A harness that can't read plain words as a title would ask again with every prompt."""

    class Adapter:
        bland = '{"title": "T"}'

    assert bland_for(object()) is BLAND
    answer = bland_for(Adapter())
    script = ScriptedModel(MARKERS, lambda _: "side", answer)
    assert ask(script, user("plan")) is answer
    assert answer.parts == (Say('{"title": "T"}'),)
