"""What the Codex adapter makes of settings, questions, busy threads and stored ones, against a scripted app-server."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from forkproof.adapters.codex.adapter import CAPABILITIES, CodexAdapter, capabilities
from forkproof.adapters.errors import NotInstalled
from forkproof.adapters.installation import Installation
from forkproof.adapters.protocol import (
    Acknowledged,
    AwaitQueued,
    Cancel,
    Configure,
    Cut,
    Decision,
    Delete,
    Fork,
    HookRun,
    HookSaid,
    OpenSession,
    Question,
    Queue,
    Refused,
    Restart,
    Resume,
    Reusable,
    SendPrompt,
    SessionOpened,
    Steer,
    ToolUse,
    TurnEnded,
    Unsupported,
)
from forkproof.adapters.readings import CutPointsRead, HistoryRead, Moved, SessionsRead
from forkproof.adapters.tree import ListSessions, ReadCutPoints, ReadHistory, Rewind

from .conftest import PATIENT, Driver, Play


class Someone:
    """A person who always says the same, and remembers what they were asked."""

    def __init__(self, says: Decision | None) -> None:
        self.says = says
        self.asked: list[Question] = []
        self.came = asyncio.Event()

    async def permit(self, question: Question) -> Decision:
        """Answer, or never."""
        self.asked.append(question)
        self.came.set()
        if self.says is None:
            await asyncio.Event().wait()
        assert self.says is not None
        return self.says

    def run_hook(self, run: HookRun) -> HookSaid:
        """There are no hooks here."""
        raise AssertionError(run)


# --- Settings ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["auto", "ask", "read-only"])
def test_a_mode_given_with_a_fork_is_stated_by_its_record(play: Play, mode: str) -> None:
    """Each permission mode is a pair of Codex's own choices, and the pair that is stated back is that mode (AUT-3)."""

    async def story(codex: Driver) -> None:
        main = await codex.open()
        await codex.say(main, "plan")
        record = await codex.fork(Fork(main, Cut("head"), "shared", "", settings={"permissions": mode}))
        assert record.settings.value["permissions"] == {"value": mode}

    play("normal", story)


def test_what_codex_has_no_word_for_is_unsupported(play: Play) -> None:
    """Tools can't be chosen: not at the start, not later, not with a fork, and no fork is made then."""

    async def story(codex: Driver) -> None:
        main = await codex.open()
        await codex.say(main, "plan")
        tools = {"tools": ("read",)}
        perform = codex.adapter.perform
        assert isinstance(await perform(OpenSession(codex.world.create("other", {}), tools)), Unsupported)
        assert isinstance(await perform(Configure(main, tools)), Unsupported)
        assert isinstance(await perform(Fork(main, Cut("head"), "shared", "", settings=tools)), Unsupported)
        listed = await perform(ListSessions())
        assert isinstance(listed, SessionsRead)
        assert listed.sessions == (main,)
        assert (
            await perform(Configure(main, {"model": "other", "effort": "high", "permissions": "ask"})) == Acknowledged()
        )

    play("normal", story)


def test_where_codex_asks_a_tool_has_the_same_command_each_time(play: Play) -> None:
    """An approval for the session goes by the command's text: two calls of one kind have one text, others another."""

    async def story(codex: Driver) -> None:
        def command(name: str, tool: str, arguments: Any) -> str:
            use = ToolUse(f"call_{name}", name, tool, arguments, f"[fp1.{name}.start]", f"[fp1.{name}.end]")
            call = codex.adapter.native_call(use)
            assert isinstance(call.arguments, dict)
            return str(call.arguments["cmd"])

        main = await codex.open()
        assert command("one", "count", "runs") != command("two", "count", "runs")
        await codex.adapter.perform(Configure(main, {"permissions": "ask"}))
        first = command("one", "count", "runs")
        assert command("two", "count", "runs") == first
        assert command("three", "count", "others") != first
        assert command("four", "read", "runs") != first
        script = first.removeprefix("sh ")
        with open(script, encoding="utf-8") as text:  # noqa: ASYNC230, PTH123  # a small file
            assert "two" in text.read()

    play("normal", story)


