"""Sessions that are stored: the process ends and starts again, and they are listed, opened, read and deleted."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from forkproof.adapters.acp.replay import calls_in_a_row, messages
from forkproof.adapters.errors import HarnessDied, HarnessHung
from forkproof.adapters.prompt import Message, Text, ToolCall, ToolResult
from forkproof.adapters.protocol import (
    Acknowledged,
    Compact,
    Configure,
    Cut,
    Deadlines,
    Delete,
    Fork,
    Refused,
    Restart,
    Resume,
    SendPrompt,
    SessionOpened,
    Trial,
    TurnEnded,
    TurnRef,
    Unsupported,
)
from forkproof.adapters.readings import HistoryRead, SessionLine, SessionsRead
from forkproof.adapters.tree import ListSessions, ReadHistory
from tests.acp.agent import ENDPOINT, HEAD, PATIENT, Silent, call_begun, forked, opened, running, sent, updates


@pytest.mark.parametrize("kill", [False, True])
def test_a_restart_is_another_process_on_the_same_home(*, kill: bool, tmp_path: Path) -> None:
    """What was stored before can be opened again afterwards, and read as it was (clauses ATO-3, RD-5)."""

    async def story() -> None:
        async with running(tmp_path) as (adapter, world):
            session, _ = await opened(adapter, world)
            await adapter.perform(SendPrompt(session, "hello"))
            first = adapter._process
            assert first is not None
            assert await adapter.perform(Restart(kill=kill)) == Acknowledged()
            assert adapter._process is not None
            assert adapter._process.pid != first.pid
            assert first.leftovers() == ()
            assert first.returncode == (-9 if kill else 0)
            assert await adapter.perform(Resume(session)) == SessionOpened(session)
            history = await adapter.perform(ReadHistory(session))
            assert history == HistoryRead(
                (Message("user", (Text("hello"),)), Message("assistant", (Text("echo: hello"),)))
            )
            assert await adapter.perform(SendPrompt(session, "again")) == TurnEnded("end_turn")

    asyncio.run(story())


def test_a_turn_that_runs_ends_with_its_process(tmp_path: Path) -> None:
    async def story() -> None:
        async with running(tmp_path) as (adapter, world):
            session, _ = await opened(adapter, world)
            turn = asyncio.create_task(adapter.perform(SendPrompt(session, "STAY")))
            await call_begun(adapter)
            await adapter.perform(Restart(kill=True))
            with pytest.raises(HarnessDied):
                await turn

    asyncio.run(story())


def test_where_nothing_can_be_loaded_a_session_is_resumed(tmp_path: Path) -> None:
    """An agent has `session/load`, `session/resume` or both; one that has neither can't open a session again."""

    async def story() -> None:
        async with running(tmp_path, ["no:session/load"]) as (adapter, world):
            session, directory = await opened(adapter, world)
            assert await adapter.perform(Resume(session)) == SessionOpened(session)
            assert [each["cwd"] for each in sent(adapter, "session/resume")] == [directory]
            assert isinstance(await adapter.perform(ReadHistory(session)), Unsupported)
            assert isinstance(await adapter.perform(Resume("never")), Refused)

    asyncio.run(story())


def test_the_list_has_every_page_and_what_is_deleted_is_gone(tmp_path: Path) -> None:
    async def story() -> None:
        async with running(tmp_path, refusals={"unknown-session": "Session not found"}) as (adapter, world):
            session, directory = await opened(adapter, world)
            record = await forked(adapter, Fork(session, HEAD, "shared", directory))
            child = str(record.session.value)
            listed = await adapter.perform(ListSessions())
            lines = (SessionLine(session, f"About {session}"), SessionLine(child, f"About {child}"))
            assert listed == SessionsRead((session, child), lines)
            assert await adapter.perform(Delete(session)) == Acknowledged()
            assert await adapter.perform(ListSessions()) == SessionsRead((child,), lines[1:])
            assert isinstance(await adapter.perform(Delete(session)), Refused)
            assert isinstance(await adapter.perform(Delete(child, ("one",))), Unsupported)

    asyncio.run(story())


@pytest.mark.parametrize(("reusable", "settings"), [(True, {}), (False, {}), (True, {"permissions": "auto"})])
def test_one_process_serves_several_traces_where_nothing_is_left_behind(
    *,
    reusable: bool,
    settings: dict[str, str],
    tmp_path: Path,
) -> None:
    """A recipe says whether it may; once somebody chose how to be asked, a grant may be left over and it may not."""

    async def story() -> None:
        async with running(tmp_path, reusable=reusable, settings={"mode": "permissions"}) as (adapter, world):
            session, _ = await opened(adapter, world)
            if settings:
                assert await adapter.perform(Configure(session, settings)) == Acknowledged()
            root = tmp_path / "second"
            root.mkdir()
            process = adapter._process
            again = await adapter.renew(Trial(root, Silent(), ENDPOINT, PATIENT))
            assert (again is not None) is (reusable and not settings)
            if again is not None:
                other, directory = await opened(adapter, again)
                assert directory.startswith(str(root))
                assert other != session
                assert adapter._process is process
                process.kill()
                assert await adapter.renew(Trial(root, Silent(), ENDPOINT, PATIENT)) is None

    asyncio.run(story())


