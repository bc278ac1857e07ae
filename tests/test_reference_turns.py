"""Turns: each step is recorded at once, several sessions run at the same time, and any step can be interrupted."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from forkproof.reference.entries import Answered, ToolEnded, TurnEnded, UserSaid
from forkproof.reference.harness import Harness
from forkproof.reference.model import Failure, Reply
from forkproof.reference.project import full_path
from forkproof.reference.prompt import Prompt
from forkproof.reference.refusal import Refusal
from forkproof.reference.session import Session
from forkproof.reference.tools import TOOLS
from forkproof.reference.turn import Ended
from tests.reference_models import Script, call, items, say


def harness_on(model: Script, files: dict[str, str] | None = None) -> tuple[Harness, Session]:
    harness = Harness(model)
    harness.machine.create("/main", files or {})
    session = harness.open("/main")
    assert isinstance(session, Session)
    return harness, session


def run(story: Coroutine[Any, Any, None]) -> None:
    """Run a story, and see that it leaves no task behind."""

    async def whole() -> None:
        await story
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(whole())


def bodies(session: Session) -> list[type]:
    return [type(entry.body) for entry in full_path(session.leaf)]


def test_a_turn_goes_on_until_the_model_makes_no_call() -> None:
    """Design 10: calls are run and their results sent back; words without a call end the turn."""
    model = Script({"go": [Reply((call("w", "write", {"f": "1"}),)), Reply((call("r", "read", "f"),)), say("done")]})

    async def story() -> None:
        harness, session = harness_on(model)
        assert await harness.prompt(session.header.id, "go") == Ended("turn-1", "end_turn")
        assert bodies(session) == [UserSaid, Answered, ToolEnded, Answered, ToolEnded, Answered, TurnEnded]
        assert harness.machine.workspace("/main").files() == {"f": "1"}

    run(story())
    assert [items(prompt) for prompt in model.prompts] == [
        ["go"],
        ["go", "call id-w", "done id-w"],
        ["go", "call id-w", "done id-w", "call id-r", "done id-r"],
    ]


def test_a_request_holds_the_settings_the_place_and_the_tools() -> None:
    """SET-1, SET-3, ENV-4: model and effort as the session has them, the directory, and the tools that run."""
    model = Script()

    async def story() -> None:
        harness, _ = harness_on(model)
        session = harness.open("/main", {"model": "big", "effort": "high", "permissions": "read-only"})
        assert isinstance(session, Session)
        await harness.prompt(session.header.id, "go")

    run(story())
    prompt = model.prompts[0]
    assert (prompt.model, prompt.settings, prompt.session) == ("big", {"effort": "high"}, "session-2")
    assert prompt.tools == TOOLS
    assert prompt.messages[0].role == "system"
    assert "/main" in str(prompt.messages[0].parts)


def test_a_failing_model_ends_the_turn_as_failed() -> None:
    """SNAP-2: a failed turn is over, is kept, and the session goes on."""
    model = Script({"go": [Failure(500, "boom")]})

    async def story() -> None:
        harness, session = harness_on(model)
        ended = await harness.prompt(session.header.id, "go")
        assert ended == Ended("turn-1", "failed", "the model answered 500: boom")
        assert await harness.prompt(session.header.id, "next") == Ended("turn-2", "end_turn")

    run(story())
    assert items(model.prompts[1]) == ["go", "next"]


def test_a_model_that_raises_leaves_a_failed_turn_and_an_idle_session() -> None:
    """ISO-8: a fault outside of the harness must not leave a session busy for ever."""

    class Broken(Script):
        async def __call__(self, prompt: Prompt) -> Reply | Failure:
            if len(prompt.messages) == 2:
                raise ConnectionError
            return await super().__call__(prompt)

    async def story() -> None:
        harness, session = harness_on(Broken())
        with pytest.raises(ConnectionError):
            await harness.prompt(session.header.id, "go")
        assert bodies(session) == [UserSaid, TurnEnded]
        assert isinstance(await harness.prompt(session.header.id, "next"), Ended)

    run(story())


def test_turns_of_several_sessions_run_at_once() -> None:
    """SNAP-4: a turn that waits in one session does not hold up another, and neither sees the other's messages."""
    model = Script({"slow": [Reply((call("job", "wait", "release"),)), say("job done")]})

    async def story() -> None:
        harness, one = harness_on(model)
        two = harness.open("/main")
        assert isinstance(two, Session)
        slow = asyncio.ensure_future(harness.prompt(one.header.id, "slow"))
        await harness.machine.started("id-job")
        assert await harness.prompt(two.header.id, "quick") == Ended("turn-2", "end_turn")
        assert await harness.prompt(two.header.id, "again") == Ended("turn-3", "end_turn")
        harness.machine.release("id-job")
        assert await slow == Ended("turn-1", "end_turn")

    run(story())
    assert [items(prompt) for prompt in model.prompts] == [
        ["slow"],
        ["quick"],
        ["quick", "ok", "again"],
        ["slow", "call id-job", "done id-job"],
    ]


