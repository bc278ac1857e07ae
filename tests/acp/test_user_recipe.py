"""A user's own recipe by its path: `forkproof run acp:./mine.toml`, as a command, to its exit code."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

FAKE = Path(__file__).parents[1] / "programs" / "fake_acp.py"
RECIPE = """
recipe = 1
name = "mine"
wire = "chat"
command = {command}
capabilities = ["fork.head", "sessions", "tool.write", "tool.run", "workspace.isolated", "workspace.isolated.caller"]
unobservable = ["record.source", "record.cut"]

[tool.shell]
name = "sh"

[env]
FAKE_MODEL = "{{endpoint}}/v1/chat/completions"
FAKE_KEY = "{{key}}"
"""


def forkproof(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The installed command, in a directory of its own."""
    command = [str(Path(sys.executable).with_name("forkproof")), *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)


def write(root: Path, text: str = RECIPE, command: list[str] | None = None) -> None:
    """The recipe, beside which a person stands."""
    clock = root / "clock"
    clock.write_text("1000", encoding="utf-8")
    argv = command or [sys.executable, str(FAKE), "--clock", str(clock)]
    (root / "mine.toml").write_text(text.format(command=json.dumps(argv)), encoding="utf-8")


def test_an_agent_is_certified_with_a_file_of_ten_lines(tmp_path: Path) -> None:
    """Real turns over the model server, real forks: 0 for a trace that holds, and its record is complete."""
    write(tmp_path)
    ran = forkproof("run", "acp:./mine.toml", "ato/two-forks-at-once", "--no-progress", cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "mine unknown via ACP" in ran.stdout
    lines = [json.loads(line) for line in (tmp_path / "out/mine/run.jsonl").read_text(encoding="utf-8").splitlines()]
    verdicts = {each["verdict"] for each in lines if each["event"] == "check"}
    assert verdicts == {"PASS"}
    assert lines[-1]["event"] == "end"


def test_an_agent_that_forks_wrongly_fails(tmp_path: Path) -> None:
    """A child that begins empty is found out by its prompt, not by the agent's friendly answer."""
    write(tmp_path)
    text = (tmp_path / "mine.toml").read_text(encoding="utf-8").replace('clock"]', 'clock", "--fault", "forgets"]')
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    ran = forkproof("run", "acp:./mine.toml", "ato/two-forks-at-once", "--no-progress", cwd=tmp_path)
    assert ran.returncode == 1, ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("recipe = 1", "recipe = 2"), ["recipe:"]),
        (('name = "mine"', 'name = "Mine!"'), ["name:"]),
        (('wire = "chat"', 'wire = "telepathy"'), ["wire:", "'telepathy'", "chat"]),
        (("command = {command}", "command = []"), ["command:"]),
        (("[tool.shell]", "[tool.shel]"), ["tool.shell:", "tool.shel:"]),
        (("{{endpoint}}", "{{endpiont}}"), ["{endpiont}", "{endpoint}"]),
        (('"fork.head"', '"fork.haed"'), ["'fork.haed'", "fork.head?"]),
        (("recipe = 1", "recipe = 1\nextension = 'magic'"), ["'magic'", "air"]),
        (("recipe = 1", "recipe = 1\nrefusals = {{busy = '('}}"), ["refusals", "'('"]),
        (("recipe = 1", "recipe = 1\nfiles = {{'../up' = ''}}"), ["files", "'../up'"]),
        (("recipe = 1", "recipe = 1\nnosuchkey = 3\nanother = 4"), ["nosuchkey:", "another:"]),
        (("recipe = 1", "recipe = "), ["not TOML"]),
    ],
)
def test_a_mistake_in_a_recipe_is_a_mistake_of_usage(change: tuple[str, str], words: list[str], tmp_path: Path) -> None:
    """Exit code 3, every mistake with its key, and nothing is started (design section 6)."""
    write(tmp_path, RECIPE.replace(*change))
    ran = forkproof("run", "acp:./mine.toml", "ato", cwd=tmp_path)
    assert ran.returncode == 3, ran.stdout + ran.stderr
    assert [word for word in words if word not in ran.stderr] == []
    assert "Traceback" not in ran.stderr
    assert not (tmp_path / "out").exists()


def test_a_recipe_that_is_not_there_is_a_mistake_of_usage(tmp_path: Path) -> None:
    ran = forkproof("run", "acp:./mine.toml", cwd=tmp_path)
    assert ran.returncode == 3
    assert "mine.toml" in ran.stderr


def test_a_program_that_is_not_there_ran_nothing(tmp_path: Path) -> None:
    """Exit code 2: nothing was seen, so nothing is certified; the words name the program."""
    write(tmp_path, command=["no-such-agent-anywhere"])
    ran = forkproof("run", "acp:./mine.toml", "ato", cwd=tmp_path)
    assert ran.returncode == 2
    assert "'no-such-agent-anywhere' is not on the PATH" in ran.stderr


def test_a_program_that_is_no_agent_is_told_as_one(tmp_path: Path) -> None:
    """It starts and does not speak ACP: each trace ends with the cause and what to look at."""
    write(tmp_path, command=["/bin/echo", "hello"])
    ran = forkproof("run", "acp:./mine.toml", "ato/two-forks-at-once", "--no-progress", cwd=tmp_path)
    assert ran.returncode == 2, ran.stdout + ran.stderr
    assert "CRASH" in ran.stdout
    assert "not JSON" in ran.stdout
