"""The Goose adapter on the real binary, which must be installed: without it these tests fail, they are never skipped.

They hold what the adapter does. What Goose makes of it, and where that deviates from the contract, is the traces' part.
"""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import cast

import psutil
import pytest

from forkproof.adapters import acp
from forkproof.adapters.acp.adapter import AcpAdapter
from forkproof.adapters.environment import TAG
from forkproof.adapters.errors import HarnessDied
from forkproof.adapters.installation import installed
from forkproof.adapters.protocol import (
    Acknowledged,
    Cancel,
    Compact,
    Cut,
    Field,
    Fork,
    Import,
    ImportedTurn,
    ModelReply,
    Refused,
    Say,
    SendPrompt,
    SessionOpened,
    TurnEnded,
)
from tests.goose.stage import Stage, play

pytestmark = pytest.mark.real

HEAD = Cut("head")


def test_a_fork_before_an_edit_forgets_the_edit_and_still_sees_the_file(tmp_path: Path) -> None:
    """The concrete trace of seed 000, with a shared and with an isolated workspace."""

    async def story(stage: Stage) -> None:
        main = stage.world.create("main", {"notes.md": "draft\n"})
        session = await stage.open(main)
        await stage.turn(session, "plan")
        await stage.turn(session, "write", stage.use("edit", "write", {"parser.py": "v1\n"}))
        assert stage.items("write", 1) == ["plan.user", "plan.say", "write.user", "edit.call", "edit.result:done"]
        before = Cut("before", stage.ref("write"))
        asked = len(stage.model.requests)
        shared = await stage.fork(session, before, main)
        alone = await stage.fork(session, before, stage.world.reserve("alone"), "isolated")
        assert len(stage.model.requests) == asked
        assert (shared.directory, shared.workspace) == (Field(main, "reported"), Field("shared", "reported"))
        assert alone.workspace == Field("isolated", "reported")
        assert await stage.next_prompt(shared, "retry") == ["plan.user", "plan.say", "retry.user"]
        change = stage.use("change", "edit", {"parser.py": {"old": "v1", "new": "v2"}})
        where = stage.use("where", "run", "pwd")
        await stage.turn(str(alone.session.value), "alone", change, where)
        assert stage.items("alone") == ["plan.user", "plan.say", "alone.user"]
        assert stage.world.read(main) == {"notes.md": "draft\n", "parser.py": "v1\n"}
        assert stage.world.read(str(alone.directory.value)) == {"notes.md": "draft\n", "parser.py": "v2\n"}

    play(tmp_path, story)


def test_every_cut_point_can_be_asked_for(tmp_path: Path) -> None:
    """Before the first and a middle turn, after a middle and the last one, at the head, and in a fork."""

    async def story(stage: Stage) -> None:
        main = stage.world.create("main", {})
        session = await stage.open(main)
        for turn in ("one", "two", "three"):
            await stage.turn(session, turn)
        one, two, three = (["one.user", "one.say"], ["two.user", "two.say"], ["three.user", "three.say"])
        for number, (cut, inherited) in enumerate(
            [
                (Cut("before", stage.ref("one")), []),
                (Cut("before", stage.ref("two")), one),
                (Cut("after", stage.ref("two")), one + two),
                (Cut("after", stage.ref("three")), one + two + three),
                (HEAD, one + two + three),
            ]
        ):
            child = await stage.fork(session, cut, main)
            assert await stage.next_prompt(child, f"ask{number}") == [*inherited, f"ask{number}.user"]
        again = await stage.fork(str(child.session.value), Cut("before", stage.ref("ask4")), main)
        assert await stage.next_prompt(again, "again") == [*one, *two, *three, "again.user"]

    play(tmp_path, story)


def test_a_prompt_is_the_same_in_every_run(tmp_path: Path) -> None:
    """No clock, no path, no random order in it: a difference between two runs is Goose's doing or ours, not noise."""

    async def story(stage: Stage) -> None:
        main = stage.world.create("main", {})
        session = await stage.open(main)
        await stage.turn(session, "one", stage.use("job", "run", "echo hello"))
        child = await stage.fork(session, HEAD, main)
        await stage.next_prompt(child, "ask")

    roots = (tmp_path / "a", tmp_path / "another-place")
    for root in roots:
        root.mkdir()
    first, second = (play(root, story) for root in roots)
    assert [r.prompt for r in first.model.requests] == [r.prompt for r in second.model.requests]
    assert first.prompt("ask").tools
    assert {r.kind for r in first.model.requests} == {"turn"}