def test_a_compaction_is_over_when_the_agent_says_so(tmp_path: Path) -> None:
    """Some agents answer the prompt at once and work on; what never comes is a hang, not a done compaction."""

    async def story() -> None:
        more = {"compact": "LATER", "compacted": "all (done|over)"}
        async with running(tmp_path, **more) as (adapter, world):
            session, _ = await opened(adapter, world)
            assert await adapter.perform(Compact(session)) == Acknowledged()
            assert updates(adapter, "agent_message_chunk")[-1]["content"]["text"] == "all done"

    asyncio.run(story())


def test_a_compaction_whose_end_never_comes_hangs(tmp_path: Path) -> None:
    async def story() -> None:
        more = {"compact": "LATER", "compacted": "never said"}
        async with running(tmp_path, deadlines=Deadlines(operation=5.0), **more) as (adapter, world):
            session, _ = await opened(adapter, world)
            with pytest.raises(HarnessHung, match="never said"):
                await adapter.perform(Compact(session))

    asyncio.run(story())


def test_a_cut_is_named_by_a_message_of_its_turn(tmp_path: Path) -> None:
    """Each private extension names another message; what it can't name it refuses to ask for, and nothing is sent."""
    from forkproof.adapters.acp.cuts import AirExtension, MessageIdExtension

    def ref(text: str, *, exists: bool = True) -> TurnRef:
        return TurnRef(text, text, 0, exists=exists)

    async def story(extension: AirExtension | MessageIdExtension, root: Path) -> list[object]:
        async with running(root, ["message-ids"], extra=extension) as (adapter, world):
            session, directory = await opened(adapter, world)
            for text in ("one", "two"):
                await adapter.perform(SendPrompt(session, text))
            child = await forked(adapter, Fork(session, Cut("after", ref("one")), "shared", directory))
            # A fork of the fork at a turn that both have, with another process.
            await adapter.perform(Restart(kill=False))
            await forked(adapter, Fork(str(child.session.value), Cut("after", ref("one")), "shared", directory))
            await forked(adapter, Fork(session, Cut("after", ref("x", exists=False)), "shared", directory))
            before = await adapter.perform(Fork(session, Cut("before", ref("one")), "shared", directory))
            assert isinstance(before, Unsupported)
            assert isinstance(
                await adapter.perform(Fork(session, Cut("after", ref("never")), "shared", directory)), Unsupported
            )
            return [each.get("_meta") for each in sent(adapter, "session/fork")]

    for name in ("air", "user"):
        (tmp_path / name).mkdir()
    never = "00000000-0000-4000-8000-000000000001"
    air = asyncio.run(story(AirExtension(), tmp_path / "air"))
    assert air == [
        {"jetbrains": {"air": {"fork": {"version": 1, "messageId": each}}}} for each in ("a-0", "a-0", never)
    ]
    by_user = asyncio.run(story(MessageIdExtension(), tmp_path / "user"))
    assert by_user == [{"messageId": "u-0"}, {"messageId": "m0"}, {"messageId": never}]


def test_a_replay_is_read_as_messages_with_their_calls() -> None:
    """Chunks of one kind make one message; a call stands where it was announced, its result behind it (RD-5)."""
    updates = [
        {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "Do "}},
        {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "it."}},
        {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "sh", "status": "pending"},
        {"sessionUpdate": "tool_call", "toolCallId": "c2", "title": "sh", "status": "pending"},
        {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "rawInput": {"command": "ls"}, "status": None},
        {"sessionUpdate": "usage_update", "used": 3},
        {
            "sessionUpdate": "tool_call_update",
            "toolCallId": "c1",
            "status": "completed",
            "content": [{"type": "content", "content": {"type": "text", "text": "a.md"}}],
        },
        {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Done."}},
    ]
    told = messages(updates)
    assert calls_in_a_row(told)
    assert not calls_in_a_row(told[:3])
    assert told == (
        Message("user", (Text("Do it."),)),
        Message("assistant", (ToolCall("c1", "sh", {"command": "ls"}),)),
        Message("tool", (ToolResult("c1", "a.md"),)),
        Message("assistant", (ToolCall("c2", "sh", {}),)),
        Message("assistant", (Text("Done."),)),
    )
