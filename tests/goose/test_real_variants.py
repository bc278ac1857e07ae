"""Goose's other ways on the real binary: engine, wire formats, an agent as its model, and what changes a session."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import cast

import psutil
import pytest

from forkproof.adapters import goose
from forkproof.adapters.acp.adapter import AcpAdapter
from forkproof.adapters.choice import Choice
from forkproof.adapters.protocol import Acknowledged, Cut, Refused, Restart, Resume, SessionOpened, Steer, TurnEnded
from forkproof.adapters.readings import HistoryRead, Moved, SessionsRead
from forkproof.adapters.tree import ListSessions, ReadHistory, Rewind
from tests.goose.stage import Stage, play
from tests.goose.test_real import tag_of

pytestmark = pytest.mark.real

HEAD = Cut("head")
LOGS = "home/.local/state/goose/logs"


def other(variant: str | None = None, wire: str | None = None) -> AcpAdapter:
    return cast("AcpAdapter", goose.create(Choice("goose", variant=variant, wire=wire)))


async def a_fork(stage: Stage) -> None:
    """One turn with a tool, and a fork before the next one."""
    main = stage.world.create("main", {})
    session = await stage.open(main)
    await stage.turn(session, "one", stage.use("job", "run", "echo hello"))
    await stage.turn(session, "two")
    child = await stage.fork(session, Cut("before", stage.ref("two")), main)
    assert await stage.next_prompt(child, "ask") == ["one.user", "job.call", "job.result:done", "one.say", "ask.user"]


@pytest.mark.parametrize("variant", [None, "state-machine"])
def test_the_second_engine_runs_only_where_it_was_chosen(variant: str | None, tmp_path: Path) -> None:
    """Goose's own log says which engine answered: a variant that was not in force would be certified for nothing."""
    stage = play(tmp_path, a_fork, other(variant))
    logs = "".join(log.read_text(encoding="utf-8") for log in (tmp_path / LOGS).rglob("*.log"))
    assert stage.adapter.describe().variant == (variant or "")
    assert "goose" in logs
    assert ("via experimental state machine" in logs) == (variant is not None)


@pytest.mark.parametrize(
    ("wire", "path"), [("chat", "/v1/chat/completions"), ("responses", "/v1/responses"), ("messages", "/v1/messages")]
)
def test_each_wire_format_is_the_one_that_is_spoken(wire: str, path: str, tmp_path: Path) -> None:
    stage = play(tmp_path, a_fork, other(wire=wire))
    assert {request.path for request in stage.model.requests} == {path}
    assert stage.adapter.describe().wire == wire


@pytest.mark.parametrize("wire", ["chat", "responses", "messages"])
def test_an_effort_reaches_the_model_on_every_wire(wire: str, tmp_path: Path) -> None:
    """Goose sends one for models that it knows only: else it would look like a setting that got lost."""

    async def story(stage: Stage) -> None:
        session = await stage.open(stage.world.create("main", {}), model="deep-thinker", effort="high")
        await stage.turn(session, "one")
        assert stage.prompt("one").settings["reasoning_effort"] == "high"

    play(tmp_path, story, other(wire=wire))


def test_with_an_agent_as_its_model_a_fork_is_in_the_agents_session(tmp_path: Path) -> None:
    """Goose opens the session that the source's agent keeps: the model reads on where the source was (clause PRV-1)."""

    async def story(stage: Stage) -> None:
        main = stage.world.create("main", {})
        session = await stage.open(main)
        await stage.turn(session, "one", stage.use("job", "write", {"a.txt": "A"}))
        assert stage.world.read(main) == {"a.txt": "A"}
        assert stage.items("one", 1) == ["one.user", "job.call", "job.result:done"]
        await stage.turn(session, "two")
        assert stage.items("two")[-3:] == ["job.result:done", "one.say", "two.user"]
        child = await stage.fork(session, Cut("before", stage.ref("two")), main)
        assert (await stage.next_prompt(child, "ask"))[-3:] == ["two.user", "two.say", "ask.user"]

    stage = play(tmp_path, story, other("acp-provider"))
    assert {request.path for request in stage.model.requests} == {"/v1/responses"}
    assert {request.prompt.session for request in stage.model.requests} == {"agent-session-1"}


def test_turns_can_be_taken_off_a_session(tmp_path: Path) -> None:
    """They are gone from the prompt and from the history, also after a restart by kill."""

    async def story(stage: Stage) -> None:
        session = await stage.open(stage.world.create("main", {}))
        for turn in ("one", "two", "three"):
            await stage.turn(session, turn)
        perform = stage.adapter.perform
        assert await perform(Rewind(session, 2, stage.markers.tag("two.user"))) == Moved()
        await stage.turn(session, "four")
        assert stage.items("four") == ["one.user", "one.say", "four.user"]
        assert await perform(Restart(kill=True)) == Acknowledged()
        assert await perform(Resume(session)) == SessionOpened(session)
        history = await perform(ReadHistory(session))
        assert isinstance(history, HistoryRead)
        assert [message.role for message in history.messages] == ["user", "assistant"] * 2
        listed = await perform(ListSessions())
        assert isinstance(listed, SessionsRead)
        assert [(line.session, line.source) for line in listed.lines] == [(session, "")]

    play(tmp_path, story)


def test_a_turn_that_runs_can_be_spoken_into(tmp_path: Path) -> None:
    """What was said is in the turn's next request, and does not end the turn; with none running it is refused."""

    async def story(stage: Stage) -> None:
        session = await stage.open(stage.world.create("main", {}))
        steer = Steer(session, stage.markers.mark("No salt.", "also.user"))
        assert isinstance(await stage.adapter.perform(steer), Refused)
        turn = stage.begin(session, "cook", stage.use("job", "wait", "release"))
        await stage.world.started(stage.markers.call_id("job"))
        stage.model.begin_steering("also", "cook")
        assert await stage.adapter.perform(steer) == Acknowledged()
        stage.world.release(stage.markers.call_id("job"))
        assert await turn == TurnEnded("end_turn")
        stage.model.end_turn("cook")
        assert stage.items("cook", 1) == ["cook.user", "job.call", "job.result:done", "also.user"]
        await stage.turn(session, "serve")
        child = await stage.fork(session, Cut("after", stage.ref("cook")), stage.world.create("child", {}))
        assert (await stage.next_prompt(child, "ask"))[-2:] == ["cook.say", "ask.user"]

    play(tmp_path, story)


def test_several_forks_at_once_are_one_process_group(tmp_path: Path) -> None:
    """With an agent behind each session, `stop` leaves none of them."""
    adapter = other("acp-provider")

    async def story(stage: Stage) -> None:
        main = stage.world.create("main", {})
        session = await stage.open(main)
        await stage.turn(session, "one")
        await asyncio.gather(*(stage.fork(session, HEAD, main) for _ in range(3)))
        assert adapter._process is not None
        assert len(agents(adapter._process.tag)) >= 4

    stage = play(tmp_path, story, adapter)
    assert stage.adapter._process is not None
    assert agents(stage.adapter._process.tag) == []


def agents(tag: str) -> list[int]:
    """The scripted agents of this trial that run."""
    found = (p for p in psutil.process_iter(["cmdline"]) if tag_of(p) == tag)
    return [p.pid for p in found if any("scripted_agent" in word for word in p.info["cmdline"] or ())]
