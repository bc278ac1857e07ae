"""What the agent asks its client: may this call run, and what is in this file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from forkproof.adapters.acp.adapter import AcpAdapter
from forkproof.adapters.diskworld import DiskWorld
from forkproof.adapters.protocol import (
    Cancel,
    Configure,
    Decision,
    HookRun,
    HookSaid,
    OpenSession,
    Question,
    Refused,
    SendPrompt,
    SessionOpened,
    ToolUse,
    TurnEnded,
)
from tests.acp.agent import heard, opened, running, said, sent

MODES = {"settings": {"mode": "permissions"}, "values": {"permissions": {"ask": "careful", "auto": "auto"}}}


class Someone:
    """A person who answers everything alike, or nothing at all until they are asked to."""

    def __init__(self, decision: Decision | None) -> None:
        self.decision = decision
        self.asked: list[Question] = []
        self.came = asyncio.Event()

    async def permit(self, question: Question) -> Decision:
        """Answer at once, or never."""
        self.asked.append(question)
        self.came.set()
        if self.decision is None:
            await asyncio.Event().wait()
        assert self.decision is not None
        return self.decision

    def run_hook(self, run: HookRun) -> HookSaid:
        """Nobody installed one."""
        raise AssertionError(run)


@asynccontextmanager
async def careful(
    root: Path, decision: Decision | None, **more: Any
) -> AsyncIterator[tuple[AcpAdapter, DiskWorld, Someone, str]]:
    """A session whose settings say that the person is asked."""
    async with running(root, **MODES, **more) as (adapter, world):
        person = Someone(decision)
        adapter._desk.person = person
        answer = await adapter.perform(OpenSession(world.create("main", {}), {"permissions": "ask"}))
        assert isinstance(answer, SessionOpened)
        yield adapter, world, person, answer.session


@pytest.mark.parametrize(
    ("decision", "option"),
    [
        ("allow_once", "id-allow_once"),
        ("allow_for_session", "id-allow_always"),
        ("allow_always", "id-allow_always"),
        ("reject", "id-reject_once"),
    ],
)
def test_the_persons_decision_is_the_option_of_that_kind(decision: Decision, option: str, tmp_path: Path) -> None:
    """A question names the session that asks; the answer grants what was said and no more (AUT-1, OPS-6)."""

    async def story() -> None:
        async with careful(tmp_path, decision) as (adapter, _, person, session):
            assert await adapter.perform(SendPrompt(session, "ASK ls")) == TurnEnded("end_turn")
            assert f'"optionId": "{option}"' in said(adapter)
            assert [question.session for question in person.asked] == [session]
            granted = adapter._desk.allowed
            assert len(granted) == (0 if decision == "reject" else 1)

    asyncio.run(story())


def test_a_question_is_about_the_call_whose_command_it_shows(tmp_path: Path) -> None:
    """The agent's own id of a call is not the one on the wire; the command is the call's own, marker included."""

    async def story() -> None:
        async with careful(tmp_path, "allow_once") as (adapter, _, person, session):
            call = adapter.native_call(
                ToolUse("call_x_mail", "mail", "count", "mails", "[x.mail.start]", "[x.mail.end]")
            )
            adapter.native_call(ToolUse("call_x_two", "two", "count", "mails", "[x.two.start]", "[x.two.end]"))
            assert isinstance(call.arguments, dict)
            await adapter.perform(SendPrompt(session, f"ASK {call.arguments['command']}"))
            await adapter.perform(SendPrompt(session, "ASK what nobody scripted"))
            assert [question.call for question in person.asked] == ["call_x_mail", "t1"]

    asyncio.run(story())


def test_a_recipe_may_name_the_option_of_a_decision(tmp_path: Path) -> None:
    """ACP has one kind for all lasting grants; only the agent's own ids tell them apart."""

    async def story() -> None:
        answers = {"allow_for_session": "id-allow_once", "allow_always": "id-nowhere"}
        async with careful(tmp_path, "allow_for_session", answers=answers) as (adapter, _, person, session):
            await adapter.perform(SendPrompt(session, "ASK ls"))
            assert '"optionId": "id-allow_once"' in said(adapter)
            person.decision = "allow_always"
            await adapter.perform(SendPrompt(session, "ASK ls"))
            assert '"outcome": "cancelled"' in said(adapter)

    asyncio.run(story())


