"""The recipes that come with forkproof: what an agent is started with is the suite's own, down to each variable."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from forkproof.adapters import acp
from forkproof.adapters.acp.adapter import AcpAdapter
from forkproof.adapters.acp.recipe import load
from forkproof.adapters.environment import TAG, build
from forkproof.adapters.installation import Installation
from forkproof.adapters.protocol import Trial
from tests.acp.agent import ENDPOINT, FAKE, PATIENT, Silent
from tests.canary import SECRET, Canary

RECIPES = sorted(Path(acp.__file__).with_name("recipes").glob("*.toml"))
PROGRAM = """#!/bin/sh
env -0 > {seen}
exec {python} {fake} --clock {seen}
"""


def started_with(recipe: Path, root: Path) -> dict[str, str]:
    """The environment in which the agent of this recipe finds itself, a scripted one in place of the real program."""
    seen, program, trial = root / "seen", root / "agent", root / "trial"
    program.write_text(PROGRAM.format(seen=seen, python=sys.executable, fake=FAKE), encoding="utf-8")
    program.chmod(0o755)
    trial.mkdir()
    read = load(recipe)
    adapter = AcpAdapter(read, Installation(read.name, "9.9", program, ""))

    async def story() -> None:
        try:
            await adapter.start(Trial(trial, Silent(), ENDPOINT, PATIENT))
        finally:
            await adapter.stop()

    asyncio.run(story())
    lines = seen.read_text(encoding="utf-8").split("\0")
    return {name: value for name, found, value in (line.partition("=") for line in lines) if found}


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda each: each.stem)
def test_no_variable_of_the_caller_reaches_the_agent(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every variable is one of ours or of the recipe; every place lies in the trial, and the key is the fake one."""
    for name, value in Canary(tmp_path / "user").variables.items():
        monkeypatch.setenv(name, value)
    for name in ("CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "AWS_BEARER_TOKEN_BEDROCK", "HTTPS_PROXY"):
        monkeypatch.setenv(name, SECRET)
    seen = started_with(recipe, tmp_path)
    shell = {"PWD", "OLDPWD", "SHLVL", "_"}
    ours = set(build(tmp_path)) | set(load(recipe).env)
    assert set(seen) - shell - ours == set()
    assert TAG in seen
    assert [name for name, value in seen.items() if SECRET in value or str(tmp_path / "user") in value] == []
    assert seen["HOME"] == str(tmp_path / "trial" / "home")


def test_claude_code_has_a_folder_and_a_key_of_the_suite(tmp_path: Path) -> None:
    """It would look for a person's own login below its configuration folder, and for keys in these variables."""
    seen = started_with(next(each for each in RECIPES if each.stem == "claude-agent-acp"), tmp_path)
    assert seen["CLAUDE_CONFIG_DIR"] == seen["HOME"] + "/.claude"
    assert (seen["ANTHROPIC_API_KEY"], seen["ANTHROPIC_BASE_URL"]) == (ENDPOINT.key, ENDPOINT.url)
    assert sorted(each.name for each in Path(seen["CLAUDE_CONFIG_DIR"]).iterdir()) == ["settings.json"]
