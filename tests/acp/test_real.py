"""The recipes that come with forkproof, on the real agents; each must be installed, or its test fails."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from forkproof.adapters.acp import shipped
from forkproof.adapters.acp.adapter import AcpAdapter
from forkproof.adapters.protocol import Cut
from tests.goose.stage import Stage, play

pytestmark = pytest.mark.real


@pytest.mark.parametrize("name", ["acp:opencode", "acp:kimi-code", "acp:codex-acp"])
def test_a_fork_goes_on_from_the_whole_history(name: str, tmp_path: Path) -> None:
    """The recipe starts the agent, points it at our model, runs a tool, and its fork's prompt shows the history."""
    adapter = cast("AcpAdapter", shipped(name))

    async def story(stage: Stage) -> None:
        directory = stage.world.create("main", {"notes.md": "draft\n"})
        session = await stage.open(directory)
        await stage.turn(session, "edit", stage.use("write", "write", {"parser.py": "v1\n"}))
        assert stage.world.read(directory)["parser.py"] == "v1\n"
        record = await stage.fork(session, Cut("head"), directory)
        seen = await stage.next_prompt(record, "next")
        assert seen == ["edit.user", "write.call", "write.result:done", "edit.say", "next.user"]
        assert len(stage.model.requests) >= 3

    play(tmp_path, story, adapter)
