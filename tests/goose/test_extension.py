"""Goose's own ways on the scripted agent, which stores rows and cuts them as Goose does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from forkproof.adapters import goose
from forkproof.adapters.acp.adapter import AcpAdapter
from forkproof.adapters.acp.recipe import load
from forkproof.adapters.diskworld import DiskWorld
from forkproof.adapters.errors import Garbage, NotInstalled
from forkproof.adapters.goose.extension import GooseExtension
from forkproof.adapters.goose.pace import Pace
from forkproof.adapters.protocol import (
    ABSENT,
    Cut,
    Field,
    Fork,
    Import,
    ImportedTurn,
    Refused,
    SendPrompt,
    SessionOpened,
    TurnRef,
    Unsupported,
)
from tests.acp.agent import HEAD, call_begun, forked, opened, running, sent

RECIPE = Path(goose.__file__).parents[1] / "acp" / "recipes" / "goose.toml"


@asynccontextmanager
async def story_on(root: Path, *faults: str) -> AsyncIterator[tuple[AcpAdapter, DiskWorld]]:
    """An adapter on the scripted agent, with one clock for both, which only a wait for the next second moves."""

    async def to_the_next_second(_seconds: float) -> None:
        (root / "clock").write_text(str(now() + 1), encoding="utf-8")

    def now() -> int:
        return int((root / "clock").read_text(encoding="utf-8"))

    refusals = load(RECIPE).refusals
    extra = GooseExtension(Pace(now, to_the_next_second))
    async with running(root, faults, extra=extra, refusals=dict(refusals)) as (adapter, world):
        yield adapter, world


async def three_turns(adapter: AcpAdapter, world: DiskWorld) -> tuple[str, str]:
    session, directory = await opened(adapter, world)
    for number in range(3):
        await adapter.perform(SendPrompt(session, f"question [t{number}]"))
    return session, directory


def reference(turn: int) -> TurnRef:
    return TurnRef(f"t{turn}", f"[t{turn}]", turn)


async def held(adapter: AcpAdapter, session: object) -> list[str]:
    """Which turns a session of the scripted agent holds, by its own export."""
    assert adapter._client is not None
    answer = await adapter._client.call("_goose/unstable/session/export", {"sessionId": session, "format": "json"})
    texts = [row["content"][0]["text"] for row in json.loads(answer["data"])["conversation"] if row["role"] == "user"]
    return [text.split("[")[1].rstrip("]") for text in texts]


@pytest.mark.parametrize(
    ("cut", "turns"),
    [
        (Cut("before", reference(0)), []),
        (Cut("before", reference(1)), ["t0"]),
        (Cut("before", reference(2)), ["t0", "t1"]),
        (Cut("after", reference(0)), ["t0"]),
        (Cut("after", reference(2)), ["t0", "t1", "t2"]),
        (HEAD, ["t0", "t1", "t2"]),
    ],
)
def test_each_cut_becomes_the_second_that_makes_it(cut: Cut, turns: list[str], tmp_path: Path) -> None:
    """As fast as a trace may be, every turn can be cut before and after (clauses CUT-1, CUT-2)."""

    async def story() -> None:
        async with story_on(tmp_path) as (adapter, world):
            session, directory = await three_turns(adapter, world)
            record = await forked(adapter, Fork(session, cut, "shared", directory))
            assert await held(adapter, record.session.value) == turns

    asyncio.run(story())


def test_a_fork_is_cut_by_its_own_rows(tmp_path: Path) -> None:
    """A copied row keeps its stamp, so a fork of a fork is cut by the fork's own export (clause ISO-6)."""

    async def story() -> None:
        async with story_on(tmp_path) as (adapter, world):
            session, directory = await three_turns(adapter, world)
            first = await forked(adapter, Fork(session, Cut("before", reference(2)), "shared", directory))
            child = str(first.session.value)
            await adapter.perform(SendPrompt(child, "another [t9]"))
            second = await forked(adapter, Fork(child, Cut("before", reference(9)), "shared", directory))
            assert await held(adapter, second.session.value) == ["t0", "t1"]
            gone = await adapter.perform(Fork(child, Cut("before", reference(2)), "shared", directory))
            assert isinstance(gone, Unsupported)
            assert "turn t2" in gone.what

    asyncio.run(story())


def test_a_turn_that_never_was_can_not_be_asked_for(tmp_path: Path) -> None:
    """Every second is a cut that Goose understands, so none is unknown, and none is made up (clause CUT-5)."""

    async def story() -> None:
        async with story_on(tmp_path) as (adapter, world):
            session, directory = await three_turns(adapter, world)
            ghost = TurnRef("ghost", "[ghost]", 0, exists=False)
            answer = await adapter.perform(Fork(session, Cut("before", ghost), "shared", directory))
            assert isinstance(answer, Unsupported)
            assert sent(adapter, "session/fork") == []

    asyncio.run(story())


def test_a_session_that_never_was_has_a_plausible_id(tmp_path: Path) -> None:
    """Its refusal is the agent's answer to the fork, not to a question that the adapter asks first (clause ATO-2)."""

    async def story() -> None:
        async with story_on(tmp_path) as (adapter, world):
            _, directory = await opened(adapter, world)
            cut = Cut("before", reference(0))
            answer = await adapter.perform(Fork("nobody", cut, "shared", directory, exists=False))
            assert answer == Refused("unknown-session", "Internal error: Session not found (-32603)")
            assert sent(adapter, "session/fork")[-1]["sessionId"] == "20200101_99"
            assert sent(adapter, "_goose/unstable/session/export") == []

    asyncio.run(story())