def test_a_busy_session_takes_no_second_turn() -> None:
    """SNAP-3: one session, one writer; the refusal changes nothing."""
    model = Script({"slow": [Reply((call("job", "wait", "release"),)), say("job done")]})

    async def story() -> None:
        harness, session = harness_on(model)
        slow = asyncio.ensure_future(harness.prompt(session.header.id, "slow"))
        await harness.machine.started("id-job")
        leaf = session.leaf
        for refused in (
            await harness.prompt(session.header.id, "more"),
            await harness.compact(session.header.id),
        ):
            assert isinstance(refused, Refusal)
            assert refused.reason == "busy"
        assert session.leaf is leaf
        harness.machine.release("id-job")
        await slow

    run(story())


def test_calls_of_one_answer_run_together() -> None:
    """TOOL-1: a call that waits does not hold up its neighbours, and results keep the order of their calls."""
    together = Reply((call("a", "wait", "release"), call("b", "wait", "release"), call("c", "write", {"f": "1"})))
    model = Script({"go": [together, say("done")]})

    async def story() -> None:
        harness, session = harness_on(model)
        turn = asyncio.ensure_future(harness.prompt(session.header.id, "go"))
        await harness.machine.started("id-a")
        await harness.machine.started("id-b")
        assert harness.machine.workspace("/main").files() == {"f": "1"}
        harness.machine.release("id-b")
        await asyncio.sleep(0)
        harness.machine.release("id-a")
        await turn

    run(story())
    calls = ["call id-a", "call id-b", "call id-c"]
    assert items(model.prompts[1]) == ["go", *calls, "done id-a", "done id-b", "done id-c"]


TOOLS_BEFORE_A_WAIT = [
    ("write", {"f": "1"}),
    ("edit", {"old": {"old": "o", "new": "n"}}),
    ("read", "old"),
    ("run", "rm old"),
    ("count", "n"),
    ("wait", "release"),
]


@pytest.mark.parametrize(("tool", "arguments"), TOOLS_BEFORE_A_WAIT)
def test_cancelling_keeps_what_ended_and_does_not_know_the_rest(tool: str, arguments: Any) -> None:
    """TOOL-2, TOOL-3, TOOL-6: each tool's finished call stays done; the one that was cut off is unknown, never done."""
    first, last = call("first", tool, arguments), call("last", "wait", "forever")
    model = Script({"go": [Reply((first,)), Reply((last,))]})

    async def story() -> None:
        harness, session = harness_on(model, {"old": "o"})
        harness.machine.release("id-first")
        turn = asyncio.ensure_future(harness.prompt(session.header.id, "go"))
        await harness.machine.started("id-last")
        assert await harness.cancel(session.header.id)
        assert await turn == Ended("turn-1", "cancelled")
        assert await harness.prompt(session.header.id, "next") == Ended("turn-2", "end_turn")

    run(story())
    shown = items(model.prompts[-1])
    assert shown[:5] == ["go", "call id-first", "done id-first", "call id-last", "unknown id-last"]
    assert "interrupted" in shown[5]
    assert shown[6:] == ["next"]


def test_cancelling_together_calls() -> None:
    """TOOL-1, TOOL-2: of calls that run together, those that ended are done and those that did not are unknown."""
    waits = Reply((call("a", "wait", "forever"), call("b", "count", "n"), call("c", "wait", "forever")))
    model = Script({"go": [waits]})

    async def story() -> None:
        harness, session = harness_on(model)
        turn = asyncio.ensure_future(harness.prompt(session.header.id, "go"))
        await harness.machine.started("id-c")
        await harness.cancel(session.header.id)
        assert await turn == Ended("turn-1", "cancelled")
        await harness.prompt(session.header.id, "next")
        assert harness.machine.runs() == {"n": 1}

    run(story())
    calls = ["call id-a", "call id-b", "call id-c"]
    assert items(model.prompts[-1])[:7] == ["go", *calls, "unknown id-a", "done id-b", "unknown id-c"]


