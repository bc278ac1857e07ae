"""Forks over ACP: what is asked, what the record holds, and what an agent may refuse; and the other operations."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from forkproof.adapters.acp import extension
from forkproof.adapters.acp.adapter import AcpAdapter
from forkproof.adapters.acp.program import own
from forkproof.adapters.acp.record import fork_record
from forkproof.adapters.prompt import Message, Prompt, Text
from forkproof.adapters.protocol import (
    ABSENT,
    Acknowledged,
    Cancel,
    Compact,
    Cut,
    Field,
    Fork,
    Import,
    OpenSession,
    Refused,
    SendPrompt,
    SessionOpened,
    ToolUse,
    TurnEnded,
    TurnRef,
    Unsupported,
)
from tests.acp.agent import HEAD, call_begun, fake_recipe, forked, opened, running, sent


def test_a_fork_at_the_head_needs_no_extension(tmp_path: Path) -> None:
    """The record holds what plain ACP states, and what it does not state is absent, never made up (REC-1 to REC-8)."""

    async def story() -> None:
        async with running(tmp_path, settings={"thinking_effort": "effort"}) as (adapter, world):
            session, directory = await opened(adapter, world)
            record = await forked(adapter, Fork(session, HEAD, "shared", directory))
            assert record.session == Field("20300101_2", "reported")
            assert record.directory == Field(directory, "reported")
            assert record.workspace == Field("shared", "reported")
            settings = {"mode": {"value": "auto"}, "model": {"value": "m1"}, "effort": {"value": "off"}}
            assert record.settings == Field(settings, "reported")
            silent = (record.source, record.cut, record.revision, record.checkpoint, record.edge, record.grants)
            assert set(silent) == {ABSENT}
            assert await adapter.perform(SendPrompt("20300101_2", "hi")) == TurnEnded("end_turn")

    asyncio.run(story())


def test_an_isolated_fork_gets_a_copy_made_by_the_suite(tmp_path: Path) -> None:
    """ACP's fork takes a directory and copies nothing (`workspace.isolated.caller`)."""

    async def story() -> None:
        async with running(tmp_path) as (adapter, world):
            session, directory = await opened(adapter, world)
            place = world.reserve("alt")
            record = await forked(adapter, Fork(session, HEAD, "isolated", place))
            assert (record.directory, record.workspace) == (Field(place, "reported"), Field("isolated", "reported"))
            assert world.read(place) == world.read(directory) == {"notes.md": "draft\n"}
            again = world.reserve("again")
            child = str(record.session.value)
            (Path(place) / "new").write_text("x", encoding="utf-8")
            await forked(adapter, Fork(child, HEAD, "isolated", again))
            assert world.read(again) == {"notes.md": "draft\n", "new": "x"}

    asyncio.run(story())


def test_another_directory_than_the_one_asked_for_is_told(tmp_path: Path) -> None:
    """The agent's own statement counts, not what it was asked (clause REC-8)."""
    asked = Fork("s", HEAD, "isolated", str(tmp_path / "new"))
    stated = {"s": str(tmp_path / "old"), "c": str(tmp_path / "elsewhere")}
    record = fork_record(asked, {"sessionId": "c"}, fake_recipe(tmp_path), stated)
    assert record.workspace == Field("other", "reported")
    assert record.settings is ABSENT
    silent = fork_record(asked, {"sessionId": "c"}, fake_recipe(tmp_path), {})
    assert (silent.directory, silent.workspace) == (ABSENT, ABSENT)


def test_an_agent_that_lists_no_sessions_states_no_directory(tmp_path: Path) -> None:
    """A statement that an agent does not make is absent; the fork is made all the same."""

    async def story() -> None:
        async with running(tmp_path, ["no:session/list"]) as (adapter, world):
            session, directory = await opened(adapter, world)
            record = await forked(adapter, Fork(session, HEAD, "shared", directory))
            assert (record.directory, record.workspace) == (ABSENT, ABSENT)

    asyncio.run(story())


@pytest.mark.parametrize("kind", ["before", "after"])
def test_plain_acp_can_not_be_asked_for_a_cut(kind: Any, tmp_path: Path) -> None:
    """Nothing is sent: agents ignore an unknown key in `_meta` and fork the whole history."""

    async def story() -> None:
        async with running(tmp_path) as (adapter, world):
            session, directory = await opened(adapter, world)
            cut = Cut(kind, TurnRef("one", "[m]", 0))
            assert isinstance(await adapter.perform(Fork(session, cut, "shared", directory)), Unsupported)
            assert sent(adapter, "session/fork") == []

    asyncio.run(story())


def test_what_plain_acp_has_no_method_for_is_unsupported(tmp_path: Path) -> None:
    async def story() -> None:
        async with running(tmp_path, ["no:session/fork"]) as (adapter, world):
            session, directory = await opened(adapter, world)
            answer = await adapter.perform(Fork(session, HEAD, "shared", directory))
            assert answer == Unsupported("the agent has no session/fork")
            assert isinstance(await adapter.perform(Import(directory, ())), Unsupported)
            assert isinstance(await adapter.perform(Compact(session)), Unsupported)

    asyncio.run(story())