def test_the_record_takes_what_private_methods_state(tmp_path: Path) -> None:
    """`session/list` leaves empty children out; the parent in the export is a source only if it names one."""

    async def story() -> None:
        async with story_on(tmp_path, "no:session/list") as (adapter, world):
            session, directory = await three_turns(adapter, world)
            record = await forked(adapter, Fork(session, Cut("before", reference(0)), "shared", directory))
            assert record.directory == Field(directory, "reported")
            assert record.workspace == Field("shared", "reported")
            assert record.source is ABSENT

    asyncio.run(story())


def test_a_parent_that_is_named_is_the_source(tmp_path: Path) -> None:
    async def story() -> None:
        async with story_on(tmp_path, "names-parents") as (adapter, world):
            session, directory = await opened(adapter, world)
            record = await forked(adapter, Fork(session, HEAD, "shared", directory))
            assert record.source == Field(session, "reported")

    asyncio.run(story())


def test_an_import_takes_a_fresh_sessions_settings_and_leaves_nothing_else(tmp_path: Path) -> None:
    """It is loaded before its first prompt, and the session that lent its settings is deleted."""

    async def story() -> None:
        async with story_on(tmp_path) as (adapter, world):
            directory = world.create("main", {})
            history = tuple(ImportedTurn(7, f"question [t{n}]", "answer") for n in range(3))
            answer = await adapter.perform(Import(directory, history))
            assert isinstance(answer, SessionOpened)
            assert await held(adapter, answer.session) == ["t0", "t1", "t2"]
            assert sent(adapter, "session/load")[-1]["sessionId"] == answer.session
            assert [p["sessionId"] for p in sent(adapter, "session/delete")] == ["20300101_1"]
            record = await forked(adapter, Fork(answer.session, Cut("before", reference(2)), "shared", directory))
            # Of three turns in one second the scripted agent, like Goose, keeps none (clause CUT-3).
            assert await held(adapter, record.session.value) == []

    asyncio.run(story())


def test_a_history_that_goose_would_sort_is_not_imported(tmp_path: Path) -> None:
    """Goose keeps rows by their stamps: what it would make of this history is another one, so nothing is asked for."""

    async def story() -> None:
        async with story_on(tmp_path) as (adapter, world):
            directory = world.create("main", {})
            turns = (ImportedTurn(2000, "q [t0]", "a"), ImportedTurn(1000, "q [t1]", "a"))
            assert isinstance(await adapter.perform(Import(directory, turns)), Unsupported)
            assert sent(adapter, "session/new") == []

    asyncio.run(story())


@pytest.mark.parametrize("method", ["import", "export"])
def test_a_goose_without_a_private_method_can_not_import(method: str, tmp_path: Path) -> None:
    """Private methods may go with any release."""

    async def story() -> None:
        async with story_on(tmp_path, f"no:_goose/unstable/session/{method}") as (adapter, world):
            directory = world.create("main", {})
            assert isinstance(await adapter.perform(Import(directory, ())), Unsupported)

    asyncio.run(story())


def test_an_export_that_can_not_be_read_ends_the_trace(tmp_path: Path) -> None:
    async def story() -> None:
        async with story_on(tmp_path, "odd-export") as (adapter, world):
            session, directory = await three_turns(adapter, world)
            with pytest.raises(Garbage, match="export"):
                await adapter.perform(Fork(session, Cut("before", reference(0)), "shared", directory))

    asyncio.run(story())


def test_a_child_of_a_busy_source_is_paced_too(tmp_path: Path) -> None:
    """The rows of the turn that runs were copied a moment ago: the child's first message takes a later second."""

    async def story() -> None:
        async with story_on(tmp_path) as (adapter, world):
            session, directory = await opened(adapter, world)
            turn = asyncio.create_task(adapter.perform(SendPrompt(session, "STAY [t0]")))
            await call_begun(adapter)
            record = await forked(adapter, Fork(session, HEAD, "shared", directory))
            child = str(record.session.value)
            await adapter.perform(SendPrompt(child, "and now [t1]"))
            again = await forked(adapter, Fork(child, Cut("before", reference(1)), "shared", directory))
            assert await held(adapter, again.session.value) == ["t0"]
            turn.cancel()
            await asyncio.gather(turn, return_exceptions=True)

    asyncio.run(story())


def test_the_shipped_recipe_is_whole() -> None:
    """It loads, and what it declares is what the tests on the real binary show."""
    recipe = load(RECIPE)
    assert (recipe.name, recipe.wire, recipe.extension) == ("goose", "chat", "goose")
    assert {"fork.before", "fork.after", "fork.head", "compact", "cancel", "import"} <= recipe.capabilities
    assert recipe.policies["busy_source"] == "interrupt"
    assert set(recipe.variants) == {"acp-provider", "state-machine"}
    assert set(recipe.wires) == {"responses", "messages"}


def test_a_goose_that_is_not_there_is_not_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("FORKPROOF_GOOSE_BINARY", raising=False)
    monkeypatch.setenv("FORKPROOF_HOME", str(tmp_path))
    with pytest.raises(NotInstalled, match="goose"):
        goose.create()