def test_cancelling_a_turn_whose_model_is_still_thinking() -> None:
    """TOOL-3: the user's message stays, and the turn is marked."""
    model = Script(hold=frozenset({"go"}))

    async def story() -> None:
        harness, session = harness_on(model)
        turn = asyncio.ensure_future(harness.prompt(session.header.id, "go"))
        await model.asked.wait()
        assert await harness.cancel(session.header.id)
        assert await turn == Ended("turn-1", "cancelled")
        assert not await harness.cancel(session.header.id)
        assert bodies(session) == [UserSaid, TurnEnded]

    run(story())


def test_cancelling_a_turn_that_has_hardly_begun() -> None:
    """TOOL-3: also a turn that has not asked its model yet ends as cancelled."""
    model = Script()

    async def story() -> None:
        harness, session = harness_on(model)
        turn = asyncio.ensure_future(harness.prompt(session.header.id, "go"))
        cancelled = asyncio.ensure_future(harness.cancel(session.header.id))
        assert await turn == Ended("turn-1", "cancelled")
        assert await cancelled
        assert model.prompts == []

    run(story())


def test_whoever_waits_for_a_turn_owns_it() -> None:
    """Design 5: a caller that is cancelled takes its turn along, and is cancelled itself."""
    model = Script({"go": [Reply((call("job", "wait", "forever"),))]})

    async def story() -> None:
        harness, session = harness_on(model)
        turn = asyncio.ensure_future(harness.prompt(session.header.id, "go"))
        await harness.machine.started("id-job")
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert bodies(session) == [UserSaid, Answered, TurnEnded]
        assert isinstance(await harness.prompt(session.header.id, "next"), Ended)

    run(story())


def test_an_event_loop_that_ends_is_not_held_up() -> None:
    """Design 5: cancelling a turn's task from outside, as an ending loop does, cancels its caller too."""
    model = Script({"go": [Reply((call("job", "wait", "forever"),))]})

    async def story() -> None:
        harness, session = harness_on(model)
        known = asyncio.all_tasks()
        turn = asyncio.ensure_future(harness.prompt(session.header.id, "go"))
        await harness.machine.started("id-job")
        (own,) = asyncio.all_tasks() - known - {turn}
        own.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert bodies(session) == [UserSaid, Answered, TurnEnded]

    run(story())


def test_closing_ends_everything_and_refuses_the_rest() -> None:
    """Design 5: nothing is left running, and nothing can be begun any more; closing twice is fine."""
    model = Script({"go": [Reply((call("job", "wait", "forever"),))]})

    async def story() -> None:
        harness, session = harness_on(model)
        turn = asyncio.ensure_future(harness.prompt(session.header.id, "go"))
        await harness.machine.started("id-job")
        await harness.close()
        assert await turn == Ended("turn-1", "cancelled")
        refused = await harness.prompt(session.header.id, "next")
        assert isinstance(refused, Refusal)
        assert refused.reason == "other"
        await harness.close()

    run(story())


def test_an_unknown_session_is_refused_everywhere() -> None:
    """ATO-2: no operation makes up a session."""

    async def story() -> None:
        harness, _ = harness_on(Script())
        for refused in (await harness.prompt("session-9", "go"), await harness.compact("session-9")):
            assert isinstance(refused, Refusal)
            assert refused.reason == "unknown-session"
        assert not await harness.cancel("session-9")
        assert harness.fork_points("session-9") == []
        assert harness.sessions() == ("session-1",)

    run(story())


def test_a_session_needs_its_directory() -> None:
    """ENV-4: tools must have a place to run in."""

    async def story() -> None:
        harness, _ = harness_on(Script())
        refused = harness.open("/none")
        assert isinstance(refused, Refusal)
        assert isinstance(harness.import_history("/none", []), Refusal)
        assert harness.sessions() == ("session-1",)

    run(story())
