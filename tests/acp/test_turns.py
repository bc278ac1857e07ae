"""Turns over ACP: how they end, what the agent may ask meanwhile, and how it may break."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from forkproof.adapters.acp.adapter import AcpAdapter
from forkproof.adapters.errors import AdapterError, Garbage, HarnessDied, HarnessHung
from forkproof.adapters.protocol import (
    Acknowledged,
    Cancel,
    Deadlines,
    Fork,
    OpenSession,
    Refused,
    SendPrompt,
    SessionOpened,
    TurnEnded,
)
from tests.acp.agent import HEAD, call_begun, incoming, left_over, opened, running, said, updates


def test_a_turn_ends_with_acps_stop_reason(tmp_path: Path) -> None:
    async def story() -> None:
        async with running(tmp_path) as (adapter, world):
            session, _ = await opened(adapter, world)
            assert await adapter.perform(SendPrompt(session, "hello")) == TurnEnded("end_turn")
            assert said(adapter) == "echo: hello"

    asyncio.run(story())


def test_what_no_schema_knows_is_kept(tmp_path: Path) -> None:
    """A checker of lineage can't afford to drop a field or an update that is newer than itself."""

    async def story() -> None:
        async with running(tmp_path) as (adapter, world):
            session, _ = await opened(adapter, world)
            assert await adapter.perform(SendPrompt(session, "ODD")) == TurnEnded("end_turn")
            assert updates(adapter, "compaction_update") == [
                {"sessionUpdate": "compaction_update", "nobody": ["knows"]}
            ]
            assert [m for m in incoming(adapter) if m.get("method") == "_vendor/notice"]
            assert any(m["result"].get("newField") == 1 for m in incoming(adapter) if "result" in m)
            assert [m["result"]["usage"] for m in incoming(adapter) if "stopReason" in m.get("result", {})] == [
                {"new": 1}
            ]

    asyncio.run(story())


def test_a_permission_is_given_once(tmp_path: Path) -> None:
    """A grant that outlives its call would change what later calls show (clause AUT-1)."""

    async def story() -> None:
        async with running(tmp_path) as (adapter, world):
            session, _ = await opened(adapter, world)
            await adapter.perform(SendPrompt(session, "ASK"))
            assert '"optionId": "id-allow_once"' in said(adapter)
            assert adapter._client is not None
            assert adapter._client.allowed == [session]

    asyncio.run(story())


def test_where_no_single_call_can_be_allowed_none_is(tmp_path: Path) -> None:
    """Better a cancelled call than a lasting grant that nobody asked for."""

    async def story() -> None:
        async with running(tmp_path) as (adapter, _):
            assert adapter._client is not None
            options = [{"optionId": "a", "kind": "allow_always"}, {"kind": "allow_once"}, "odd"]
            answer = await adapter._client.desk.answer("session/request_permission", {"options": options})
            assert answer == {"outcome": {"outcome": "cancelled"}}
            assert adapter._client.allowed == []

    asyncio.run(story())


def test_what_the_client_does_not_offer_is_no_method(tmp_path: Path) -> None:
    """An agent that asks for a file all the same is told so, and its turn goes on."""

    async def story() -> None:
        async with running(tmp_path) as (adapter, world):
            session, _ = await opened(adapter, world)
            assert await adapter.perform(SendPrompt(session, "READ /etc/hostname")) == TurnEnded("end_turn")
            assert "-32601" in said(adapter)

    asyncio.run(story())


def test_a_cancelled_turn_ends_as_cancelled(tmp_path: Path) -> None:
    """`Cancel` is acknowledged at once; the open prompt is what tells that the turn is over."""

    async def story() -> None:
        async with running(tmp_path) as (adapter, world):
            session, _ = await opened(adapter, world)
            turn = asyncio.create_task(adapter.perform(SendPrompt(session, "STAY")))
            await call_begun(adapter)
            assert await adapter.perform(Cancel(session)) == Acknowledged()
            assert await turn == TurnEnded("cancelled")

    asyncio.run(story())


def test_an_error_answer_to_a_prompt_is_a_failed_turn(tmp_path: Path) -> None:
    """The turn may have been stored: it failed, it was not refused."""

    async def story() -> None:
        async with running(tmp_path) as (adapter, world):
            session, _ = await opened(adapter, world)
            answer = await adapter.perform(SendPrompt(session, "FAIL"))
            assert answer == TurnEnded("failed", detail="Internal error: the model is gone (-32603)")

    asyncio.run(story())


def test_a_prompt_to_a_busy_session_is_refused(tmp_path: Path) -> None:
    """The reason comes from the recipe's expression; sessions do not hold each other up."""

    async def story() -> None:
        async with running(tmp_path, refusals={"busy": "active run"}) as (adapter, world):
            session, directory = await opened(adapter, world)
            other = await adapter.perform(OpenSession(directory))
            assert isinstance(other, SessionOpened)
            turn = asyncio.create_task(adapter.perform(SendPrompt(session, "STAY")))
            await call_begun(adapter)
            answer = await adapter.perform(SendPrompt(session, "again"))
            assert isinstance(answer, Refused)
            assert answer.reason == "busy"
            assert await adapter.perform(SendPrompt(other.session, "meanwhile")) == TurnEnded("end_turn")
            await adapter.perform(Cancel(session))
            await turn

    asyncio.run(story())


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [("DIE", HarnessDied, "exit code 7"), ("GARBAGE", Garbage, "Segmentation fault, core dumped")],
)
def test_an_agent_that_breaks_in_a_turn_is_told(
    text: str, error: type[AdapterError], words: str, tmp_path: Path
) -> None:
    """What it said last is part of the cause, and what came before was heard."""

    async def story() -> AcpAdapter:
        async with running(tmp_path) as (adapter, world):
            session, _ = await opened(adapter, world)
            await adapter.perform(SendPrompt(session, "hello"))
            with pytest.raises(error) as caught:
                await adapter.perform(SendPrompt(session, text))
            assert words in caught.value.cause
            assert caught.value.hint
            with pytest.raises(error):
                await adapter.perform(OpenSession("/"))
            return adapter

    adapter = asyncio.run(story())
    assert said(adapter) == "echo: hello"
    assert "DIE" not in text or "fatal: the agent saw DIE" in adapter.diagnostics()


def test_an_agent_that_does_not_answer_an_operation_hangs(tmp_path: Path) -> None:
    """A hang is told at the deadline and two seconds at most, and nothing is left (design section 11)."""

    async def story() -> None:
        async with running(tmp_path, ["hang:session/fork"], Deadlines(operation=1.0)) as (adapter, world):
            session, directory = await opened(adapter, world)
            began = time.monotonic()
            with pytest.raises(HarnessHung, match="session/fork within 1 s"):
                await adapter.perform(Fork(session, HEAD, "shared", directory))
            assert time.monotonic() - began < 1.0 + 2.0 + 5.0  # the last term: a slow machine
            assert left_over(tmp_path) == []

    asyncio.run(story())


def test_a_turn_has_no_deadline_of_its_own(tmp_path: Path) -> None:
    """A trace may keep a turn open for longer than one operation may take."""

    async def story() -> None:
        async with running(tmp_path, deadlines=Deadlines(operation=0.5)) as (adapter, world):
            session, _ = await opened(adapter, world)
            turn = asyncio.create_task(adapter.perform(SendPrompt(session, "STAY")))
            await asyncio.wait({turn}, timeout=1.0)
            assert not turn.done()
            await adapter.perform(Cancel(session))
            assert await turn == TurnEnded("cancelled")

    asyncio.run(story())
