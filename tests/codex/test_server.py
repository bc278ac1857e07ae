"""The Codex adapter against a scripted app-server: its operations, and how it takes misbehaviour (docs/codex.md)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from forkproof.adapters.codex.prompts import shell_call
from forkproof.adapters.errors import Garbage, HarnessDied, HarnessHung, StartFailed
from forkproof.adapters.protocol import (
    ABSENT,
    Acknowledged,
    Cancel,
    Compact,
    Cut,
    Deadlines,
    Field,
    Fork,
    Forked,
    Import,
    ImportedTurn,
    OpenSession,
    Refused,
    SendPrompt,
    SessionOpened,
    ToolUse,
    TurnEnded,
    TurnRef,
    Unknown,
    Unsupported,
)
from forkproof.adapters.shell import command

from .conftest import Driver, Play


def test_fork_before_a_turn_gives_the_record_that_codex_states(play: Play) -> None:
    """Session, source, settings, directory, workspace and edge are reported; the cut is in no answer: derived."""

    async def story(codex: Driver) -> None:
        main = await codex.open()
        await codex.say(main, "plan")
        write = await codex.say(main, "write")
        directory = "/elsewhere"  # a shared fork does not pass it on: the child stays where the source runs
        record = await codex.fork(Fork(main, Cut("before", write), "shared", directory))
        assert record.session.value not in (None, main)
        assert record.source == Field(main, "reported")
        assert record.cut == Field({"before": write.native}, "derived")
        assert record.workspace == Field("shared", "reported")
        assert record.edge == Field("fork", "reported")
        assert record.checkpoint == Field("none", "derived")
        assert record.settings.origin == "reported"
        assert record.settings.value["approval-policy"] == {"value": "never"}
        assert record.revision == record.grants == record.editor == ABSENT
        child = await codex.say(record.session.value, "retry")
        again = await codex.fork(Fork(record.session.value, Cut("after", child), "shared", directory))
        assert again.source == Field(record.session.value, "reported")
        assert again.cut == Field({"after": child.native}, "derived")

    play("normal", story)


def test_an_isolated_fork_runs_in_a_copy_made_first(play: Play) -> None:
    """Codex only takes a directory, so the adapter copies the source's files and names the copy: isolated."""

    async def story(codex: Driver) -> None:
        main = await codex.open()
        await codex.say(main, "plan")
        place = codex.world.reserve("copy")
        record = await codex.fork(Fork(main, Cut("head"), "isolated", place))
        assert record.directory == Field(place, "reported")
        assert record.workspace == Field("isolated", "reported")
        assert record.cut == Field({"head": True}, "derived")
        assert codex.world.read(place) == {"notes.md": "draft\n"}

    play("normal", story)


def test_cancel_ends_the_running_turn(play: Play) -> None:
    """Cancel is acknowledged, and the prompt's own answer says cancelled; with nothing running it is refused."""

    async def story(codex: Driver) -> None:
        main = await codex.open()
        assert isinstance(await codex.adapter.perform(Cancel(main)), Refused)
        prompt = asyncio.create_task(codex.adapter.perform(SendPrompt(main, "WAIT")))
        cancelled: Any = Refused("other", "")
        while isinstance(cancelled, Refused):  # until the turn has begun there is nothing to cancel
            cancelled = await codex.adapter.perform(Cancel(main))
        assert cancelled == Acknowledged()
        ended = await prompt
        assert isinstance(ended, TurnEnded)
        assert ended.stop == "cancelled"
        assert isinstance(await codex.adapter.perform(Cancel(main)), Refused)

    play("normal", story)


def test_a_failed_turn_is_an_answer_with_the_reason(play: Play) -> None:
    """A turn that fails ends with stop `failed` and Codex's words; it is no error of the suite."""

    async def story(codex: Driver) -> None:
        ended = await codex.adapter.perform(SendPrompt(await codex.open(), "FAIL"))
        assert isinstance(ended, TurnEnded)
        assert (ended.stop, ended.detail) == ("failed", "the model failed")

    play("normal", story)


