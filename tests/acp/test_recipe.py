"""Recipes: what they say, what is wrong with them, and the program behind one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from forkproof.adapters import acp
from forkproof.adapters.acp import extension, recipe
from forkproof.adapters.acp.program import command_line, route
from forkproof.adapters.acp.recipe import BadRecipe
from forkproof.adapters.errors import NotInstalled
from forkproof.adapters.installation import Installation

MINIMAL = """
recipe = 1
name = "fake"
wire = "chat"
command = ["agent", "acp"]
[tool.shell]
name = "bash"
"""


def test_a_recipe_of_six_lines_is_enough() -> None:
    """What a recipe leaves out has a value that claims nothing."""
    read = recipe.parse(MINIMAL, "here")
    assert (read.tool.shell.name, read.tool.shell.arg) == ("bash", "command")
    assert (read.extension, read.compact, read.capabilities) == ("none", "", frozenset())


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("recipe = ", ["here is not TOML", "(at "]),
        ("recipe = 2\n" + MINIMAL.replace("recipe = 1", ""), ["recipe: Input should be 1"]),
        (MINIMAL.replace('name = "bash"', ""), ["tool.shell.name: Field required"]),
        (MINIMAL.replace("wire", "wired"), ["wire: Field required", "wired: Extra inputs"]),
        (MINIMAL.replace('["agent", "acp"]', "[]"), ["command: Tuple should have at least 1 item"]),
        (MINIMAL.replace('"acp"]', '"{port}"]'), ["command.1: there is no placeholder {port}", "{endpoint}"]),
        (MINIMAL + '[env]\nKEY = "{keys}"\n', ["env.KEY: there is no placeholder {keys}"]),
        (MINIMAL + '[files]\n"../x" = ""\n', ["files: '../x' leaves HOME"]),
        (MINIMAL + '[files]\n"/etc/x" = ""\n', ["files: '/etc/x' leaves HOME"]),
        (MINIMAL + '[refusals]\nbusy = "("\n', ["refusals: '(' is no regular expression"]),
        (MINIMAL + '[variants.x.env]\nKEY = "{keys}"\n', ["variants.x.env.KEY: there is no placeholder {keys}"]),
        (MINIMAL + '[wires.x]\nname = "y"\n', ["wires.x.name: Extra inputs"]),
        (MINIMAL + '[refusals]\nlazy = "x"\n', ["refusals.lazy", "busy"]),
    ],
)
def test_everything_wrong_with_a_recipe_is_told_with_its_place(text: str, problems: list[str]) -> None:
    """A recipe is written by hand: its error names the file, the key and what would be right."""
    with pytest.raises(BadRecipe) as caught:
        recipe.parse(text, "here")
    assert [p for p in problems if p not in caught.value.cause] == []
    assert caught.value.cause.startswith("here")
    assert caught.value.hint


OVERLAID = """
recipe = 1
name = "fake"
wire = "chat"
command = ["agent"]
capabilities = ["a", "b"]
[tool.shell]
name = "bash"
[env]
X = "1"
Y = "2"
[variants.other]
capabilities = ["c"]
without = ["a"]
env = {X = "3"}
policies = {busy = "refuse"}
[wires.messages]
unobservable = ["d"]
env = {Y = "4"}
"""


def test_a_variant_and_a_wire_format_are_put_over_the_recipe() -> None:
    """What they don't name stays; each adds to the other; the wire format's name is the codec's."""
    read = recipe.parse(OVERLAID, "here")
    assert read.chosen() == read
    both = read.chosen("other", "messages")
    assert (both.wire, both.env) == ("messages", {"X": "3", "Y": "4"})
    assert (both.capabilities, both.unobservable) == ({"b", "c"}, {"d"})
    assert both.policies == {"busy": "refuse"}
    assert read.chosen(wire="chat") == read


@pytest.mark.parametrize(
    ("variant", "wire", "problem"),
    [("odd", None, "no variant 'odd'"), (None, "odd", "not for the wire format 'odd'")],
)
def test_a_variant_that_a_recipe_does_not_have_is_refused(variant: str | None, wire: str | None, problem: str) -> None:
    """Nothing is run under a name that nobody wrote down."""
    with pytest.raises(BadRecipe, match=problem) as caught:
        recipe.parse(OVERLAID, "here").chosen(variant, wire)
    assert caught.value.hint.startswith("known are")


def test_a_recipe_that_is_no_file_is_told_by_its_path(tmp_path: Path) -> None:
    with pytest.raises(BadRecipe, match=r"nowhere\.toml"):
        acp.from_recipe(tmp_path / "nowhere.toml")


def test_a_recipe_is_refused_for_an_extension_that_nobody_knows() -> None:
    """The error lists those that there are."""
    with pytest.raises(BadRecipe, match=r"'telepathy'[^\0]*none, [^\\0]*goose"):
        extension.named("telepathy")
    assert len({type(extension.named(name)) for name in extension.known()}) == len(extension.known())


@pytest.mark.parametrize("command", ["no-such-agent-anywhere", "/no/such/agent"])
def test_a_program_that_is_not_there_is_not_installed(command: str, tmp_path: Path) -> None:
    """A recipe's program is looked for before anything is started."""
    file = tmp_path / "own.toml"
    file.write_text(MINIMAL.replace('"agent"', f'"{command}"'), encoding="utf-8")
    with pytest.raises(NotInstalled, match=command):
        acp.from_recipe(file)


def test_a_users_own_recipe_makes_an_adapter(tmp_path: Path) -> None:
    """What is certified is identified: the hash is of the file that is run."""
    file = tmp_path / "own.toml"
    file.write_text(MINIMAL.replace('"agent"', json.dumps(sys.executable)), encoding="utf-8")
    described = acp.from_recipe(file).describe()
    assert (described.harness, described.wire, described.route) == ("fake", "chat", "ACP (fake acp, stdio)")
    assert len(described.binary_sha256) == 64


def test_the_route_leaves_options_out() -> None:
    command = ["{program}", "acp", "--with-builtin", "developer"]
    assert route(recipe.parse(MINIMAL, "here").model_copy(update={"command": command})) == "ACP (fake acp, stdio)"


def test_a_script_for_node_is_started_by_node(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Agents from npm are scripts; the command's first word stands for whatever starts the program."""
    node = tmp_path / "node"
    node.write_text("#!/bin/sh\necho v24.1.0\n", encoding="utf-8")
    node.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("FORKPROOF_NODE", str(node))
    script = Installation("fake", "1", Path("/x/cli.js"), "", needs_node=True)
    read = recipe.parse(MINIMAL.replace('"acp"', '"{endpoint}/v1"'), "here")
    assert command_line(read, script, {"endpoint": "http://h"}) == [str(node), "/x/cli.js", "http://h/v1"]


def test_importing_the_package_reads_no_recipe() -> None:
    """`forkproof --version` pays for no pydantic (design section 11)."""
    script = "import sys, forkproof.adapters.acp, forkproof.adapters.goose; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
