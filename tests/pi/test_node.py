"""Node for harnesses that are scripts for it: the newest suitable one, and one clear message where there is none."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from forkproof.adapters import node
from forkproof.adapters.errors import NotInstalled


def fake(folder: Path, version: str, name: str = "node") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\necho asked >> {folder}/asked\necho {version}\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)


@pytest.mark.usefixtures("no_package")
def test_the_path_is_looked_at(tmp_path: Path) -> None:
    program = fake(tmp_path, "v22.3.4")
    found = node.find({"PATH": str(tmp_path)})
    assert (found.program, found.version) == (program, (22, 3, 4))


@pytest.mark.usefixtures("no_package")
def test_an_old_node_is_named_with_what_to_type(tmp_path: Path) -> None:
    fake(tmp_path, "v20.20.2")
    with pytest.raises(NotInstalled, match=r"Node\.js 22 or newer; found: Node 20\.20\.2") as caught:
        node.find({"PATH": str(tmp_path)})
    assert "pip install 'forkproof[node]'" in caught.value.hint


@pytest.mark.usefixtures("no_package")
def test_no_node_at_all_is_one_clear_message(tmp_path: Path) -> None:
    with pytest.raises(NotInstalled, match="none was found"):
        node.find({"PATH": str(tmp_path)})


def test_the_users_own_choice_is_the_only_one(tmp_path: Path) -> None:
    """Who names a Node is told what is wrong with it, and gets no other one in its place."""
    old = fake(tmp_path / "own", "v18.0.0")
    fake(tmp_path / "path", "v30.0.0")
    environment = {"PATH": str(tmp_path / "path"), node.VARIABLE: str(old)}
    with pytest.raises(NotInstalled, match=r"18\.0\.0"):
        node.find(environment)
    assert node.find(environment, oldest=18).program == old


@pytest.mark.parametrize(
    ("text", "said"), [("#!/bin/sh\nexit 3\n", "status 3"), ("#!/no/such/shell\n", "does not run")]
)
@pytest.mark.usefixtures("no_package")
def test_a_broken_node_is_told(tmp_path: Path, text: str, said: str) -> None:
    program = fake(tmp_path, "v22.0.0")
    program.write_text(text)
    with pytest.raises(NotInstalled, match=said):
        node.find({node.VARIABLE: str(program), "PATH": ""})


@pytest.mark.usefixtures("no_package")
def test_each_program_is_asked_once_until_it_changes(tmp_path: Path) -> None:
    program = fake(tmp_path, "v22.0.0")
    for _ in range(3):
        node.find({"PATH": str(tmp_path)})
    assert (tmp_path / "asked").read_text() == "asked\n"
    fake(tmp_path, "v23.0.0-nightly")
    os.utime(program, (1, 1))
    assert node.find({"PATH": str(tmp_path)}).version == (23, 0, 0)


def test_of_the_package_the_binary_itself_is_taken(tmp_path: Path) -> None:
    """Its `node` script would stand between us and the process that is signalled."""
    found = node.find({"PATH": str(tmp_path)})
    assert found.program.parent.name == "bin"
    assert found.program.read_bytes()[:4] == b"\x7fELF"
    assert found.version >= (node.OLDEST, 0, 0)