def test_a_compaction_ends_with_its_own_turn_and_becomes_the_checkpoint(play: Play) -> None:
    """Compact is answered when Codex's compaction turn has ended; a later fork's checkpoint is that turn (REC-10)."""

    async def story(codex: Driver) -> None:
        main = await codex.open()
        plan = await codex.say(main, "plan")
        done = await codex.adapter.perform(Compact(main))
        assert isinstance(done, Acknowledged)
        assert done.native is not None
        late = await codex.fork(Fork(main, Cut("head"), "shared", ""))
        early = await codex.fork(Fork(main, Cut("after", plan), "shared", ""))
        assert late.checkpoint == Field(done.native, "derived")
        assert early.checkpoint == Field("none", "derived")

    play("normal", story)


def test_what_codex_refuses_is_refused_with_its_reason(play: Play) -> None:
    """Unknown source, unknown cut and a cut after a running turn are refused, each with its reason (CUT-5, ATO-2)."""

    async def story(codex: Driver) -> None:
        main = await codex.open()
        plan = await codex.say(main, "plan")
        never = TurnRef("never", "[never]", 7, exists=False)
        running = asyncio.create_task(codex.adapter.perform(SendPrompt(main, "WAIT [busy]")))
        busy = TurnRef("busy", "[busy]", 1)
        while isinstance(await codex.adapter.perform(Fork(main, Cut("before", busy), "shared", "")), Unsupported):
            pass
        reasons = [
            await codex.adapter.perform(Fork("made-up", Cut("head"), "shared", "", exists=False)),
            await codex.adapter.perform(Fork("made-up", Cut("before", plan), "isolated", "", exists=False)),
            await codex.adapter.perform(Fork(main, Cut("before", never), "shared", "")),
            await codex.adapter.perform(Fork(main, Cut("after", never), "shared", "")),
            await codex.adapter.perform(Fork(main, Cut("after", busy), "shared", "")),
        ]
        assert [getattr(answer, "reason", answer) for answer in reasons] == [
            "unknown-session",
            "unknown-session",
            "unknown-cut",
            "unknown-cut",
            "busy",
        ]
        assert await codex.adapter.perform(Cancel(main)) == Acknowledged()
        await running

    play("normal", story)


def test_what_the_route_can_t_do_is_unsupported(play: Play) -> None:
    """An import and settings that Codex has no word for are Unsupported, not ignored."""

    async def story(codex: Driver) -> None:
        place = codex.world.create("main", {})
        assert isinstance(await codex.adapter.perform(Import(place, (ImportedTurn(0, "u", "s"),))), Unsupported)
        assert isinstance(await codex.adapter.perform(OpenSession(place, {"temperature": "1"})), Unsupported)
        chosen = await codex.adapter.perform(OpenSession(place, {"model": "other-model"}))
        assert isinstance(chosen, SessionOpened)

    play("normal", story)


# --- An app-server with ways of its own ----------------------------------------------------------------------------


def test_a_turn_may_end_before_its_answer_comes(play: Play) -> None:
    """The end of a turn is not lost when its notification comes before the answer that names the turn."""

    async def story(codex: Driver) -> None:
        await codex.say(await codex.open(), "quick")

    play("eager", story)


def test_approvals_are_given_and_remembered(play: Play) -> None:
    """A request for approval is accepted, so that the trace goes on, and shown, since policy `never` should not ask."""

    async def story(codex: Driver) -> None:
        await codex.say(await codex.open(), "ask")
        assert "item/commandExecution/requestApproval" in codex.adapter.diagnostics()

    play("asks", story)


def test_turns_with_new_ids_in_a_fork_are_found_again(play: Play) -> None:
    """A cut in a fork names the fork's own turn, also where a release gives copied turns new ids."""

    async def story(codex: Driver) -> None:
        main = await codex.open()
        await codex.say(main, "plan")
        write = await codex.say(main, "write")
        first = await codex.fork(Fork(main, Cut("head"), "shared", ""))
        answer = await codex.adapter.perform(Fork(first.session.value, Cut("before", write), "shared", ""))
        assert isinstance(answer, Forked)

    play("renumber", story)


def test_a_clipped_fork_is_shown_in_the_record(play: Play) -> None:
    """A fork that holds less than was asked for gets the cut that was really applied (REC-6)."""

    async def story(codex: Driver) -> None:
        main = await codex.open()
        plan = await codex.say(main, "plan")
        await codex.say(main, "write")
        record = await codex.fork(Fork(main, Cut("head"), "shared", ""))
        assert record.cut == Field({"after": plan.native}, "derived")

    play("clips", story)