def test_a_session_that_never_was_is_refused(tmp_path: Path) -> None:
    async def story(stage: Stage) -> None:
        main = stage.world.create("main", {})
        await stage.open(main)
        answer = await stage.adapter.perform(Fork("nobody", HEAD, "shared", main, exists=False))
        assert isinstance(answer, Refused)
        assert answer.reason == "unknown-session"

    play(tmp_path, story)


def test_a_compaction_is_started_and_its_summary_request_is_told(tmp_path: Path) -> None:
    """The summary's request repeats the whole history, markers included; it is no turn's (docs/goose.md)."""

    async def story(stage: Stage) -> None:
        session = await stage.open(stage.world.create("main", {}))
        await stage.turn(session, "one")
        stage.model.begin_summary("sum", ModelReply((Say(stage.markers.mark("All of it.", "sum.summary")),)))
        assert await stage.adapter.perform(Compact(session)) == Acknowledged()
        stage.model.end_summary("sum")
        assert [(r.kind, r.turn) for r in stage.model.requests] == [("turn", "one"), ("summary", "sum")]
        assert "one.user" in [item.name for item in stage.model.requests[-1].items]
        await stage.turn(session, "two")
        assert stage.items("two") == ["sum.summary", "two.user"]

    play(tmp_path, story)


def test_an_imported_history_is_a_session_like_any_other(tmp_path: Path) -> None:
    """It has the tools of a session that was opened, and it is the history that was given, in its order."""

    async def story(stage: Stage) -> None:
        main = stage.world.create("main", {})
        mark = stage.markers.mark
        turns = tuple(ImportedTurn(1000, mark("Ask.", f"{t}.user"), mark("Say.", f"{t}.say")) for t in ("one", "two"))
        answer = await stage.adapter.perform(Import(main, turns))
        assert isinstance(answer, SessionOpened)
        await stage.turn(answer.session, "three", stage.use("job", "run", "pwd"))
        assert stage.items("three") == ["one.user", "one.say", "two.user", "two.say", "three.user"]
        await stage.turn(await stage.open(main), "fresh")
        assert stage.prompt("three").tools == stage.prompt("fresh").tools
        child = await stage.fork(answer.session, Cut("before", stage.ref("three")), main)
        assert await stage.next_prompt(child, "ask") == ["one.user", "one.say", "two.user", "two.say", "ask.user"]

    play(tmp_path, story)


def test_a_running_tool_can_be_cancelled_and_nothing_is_left_in_the_end(tmp_path: Path) -> None:
    """The turn ends as cancelled, the session goes on, and `stop` leaves no process of the trial."""
    tags: list[str] = []

    async def story(stage: Stage) -> None:
        assert stage.adapter._process is not None
        tags.append(stage.adapter._process.tag)
        session = await stage.open(stage.world.create("main", {}))
        turn = stage.begin(session, "slow", stage.use("job", "wait", "forever"))
        await stage.world.started(stage.markers.call_id("job"))
        assert await stage.adapter.perform(Cancel(session)) == Acknowledged()
        assert await turn == TurnEnded("cancelled")
        stage.model.end_turn("slow")
        assert (await stage.turn(session, "next")).stop == "end_turn"
        turn = stage.begin(session, "slow2", stage.use("job2", "wait", "forever"))
        await stage.world.started(stage.markers.call_id("job2"))

    play(tmp_path, story)
    assert [p for p in psutil.process_iter() if tag_of(p) in tags] == []


def tag_of(process: psutil.Process) -> str | None:
    try:
        return process.environ().get(TAG)
    except (psutil.Error, OSError):
        return None