@pytest.mark.parametrize(
    ("refusals", "reason"), [({}, "other"), ({"unknown-session": "Session not found"}, "unknown-session")]
)
def test_the_reason_of_a_refusal_is_read_never_guessed(
    refusals: Mapping[str, str], reason: str, tmp_path: Path
) -> None:
    """Without the recipe's expression an internal error stays `other`, with the agent's words (clause ATO-2)."""

    async def story() -> None:
        async with running(tmp_path, refusals=refusals) as (adapter, world):
            session, directory = await opened(adapter, world)
            answer = await adapter.perform(Fork(session, HEAD, "shared", directory, exists=False))
            assert answer == Refused(reason, "Internal error: Session not found (-32603)")  # type: ignore[arg-type]  # parametrized
            asked = [params["sessionId"] for params in sent(adapter, "session/fork")]
            assert asked == [extension.Plain.unknown_session]

    asyncio.run(story())


def test_a_busy_source_may_be_refused(tmp_path: Path) -> None:
    """Its turn runs on (clause SNAP-4)."""

    async def story() -> None:
        async with running(tmp_path, ["busy"], refusals={"busy": "active run"}) as (adapter, world):
            session, directory = await opened(adapter, world)
            turn = asyncio.create_task(adapter.perform(SendPrompt(session, "STAY")))
            await call_begun(adapter)
            answer = await adapter.perform(Fork(session, HEAD, "shared", directory))
            assert isinstance(answer, Refused)
            assert answer.reason == "busy"
            assert not turn.done()
            await adapter.perform(Cancel(session))
            await turn

    asyncio.run(story())


def test_an_unwilling_compaction_is_refused_a_willing_one_acknowledged(tmp_path: Path) -> None:
    """An agent compacts on a prompt that the recipe names."""

    async def story(prompt: str) -> Any:
        root = tmp_path / prompt.strip("/")
        root.mkdir()
        async with running(root, compact=prompt) as (adapter, world):
            session, _ = await opened(adapter, world)
            return await adapter.perform(Compact(session))

    assert asyncio.run(story("/compact")) == Acknowledged()
    assert isinstance(asyncio.run(story("/FAIL")), Refused)


def test_settings_are_asked_for_by_the_agents_own_option(tmp_path: Path) -> None:
    """The recipe's names are the trace's; a fork's record states them under the same ones."""

    async def story() -> None:
        async with running(tmp_path, settings={"thinking_effort": "effort"}) as (adapter, world):
            directory = world.create("main", {})
            answer = await adapter.perform(OpenSession(directory, {"effort": "high"}))
            assert isinstance(answer, SessionOpened)
            asked = sent(adapter, "session/set_config_option")
            assert asked == [{"sessionId": answer.session, "configId": "thinking_effort", "value": "high"}]
            record = await forked(adapter, Fork(answer.session, HEAD, "shared", directory))
            assert record.settings.value["effort"] == {"value": "high"}
            refused = await adapter.perform(OpenSession(directory, {"humour": "dry"}))
            assert refused == Refused("other", "Invalid params: Unsupported config option: humour (-32602)")

    asyncio.run(story())


@pytest.mark.parametrize(
    ("fault", "answer"),
    [
        ("no:session/new", Unsupported("the agent has no session/new")),
        ("no:session/set_config_option", Unsupported("the agent has no session/set_config_option")),
    ],
)
def test_a_session_that_can_not_be_had_names_the_method_that_lacks(fault: str, answer: Any, tmp_path: Path) -> None:
    async def story() -> None:
        async with running(tmp_path, [fault]) as (adapter, world):
            assert await adapter.perform(OpenSession(world.create("main", {}), {"effort": "high"})) == answer

    asyncio.run(story())


# --- The model's side ----------------------------------------------------------------------------------------------


def test_every_tool_is_a_command_for_the_agents_shell(tmp_path: Path) -> None:
    """The recipe names the tool and its argument; the command is `shell.command`'s."""

    async def story() -> None:
        use = ToolUse("c1", "edit", "run", "pwd", "[fp.edit.start]", "[fp.edit.end]")
        async with running(tmp_path, tool={"shell": {"name": "bash", "arg": "cmd"}}) as (adapter, _):
            call = adapter.native_call(use)
            assert call.name == "bash"
            assert isinstance(call.arguments, Mapping)
            assert list(call.arguments) == ["cmd"]
            assert "pwd" in call.arguments["cmd"]
            wait = ToolUse("job", "job", "wait", "release", "[fp.job.start]", "[fp.job.end]")
            adapter.native_call(wait)
            assert any((tmp_path / "trial").rglob("job.started"))

    asyncio.run(story())


def test_requests_are_told_apart_by_the_recipes_words(tmp_path: Path) -> None:
    """A title's request repeats what the person said, marker included; only its own words give it away."""
    traffic = {"summary": ["Please summarize"], "side": ["a short title"]}
    read = fake_recipe(tmp_path, traffic=traffic)
    adapter = AcpAdapter(read, own(read))

    def said(*texts: str) -> Prompt:
        return Prompt(tuple(Message("user", (Text(text),)) for text in texts))

    assert adapter.classify(said("[m] hello", "Please summarize it.")) == "summary"
    assert adapter.classify(said("[m] hello\nGenerate a short title.")) == "side"
    assert adapter.classify(said("[m] hello")) is None
    plain = AcpAdapter(fake_recipe(tmp_path), own(read))
    assert plain.classify(said("Please summarize a short title")) is None