# --- Questions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("says", "decision"),
    [
        ("allow_once", '{"decision": "accept"}'),
        ("allow_for_session", '{"decision": "acceptForSession"}'),
        ("reject", '{"decision": "decline"}'),
        ("allow_always", '{"decision": {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["rm"]}}}'),
    ],
)
def test_the_person_s_answer_is_codex_s_decision(play: Play, says: Decision, decision: str) -> None:
    """A question names thread and call; each answer of the person is the decision that means the same to Codex."""
    person = Someone(says)

    async def story(codex: Driver) -> None:
        main = await codex.open()
        await codex.adapter.perform(SendPrompt(main, "Ask me."))
        assert person.asked == [Question(main, "call_1")]
        shown = await codex.adapter.perform(ReadHistory(main))
        assert isinstance(shown, HistoryRead)
        assert decision in str(shown.messages[-1])

    play("asks", story, person=person)


def test_a_question_is_withdrawn_with_its_turn(play: Play) -> None:
    """A question that nobody answers does not outlive its turn: the person's wait is cancelled when the turn ends."""
    person = Someone(None)

    async def story(codex: Driver) -> None:
        main = await codex.open()
        turn = asyncio.create_task(codex.adapter.perform(SendPrompt(main, "Ask me.")))
        await asyncio.wait_for(person.came.wait(), 30)
        assert await codex.adapter.perform(Cancel(main)) == Acknowledged()
        ended = await turn
        assert isinstance(ended, TurnEnded)
        assert ended.stop == "cancelled"
        others = asyncio.all_tasks() - {asyncio.current_task()}
        assert not [task for task in others if "permit" in repr(task)]

    play("asks", story, person=person)


# --- Busy threads --------------------------------------------------------------------------------------------------


def test_a_steered_message_goes_into_the_running_turn_and_a_queued_one_behind_it(play: Play) -> None:
    """Steering names the turn that runs; what is queued becomes a turn of its own, found by the client's id."""

    async def story(codex: Driver) -> None:
        perform = codex.adapter.perform
        main = await codex.open()
        assert isinstance(await perform(Steer(main, "Too early.")), Refused)
        turn = asyncio.create_task(perform(SendPrompt(main, "WAIT")))
        while not isinstance(await perform(Steer(main, "Faster.")), Acknowledged):
            pass  # until the turn has begun there is nothing to steer
        queued = await perform(Queue(main, "And then?"))
        assert isinstance(queued, Acknowledged)
        await perform(Cancel(main))
        ended, after = await turn, await perform(AwaitQueued(main, queued.native))
        assert isinstance(ended, TurnEnded)
        assert isinstance(after, TurnEnded)
        assert (ended.stop, after.stop) == ("cancelled", "end_turn")
        assert after.native not in (None, ended.native)
        shown = await perform(ReadHistory(main))
        assert isinstance(shown, HistoryRead)
        assert [str(m.parts[0]).count("Faster.") for m in shown.messages] == [0, 1, 0]

    play("normal", story)


# --- Stored threads ------------------------------------------------------------------------------------------------


def test_a_rewind_takes_turns_off_and_the_points_show_it(play: Play) -> None:
    """Rewind reverts to before the turn; the turns that are left are the cut points, each with its user's words."""

    async def story(codex: Driver) -> None:
        main = await codex.open()
        await codex.say(main, "plan")
        write = await codex.say(main, "write")
        assert await codex.adapter.perform(Rewind(main, 1, write.marker, write.native)) == Moved()
        points = await codex.adapter.perform(ReadCutPoints(main))
        assert isinstance(points, CutPointsRead)
        assert [point.text for point in points.points] == ["Go on. [plan]"]

    play("normal", story)


