"""What may go wrong at an install as a user meets it: one clear message each, and nothing half-made (issue 4).

What npm answers, and what comes instead of what was asked for, stands in test_install.py and test_npm.py, killed and
interrupted installs in test_harness_cli.py; here are the machine's own faults, whole: a full disk, no Node, an old one,
and what pip says.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from forkproof.adapters import registry
from forkproof.adapters.errors import AdapterError, InstallFailed, NotInstalled
from forkproof.adapters.install import install
from forkproof.adapters.packages import PACKAGES, platform_tag

from .conftest import Machine

TINY_DISK = Path(__file__).parents[1] / "programs" / "tiny_disk.py"
FORKPROOF = Path(sys.executable).with_name("forkproof")
NOT_ALLOWED = 77


def forkproof(machine: Machine, *before: str, arguments: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """The command on this machine, perhaps through another program."""
    return subprocess.run(
        [*before, str(FORKPROOF), *arguments],
        env=machine.environment,
        cwd=machine.root,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def one_message(done: subprocess.CompletedProcess[str], *says: str) -> None:
    """Standard error holds one message with all these words, and no traceback."""
    assert [word for word in says if word not in done.stderr] == [], done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert done.stderr.count("error:") == 1, done.stderr


@pytest.mark.parametrize("size", [408_000, 2_000_000], ids=["at-the-end", "at-once"])
def test_a_disk_that_fills_up_while_npm_writes(size: int, machine: Machine) -> None:
    """A real disk of 400 KB: npm fails with ENOSPC, the message says so and what to do; nothing is left to fill it."""
    home = machine.root / "home"
    home.mkdir()
    machine.order(install={"size": size})
    look = f'"$@"; code=$?; find {home}/harnesses/goose -mindepth 1 -not -name .lock >&2; exit $code'
    disk = (sys.executable, "-I", str(TINY_DISK), str(home), "400", "/bin/sh", "-c", look, "sh")
    done = forkproof(machine, *disk, arguments=("harness", "install", "goose", "--no-progress"))
    if done.returncode == NOT_ALLOWED:
        pytest.skip(f"this system gives us no disk of our own: {done.stderr.strip()}")
    assert done.returncode == 1, done.stdout + done.stderr
    one_message(done, "goose 1.52.0 could not be installed", "the disk is full: free some space")
    assert ".staging" not in done.stderr
    assert f"{home}/harnesses/goose/1.52.0" not in done.stderr.replace(f"into {home}/harnesses/goose", "")


# --- Node ----------------------------------------------------------------------------------------------------------


def script(machine: Machine, version: str) -> Path:
    """A Node that prints this version."""
    node = machine.root / "bin" / "node"
    node.write_text(f"#!/bin/sh\necho {version}\n", encoding="utf-8")
    node.chmod(0o755)
    return node


@pytest.mark.parametrize(
    ("version", "says"),
    [(None, "none was found"), ("v18.20.0", "Node 18.20.0"), ("nonsense", "does not run")],
    ids=["missing", "old", "broken"],
)
def test_a_harness_that_needs_node_says_which(
    version: str | None, says: str, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Missing, too old or broken: which one is needed, what was found, and three ways to mend it."""
    from forkproof.adapters import node

    monkeypatch.setattr(node.importlib.util, "find_spec", lambda _name: None)
    if version is not None:
        script(machine, version)
    with pytest.raises(NotInstalled) as caught:
        node.find({"PATH": str(machine.root / "bin")})
    assert says in caught.value.cause
    assert "Node.js 22 or newer" in caught.value.cause
    for way in ("forkproof[node]", "install Node.js 22", "FORKPROOF_NODE"):
        assert way in caught.value.hint


@pytest.mark.parametrize("name", [name for name, package in PACKAGES.items() if package.needs_node])
def test_an_install_without_a_node_is_told_once(
    name: str, machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each harness that is a script for Node: the install fails with that cause, and leaves nothing."""
    prefix = "" if name in {entry.name for entry in registry.known()} else "acp:"
    release = PACKAGES[name].release(None, platform_tag())
    machine.order(install={"program": release.programs[0], "print": release.version})
    absent = str(tmp_path / "no-such-node")
    monkeypatch.setenv("FORKPROOF_NODE", absent)
    with pytest.raises(InstallFailed) as caught:
        install(f"{prefix}{name}", environment={**machine.environment, "FORKPROOF_NODE": absent})
    assert f"{name} {release.version} could not be installed" in caught.value.cause
    assert "Node.js 22 or newer" in caught.value.cause
    assert absent in caught.value.cause
    assert "forkproof[node]" in caught.value.hint
    shelf = machine.root / "home" / "harnesses" / name
    assert [p.name for p in shelf.iterdir()] == [".lock"]


# --- pip -----------------------------------------------------------------------------------------------------------

PYTHON = """#!/bin/sh
if [ "$2" = venv ]; then mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; exit 0; fi
echo "{said}" >&2
exit 1
"""


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        ("ERROR: No matching distribution found for mistral-vibe==3.0.2", "is there such a version"),
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "free some space"),
        ("NewConnectionError: Connection refused", "can't be reached"),
        ("something else", "what pip says above is the cause"),
    ],
)
def test_what_pip_says_is_told(said: str, hint: str, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The words are pip's own, with a way out; nothing half-made stays."""
    python = machine.root / "bin" / "python3"
    python.write_text(PYTHON.format(said=said), encoding="utf-8")
    python.chmod(0o755)
    monkeypatch.setattr(shutil, "disk_usage", lambda _place: type("Usage", (), {"free": 10**12})())
    with pytest.raises(AdapterError) as caught:
        install("acp:mistral-vibe", environment={**machine.environment, "FORKPROOF_PYTHON": str(python)})
    assert said.removeprefix("ERROR: ") in caught.value.cause
    assert "mistral-vibe 3.0.2 could not be installed" in caught.value.cause
    assert hint in caught.value.hint
    assert [p.name for p in (machine.root / "home" / "harnesses" / "mistral-vibe").iterdir()] == [".lock"]
