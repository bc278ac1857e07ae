"""The scripted agent by itself, driven over ACP: sessions of its own, on disk, continued at its model's provider."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from forkproof.adapters.acp.adapter import AcpAdapter
from forkproof.adapters.acp.program import own
from forkproof.adapters.acp.recipe import parse
from forkproof.adapters.goose import provider
from forkproof.adapters.protocol import (
    Acknowledged,
    Cut,
    ModelReply,
    Refused,
    Restart,
    Resume,
    SendPrompt,
    SessionOpened,
    TurnEnded,
)
from tests.goose.stage import Stage, play

HEAD = Cut("head")
RECIPE = """
recipe = 1
name = "scripted"
wire = "responses"
command = [{python}, "-I", "-S", {agent}]
tool.shell.name = "shell"
[env]
FORKPROOF_AGENT_URL = "{{endpoint}}"
FORKPROOF_AGENT_KEY = "{{key}}"
"""


def agent() -> AcpAdapter:
    words = {"python": json.dumps(sys.executable), "agent": json.dumps(str(provider._AGENT))}
    recipe = parse(RECIPE.format(**words), "here")
    return AcpAdapter(recipe, own(recipe))


def test_a_turn_with_a_tool_sends_each_item_once(tmp_path: Path) -> None:
    """The provider keeps the conversation: a request holds what is new, and names what it continues."""

    async def story(stage: Stage) -> None:
        main = stage.world.create("main", {})
        session = await stage.open(main)
        await stage.turn(session, "one", stage.use("job", "write", {"a.txt": "A"}))
        assert stage.world.read(main) == {"a.txt": "A"}
        await stage.turn(session, "two")

    stage = play(tmp_path, story, agent())
    assert [request.sent for request in stage.model.requests] == [1, 1, 1]
    assert stage.items("two") == ["one.user", "job.call", "job.result:done", "one.say", "two.user"]


def test_a_session_is_opened_again_by_another_process(tmp_path: Path) -> None:
    """Also after a kill; a session that never was is refused with ACP's own code."""

    async def story(stage: Stage) -> None:
        session = await stage.open(stage.world.create("main", {}))
        await stage.turn(session, "one")
        assert await stage.adapter.perform(Restart(kill=True)) == Acknowledged()
        assert await stage.adapter.perform(Resume(session)) == SessionOpened(session)
        await stage.turn(session, "two")
        assert stage.items("two") == ["one.user", "one.say", "two.user"]
        nobody = await stage.adapter.perform(Resume("agent-session-99"))
        assert isinstance(nobody, Refused)
        assert nobody.reason == "unknown-session"

    play(tmp_path, story, agent())


def test_a_fork_is_a_session_of_its_own(tmp_path: Path) -> None:
    """A harness that asked for one would keep its fork and the source apart (clause PRV-1)."""

    async def story(stage: Stage) -> None:
        main = stage.world.create("main", {})
        session = await stage.open(main)
        await stage.turn(session, "one")
        child = await stage.fork(session, HEAD, main)
        assert child.session.value != session
        assert await stage.next_prompt(child, "ask") == ["one.user", "one.say", "ask.user"]
        await stage.turn(session, "two")
        assert stage.items("two") == ["one.user", "one.say", "two.user"]

    play(tmp_path, story, agent())


def test_a_model_that_fails_fails_the_turn(tmp_path: Path) -> None:
    """With the model's words; the session can be spoken to again, and nothing that was said is lost."""

    async def story(stage: Stage) -> None:
        session = await stage.open(stage.world.create("main", {}))
        stage.model.begin_turn("bad", (ModelReply(status=500, message="no such luck"),))
        ended = await stage.adapter.perform(SendPrompt(session, stage.markers.mark("Go.", "bad.user")))
        stage.model.end_turn("bad")
        assert isinstance(ended, TurnEnded)
        assert (ended.stop, "no such luck" in ended.detail) == ("failed", True)
        assert (await stage.turn(session, "next")).stop == "end_turn"
        assert stage.items("next") == ["bad.user", "next.user"]

    play(tmp_path, story, agent())