def test_what_is_not_refused_is_told_as_it_is(play: Play) -> None:
    """An app-server that forks what never was gets a record of what it did, not of what it was asked for."""

    async def story(codex: Driver) -> None:
        main = await codex.open()
        plan = await codex.say(main, "plan")
        never = TurnRef("never", "[never]", 7, exists=False)
        uncut = await codex.fork(Fork(main, Cut("before", never), "shared", ""))
        assert uncut.cut == Field({"after": plan.native}, "derived")
        orphan = await codex.fork(Fork("never", Cut("head"), "shared", "", exists=False))
        assert orphan.source.value != "never"
        assert orphan.workspace == ABSENT

    play("lenient", story)


def test_an_internal_error_at_the_fork_is_unknown(play: Play) -> None:
    """A fork that ended in an internal error may have happened."""

    async def story(codex: Driver) -> None:
        main = await codex.open()
        await codex.say(main, "plan")
        assert isinstance(await codex.adapter.perform(Fork(main, Cut("head"), "shared", "")), Unknown)

    play("internal", story)


# --- A broken app-server -------------------------------------------------------------------------------------------


async def _one_turn(codex: Driver) -> None:
    await codex.say(await codex.open(), "plan")


async def _one_fork(codex: Driver) -> None:
    main = await codex.open()
    await codex.say(main, "plan")
    await codex.fork(Fork(main, Cut("head"), "shared", ""))


def test_a_refusal_to_start_is_told_in_its_words(play: Play) -> None:
    """A program that ends before the handshake is StartFailed, with its exit code and last words."""
    with pytest.raises(StartFailed, match=r"exit code 1(.|\n)*the configuration is broken"):
        play("refuse", _one_turn)


def test_a_mute_start_hangs_and_is_ended(play: Play) -> None:
    """A program that never answers the handshake is HarnessHung when the start's deadline has passed."""
    with pytest.raises(HarnessHung, match=r"initialize within 0\.5 s"):
        play("mute", _one_turn, Deadlines(start=0.5, operation=30, stop=5))


def test_an_end_in_the_middle_of_a_turn_is_a_crash(play: Play) -> None:
    """A program that ends during a turn is HarnessDied: the turn's answer can't come any more."""
    with pytest.raises(HarnessDied, match="exit code 7"):
        play("die", _one_turn)


def test_a_line_that_is_no_json_is_garbage(play: Play) -> None:
    """What is no JSON on standard output is Garbage and is shown."""
    with pytest.raises(Garbage, match="Segmentation fault"):
        play("garbage", _one_turn)


def test_a_fork_that_names_no_thread_is_garbage(play: Play) -> None:
    """A fork's answer without a thread is Garbage, not a fork with an empty id."""
    with pytest.raises(Garbage, match=r"thread\.id"):
        play("nameless", _one_fork)


def test_a_turn_without_end_hangs(play: Play) -> None:
    """A turn that never ends is HarnessHung, later than one operation's deadline, as turns may wait on purpose."""

    async def story(codex: Driver) -> float:
        main = await codex.open()
        began = asyncio.get_running_loop().time()
        with pytest.raises(HarnessHung, match="turn/completed"):
            await codex.adapter.perform(SendPrompt(main, "WAIT"))
        return asyncio.get_running_loop().time() - began

    lasted = play("normal", story, Deadlines(start=30, operation=0.4, stop=5))
    assert lasted > 0.4


def test_stop_may_be_called_at_any_time(play: Play) -> None:
    """Stop before the start and a second stop do nothing."""

    async def whole() -> None:
        adapter = play.adapter("normal")
        await adapter.stop()
        await adapter.start(play.trial(Deadlines()))
        await adapter.stop()
        await adapter.stop()

    asyncio.run(whole())


def test_tools_are_shell_commands_in_codex_s_terms(play: Play) -> None:
    """An abstract tool becomes one exec_command with the shell text for this world."""

    async def story(codex: Driver) -> None:
        use = ToolUse("call_1", "look", "run", "pwd", "[fp1.look.start]", "[fp1.look.end]")
        control = play.folder / "trial" / "control"
        assert codex.adapter.native_call(use) == shell_call(f"exec 2>&1; {command(use, control)}")

    play("normal", story)