def test_a_cancelled_turn_takes_its_question_back(tmp_path: Path) -> None:
    """ACP wants every open question of a cancelled turn answered with `cancelled`; other sessions' stay open."""

    async def story() -> None:
        async with careful(tmp_path, None) as (adapter, world, person, session):
            other = await adapter.perform(OpenSession(world.create("other", {}), {"permissions": "ask"}))
            assert isinstance(other, SessionOpened)
            turns = [
                asyncio.create_task(adapter.perform(SendPrompt(each, "ASK ls"))) for each in (session, other.session)
            ]
            async with asyncio.timeout(30):
                while len(person.asked) < 2:
                    person.came.clear()
                    await person.came.wait()
            await adapter.perform(Cancel(session))
            assert await turns[0] == TurnEnded("cancelled")
            assert not turns[1].done()
            answers = [m["result"] for way, m in heard(adapter).messages if way == "out" and "result" in m]
            assert answers == [{"outcome": {"outcome": "cancelled"}}]
            await adapter.perform(Cancel(other.session))
            await turns[1]

    asyncio.run(story())


def test_a_mode_is_changed_by_the_method_that_the_agent_stated_it_for(tmp_path: Path) -> None:
    """Options are stated as `configOptions` or as `modes`; what is stated nowhere is for the agent to refuse."""

    async def story() -> None:
        async with careful(tmp_path, "reject") as (adapter, _, _, session):
            assert [each["modeId"] for each in sent(adapter, "session/set_mode")] == ["careful"]
            strict = await adapter.perform(Configure(session, {"permissions": "padlocked"}))
            assert isinstance(strict, Refused)
            assert "no mode padlocked" in strict.message
            unknown = await adapter.perform(Configure(session, {"tools-of-mine": "none"}))
            assert isinstance(unknown, Refused)
            assert sent(adapter, "session/set_config_option")[-1]["configId"] == "tools-of-mine"

    asyncio.run(story())


def link_out(directory: str, target: Path) -> None:
    """A link that leads out of a session's directory."""
    Path(directory, "out").symlink_to(target)


def test_files_are_served_from_the_sessions_directory_only(tmp_path: Path) -> None:
    """Neither an absolute path elsewhere nor a link that leads out is followed; what was refused is not made."""

    async def story() -> None:
        async with running(tmp_path, client=["files"]) as (adapter, world):
            session, directory = await opened(adapter, world)
            outside = tmp_path / "outside.txt"
            outside.write_text("secret\n", encoding="utf-8")
            link_out(directory, tmp_path)
            await adapter.perform(SendPrompt(session, f"READ {directory}/notes.md"))
            assert '"content": "draft\\n"' in said(adapter)
            await adapter.perform(SendPrompt(session, f"WRITE {directory}/sub/new.md"))
            assert world.read(directory)["sub/new.md"] == "written\n"
            for path in (outside, f"{directory}/out/outside.txt", f"{directory}/../../control", "notes.md"):
                await adapter.perform(SendPrompt(session, f"READ {path}"))
                assert "-32602" in said(adapter), path
            await adapter.perform(SendPrompt(session, f"WRITE {directory}/out/made.txt"))
            assert "-32602" in said(adapter)
            assert not (tmp_path / "made.txt").exists()
            await adapter.perform(SendPrompt(session, f"READ {directory}/nothing.md"))
            assert "-32002" in said(adapter)

    asyncio.run(story())
