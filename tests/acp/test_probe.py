"""The doctor tries what an agent advertises, and tells where it does something else."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from forkproof.adapters.acp.probe import Tried, attempt, probe_of
from forkproof.adapters.acp.program import own
from forkproof.adapters.errors import Garbage
from forkproof.adapters.protocol import Deadlines
from forkproof.conformance.cli.harness import harness
from tests.acp.agent import FAKE, fake_recipe, left_over

MODEL = {"FAKE_MODEL": "{endpoint}/v1/chat/completions", "FAKE_KEY": "{key}"}
PATIENT = Deadlines(start=60.0, operation=60.0, stop=10.0)


def tried(root: Path, faults: Iterable[str] = (), **more: Any) -> dict[str, Tried]:
    recipe = fake_recipe(root, faults, **{"env": MODEL, **more})
    found = {each.method: each for each in attempt(recipe, own(recipe), PATIENT)}
    assert left_over(root) == []
    return found


def test_what_is_claimed_and_works_is_no_surprise(tmp_path: Path) -> None:
    """Each method is judged by its effect: in the fork's request, in the list, in the replay."""
    found = tried(tmp_path, ["claims"])
    assert [method for method, each in found.items() if each.works and not each.surprising] == [
        *("session/fork", "session/list", "session/load", "session/resume", "session/delete"),
    ]


def test_a_claim_without_a_method_is_a_surprise(tmp_path: Path) -> None:
    """The agent advertises `close`, and has no such method."""
    close = tried(tmp_path, ["claims"])["session/close"]
    assert (close.advertised, close.answer, close.surprising) == (True, "missing", True)
    assert str(close) == "advertised; tried, it says: Method not found (-32601)"


def test_what_works_without_a_claim_is_a_surprise(tmp_path: Path) -> None:
    """An agent that says nothing of itself is tried all the same; what it lacks and never claimed is no surprise."""
    found = tried(tmp_path)
    assert found["session/fork"].surprising
    assert "not advertised; tried, it works all the same" in str(found["session/fork"])
    assert not found["session/close"].surprising


def test_an_answer_without_its_effect_is_void(tmp_path: Path) -> None:
    """A fork that forgets, and a deletion that leaves the session in the list, are answered and do not work."""
    found = tried(tmp_path, ["claims", "forgets", "keeps-deleted"])
    for method in ("session/fork", "session/resume", "session/delete"):
        assert (found[method].answer, found[method].surprising) == ("void", True), method


def test_a_recipe_that_declares_what_is_not_there_is_told(tmp_path: Path) -> None:
    """A capability that can't work is a mistake of the recipe, also where the agent claims nothing."""
    found = tried(tmp_path, ["no:session/delete"], capabilities=["delete", "fork.head"])
    assert found["session/delete"].surprising
    assert str(found["session/delete"]).endswith("the recipe declares delete")


def test_an_agent_that_reaches_no_model_is_told(tmp_path: Path) -> None:
    """Without a first turn nothing else would say anything; the agent is ended all the same."""
    recipe = fake_recipe(tmp_path)
    with pytest.raises(Garbage, match="our model was not asked"):
        attempt(recipe, own(recipe), PATIENT)
    assert left_over(tmp_path) == []


def test_the_doctor_shows_it_for_a_recipe_by_path(tmp_path: Path) -> None:
    """`harness doctor acp:PATH` starts the user's own agent; a warning is no failure."""
    (tmp_path / "clock").write_text("1000", encoding="utf-8")
    command = [sys.executable, str(FAKE), "--clock", str(tmp_path / "clock"), "--fault", "claims"]
    lines = ("recipe = 1", 'name = "mine"', 'wire = "chat"', f"command = {json.dumps(command)}")
    env = "\n".join(f"{name} = {json.dumps(value)}" for name, value in MODEL.items())
    place = tmp_path / "mine.toml"
    place.write_text("\n".join((*lines, "[tool.shell]", 'name = "sh"', "[env]", env)), encoding="utf-8")
    done = CliRunner().invoke(harness, ["doctor", f"acp:{place}"])
    assert done.exit_code == 0, done.output
    assert "ok session/fork: advertised; tried, it works" in done.stdout
    assert "warning session/close: advertised; tried" in done.stdout
    quick = CliRunner().invoke(harness, ["doctor", "--no-start", f"acp:{place}"])
    assert (quick.exit_code, "session/fork" in quick.stdout) == (0, False)


@pytest.mark.parametrize("asked", ["codex", "nobody-knows", "./an-adapter", "acp:./no-such.toml"])
def test_who_speaks_no_acp_is_not_probed(asked: str) -> None:
    """The doctor's other checks tell what is wrong with it, if anything."""
    assert probe_of(asked) is None