def test_a_fork_of_a_busy_source_is_made_and_the_source_runs_on(tmp_path: Path) -> None:
    """Policy `busy_source: interrupt`: the child has what was stored by then, the turn in flight is not disturbed."""

    async def story(stage: Stage) -> None:
        main = stage.world.create("main", {})
        session = await stage.open(main)
        await stage.turn(session, "one")
        turn = stage.begin(session, "slow", stage.use("job", "wait", "release"))
        await stage.world.started(stage.markers.call_id("job"))
        child = await stage.fork(session, HEAD, main)
        peeked = await stage.next_prompt(child, "peek")
        assert peeked[:3] == ["one.user", "one.say", "slow.user"]
        assert "slow.say" not in peeked
        stage.world.release(stage.markers.call_id("job"))
        assert await turn == TurnEnded("end_turn")
        stage.model.end_turn("slow")
        assert stage.items("slow", 1)[-1] == "job.result:done"

    play(tmp_path, story)


def test_a_session_has_the_settings_that_were_asked_for(tmp_path: Path) -> None:
    """The request names the model, the record states it, and a mode that asks has each call allowed once."""

    async def story(stage: Stage) -> None:
        main = stage.world.create("main", {})
        session = await stage.open(main, model="gpt-4.1", permissions="ask")
        await stage.turn(session, "one", stage.use("job", "run", "pwd"), stage.use("more", "run", "pwd"))
        assert stage.prompt("one").model == "gpt-4.1"
        assert stage.items("one", 2)[-1] == "more.result:done"
        assert stage.adapter._client is not None
        assert len(stage.adapter._client.allowed) == 2
        record = await stage.fork(session, HEAD, main)
        assert record.settings.origin == "reported"
        stated = {name: setting["value"] for name, setting in record.settings.value.items()}
        assert stated == {"provider": "openai", "model": "gpt-4.1", "permissions": "ask", "effort": "off"}
        refused = await stage.adapter.perform(SendPrompt("20200101_99", "hello"))
        assert isinstance(refused, Refused)
        assert refused.reason == "unknown-session"

    play(tmp_path, story)


def test_a_goose_that_is_killed_in_a_turn_has_died(tmp_path: Path) -> None:
    """The error says by what."""

    async def story(stage: Stage) -> None:
        session = await stage.open(stage.world.create("main", {}))
        turn = stage.begin(session, "slow", stage.use("job", "wait", "forever"))
        await stage.world.started(stage.markers.call_id("job"))
        assert stage.adapter._process is not None
        os.kill(stage.adapter._process.pid, signal.SIGKILL)
        with pytest.raises(HarnessDied, match="SIGKILL"):
            await turn

    play(tmp_path, story)


def test_a_users_own_recipe_drives_it_too(tmp_path: Path) -> None:
    """Plain ACP: a fork at the head; and a title's request, which repeats the person's words, is side traffic."""
    file = tmp_path / "own.toml"
    file.write_text(OWN.format(program=json.dumps(str(installed("goose").binary))), encoding="utf-8")
    (tmp_path / "root").mkdir()

    async def story(stage: Stage) -> None:
        main = stage.world.create("main", {})
        session = await stage.open(main)
        await stage.turn(session, "one")
        record = await stage.fork(session, HEAD, main)
        assert record.workspace == Field("shared", "reported")
        assert await stage.next_prompt(record, "ask") == ["one.user", "one.say", "ask.user"]

    stage = play(tmp_path / "root", story, cast("AcpAdapter", acp.from_recipe(file)))
    assert {r.kind for r in stage.model.requests} == {"turn", "side"}
    assert all("one.user" in [item.name for item in r.items] for r in stage.model.requests if r.kind == "side")


OWN = """
recipe = 1
name = "my-agent"
wire = "chat"
command = [{program}, "acp"]
capabilities = ["fork.head"]
tool.shell.name = "shell"
traffic.side = ["Generate a short title"]
[env]
GOOSE_PROVIDER = "openai"
GOOSE_MODEL = "gpt-4o"
OPENAI_HOST = "{{endpoint}}"
OPENAI_API_KEY = "{{key}}"
GOOSE_DISABLE_KEYRING = "1"
"""


def test_goose_is_described(tmp_path: Path) -> None:
    """What is certified is identified: version, hash and route."""
    described = Stage(tmp_path).adapter.describe()
    assert described.harness == "goose"
    assert described.version[:1].isdigit()
    assert len(described.binary_sha256) == 64
    assert described.route == "ACP (goose acp, stdio)"
