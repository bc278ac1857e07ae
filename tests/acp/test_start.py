"""The agent's process: its environment, its start, its end."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import psutil
import pytest

from forkproof.adapters.acp.adapter import AcpAdapter
from forkproof.adapters.acp.program import own
from forkproof.adapters.environment import TAG
from forkproof.adapters.errors import AdapterError, Garbage, HarnessHung, StartFailed
from forkproof.adapters.protocol import Deadlines, OpenSession, Trial
from tests.acp.agent import ENDPOINT, Silent, fake_recipe, left_over, running


def test_placeholders_are_filled_and_nothing_of_ours_leaks_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The environment is built from nothing (design section 5); braces that are no placeholder stay."""
    monkeypatch.setenv("SECRET_OF_THE_USER", "1")
    files = {".config/a/b.json": '{"url": "{endpoint}/v1", "auth": {"key": "{key}"}}'}

    async def story() -> None:
        async with running(tmp_path, env={"URL": "{endpoint}/x", "KEY": "{key}"}, files=files) as (adapter, _):
            home = tmp_path / "trial" / "home"
            assert adapter._client is not None
            seen = adapter._client.agent["agentInfo"]["environment"]
            assert (seen["URL"], seen["KEY"], seen["HOME"]) == ("http://127.0.0.1:9/x", "a-key", str(home))
            assert "SECRET_OF_THE_USER" not in seen
            written = json.loads((home / ".config/a/b.json").read_text(encoding="utf-8"))
            assert written == {"url": "http://127.0.0.1:9/v1", "auth": {"key": "a-key"}}

    asyncio.run(story())


@pytest.mark.parametrize(
    ("fault", "error", "words"),
    [
        ("die-at-start", StartFailed, "cannot open my database"),
        ("noise-at-start", Garbage, "Welcome!"),
        ("old-protocol", StartFailed, "version 0 of ACP, not 1"),
        ("no:initialize", StartFailed, "Method not found"),
        ("hang:initialize", HarnessHung, "initialize within 2 s"),
    ],
)
def test_an_agent_that_does_not_start_is_told_and_ended(
    fault: str, error: type[AdapterError], words: str, tmp_path: Path
) -> None:
    """One class a phase, cause and hint in it, and no process left (design section 5)."""
    deadlines = Deadlines(start=2.0 if fault.startswith("hang") else 30.0, stop=5.0)
    read = fake_recipe(tmp_path, [fault])
    adapter = AcpAdapter(read, own(read))
    with pytest.raises(error) as caught:
        asyncio.run(adapter.start(Trial(tmp_path, Silent(), ENDPOINT, deadlines)))
    assert words in caught.value.cause
    assert caught.value.hint
    assert type(caught.value) is error
    assert left_over(tmp_path) == []


def test_without_a_model_server_nothing_is_started(tmp_path: Path) -> None:
    read = fake_recipe(tmp_path)
    adapter = AcpAdapter(read, own(read))
    with pytest.raises(StartFailed, match="over HTTP"):
        asyncio.run(adapter.start(Trial(tmp_path, Silent())))
    with pytest.raises(StartFailed, match="not started"):
        asyncio.run(adapter.perform(OpenSession("/")))


def test_stop_ends_an_agent_that_ignores_the_end_of_its_input(tmp_path: Path) -> None:
    """`stop` may be called at any time, also twice and before the start, and leaves nothing running."""

    async def story() -> None:
        async with running(tmp_path, ["outlive-stdin"], Deadlines(stop=2.0)) as (adapter, _):
            assert adapter._process is not None
            assert psutil.pid_exists(adapter._process.pid)
            assert psutil.Process(adapter._process.pid).environ()[TAG]
            await adapter.stop()
            assert left_over(tmp_path) == []
        read = fake_recipe(tmp_path)
        never = AcpAdapter(read, own(read))
        await never.stop()
        assert never.diagnostics() == ""

    asyncio.run(story())