def test_the_list_has_titles_and_each_thread_s_own_word_on_its_source(play: Play) -> None:
    """Title and source of a listed thread are Codex's words; one without a source says so (REC-3)."""

    async def story(codex: Driver) -> None:
        main = await codex.open()
        await codex.say(main, "plan")
        child = (await codex.fork(Fork(main, Cut("head"), "shared", ""))).session.value
        listed = await codex.adapter.perform(ListSessions())
        assert isinstance(listed, SessionsRead)
        assert [(line.session, line.title, line.source) for line in listed.lines] == [
            (main, f"about {main}", ""),
            (child, f"about {child}", main),
        ]
        assert await codex.adapter.perform(Delete(child)) == Acknowledged()
        assert isinstance(await codex.adapter.perform(Resume(child)), Refused)
        assert await codex.adapter.perform(Resume(main)) == SessionOpened(main)
        assert isinstance(await codex.adapter.perform(Delete(main, ("turn",))), Unsupported)

    play("normal", story)


@pytest.mark.parametrize("kill", [True, False])
def test_a_restart_is_another_process_with_the_same_home(play: Play, kill: bool) -> None:
    """After a restart a new process runs, on the configuration that the first one had, and takes operations."""

    async def story(codex: Driver) -> None:
        main = await codex.open()
        turn = asyncio.create_task(codex.adapter.perform(SendPrompt(main, "WAIT")))
        await asyncio.sleep(0)
        configuration = play.folder / "trial" / "home" / "config.toml"
        configuration.write_text(configuration.read_text() + "# what the person wrote\n")
        assert await codex.adapter.perform(Restart(kill)) == Acknowledged()
        await asyncio.wait({turn}, timeout=30)
        assert turn.done()
        assert turn.exception() is not None
        assert isinstance(await codex.adapter.perform(Resume(main)), Refused)  # the scripted one forgets
        await codex.say(await codex.open_in("second"), "again")
        assert "what the person wrote" in configuration.read_text()

    play("normal", story)


def test_a_running_process_serves_another_trace(play: Play) -> None:
    """Renewed, a process has a new world and lists no thread of the trace before; while a turn runs it can't be."""

    async def story(codex: Driver) -> None:
        adapter = codex.adapter
        assert isinstance(adapter, Reusable)
        first = await codex.open()
        await codex.say(first, "plan")
        world = await adapter.renew(play.trial(PATIENT, name="second"))
        assert world is not None
        assert world is not codex.world
        opened = await adapter.perform(OpenSession(world.create("main", {})))
        assert isinstance(opened, SessionOpened)
        listed = await adapter.perform(ListSessions())
        assert isinstance(listed, SessionsRead)
        assert listed.sessions == (opened.session,)
        turn = asyncio.create_task(adapter.perform(SendPrompt(opened.session, "WAIT")))
        while not isinstance(await adapter.perform(Steer(opened.session, "Now?")), Acknowledged):
            pass
        assert await adapter.renew(play.trial(PATIENT, name="third")) is None
        turn.cancel()

    play("normal", story)


def test_an_adapter_that_was_not_started_can_t_be_renewed(play: Play) -> None:
    """Where no process runs there is nothing to go on with."""
    assert asyncio.run(play.adapter("normal").renew(play.trial(PATIENT))) is None


# --- Variants ------------------------------------------------------------------------------------------------------


def test_each_storage_declares_what_it_can_do(play: Play) -> None:
    """Legacy threads can't be reverted, paginated ones that were forked can't be deleted; the rest is the same."""
    program = Installation("codex", "0.0.0", play.folder, "0" * 64)
    usual, older = (
        CodexAdapter.of_variant(program, None).describe(),
        CodexAdapter.of_variant(program, "legacy").describe(),
    )
    assert (usual.variant, older.variant) == ("", "legacy")
    assert usual.capabilities - older.capabilities == {"rewind"}
    assert older.capabilities - usual.capabilities == {"delete"}
    assert capabilities("paginated") & capabilities("legacy") == CAPABILITIES
    with pytest.raises(NotInstalled, match="no variant 'newest'"):
        CodexAdapter.of_variant(program, "newest")
