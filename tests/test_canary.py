"""A run never reads or writes the user's HOME, and no key or path of the user's reaches a harness or the record."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from forkproof.adapters.installation import installed
from tests.broken.stage import broken
from tests.canary import SECRET, Canary

FORKPROOF = Path(sys.executable).with_name("forkproof")


def run(canary: Canary, folder: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """`forkproof run` with a user's whole environment; nothing of the HOME may be touched."""
    (folder / "tmp").mkdir(exist_ok=True)
    own = {"PATH": os.environ["PATH"], "TMPDIR": str(folder / "tmp"), **canary.variables, **more}
    with canary:
        done = subprocess.run(
            [FORKPROOF, "run", *arguments, "--out", "out", "--no-progress"],
            cwd=folder,
            env=own,
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    assert SECRET not in done.stdout + done.stderr
    record = (folder / "out" / "run.jsonl").read_text(encoding="utf-8")
    assert SECRET not in record
    assert str(canary.home) not in record
    assert '"verdict":"PASS"' in record
    return done


def test_the_watch_sees_what_is_touched(tmp_path: Path) -> None:
    """Reading, listing, writing and making a file are all seen: otherwise silence would prove nothing."""
    canary = Canary(tmp_path / "user")
    with canary:
        (canary.home / ".npmrc").read_text(encoding="utf-8")
        list((canary.home / ".ssh").iterdir())
        (canary.home / ".codex" / "new").write_text("", encoding="utf-8")
        (canary.home / ".claude.json").chmod(0o600)
    touched = "\n".join(canary.touched)
    for name in (".npmrc: opened", ".ssh", ".codex/new", ".claude.json: given other attributes"):
        assert f"{canary.home}/{name}" in touched


@pytest.mark.parametrize("isolation", ["trace", "run"])
@pytest.mark.parametrize("route", ["acp", "codex", "pi"])
def test_a_run_leaves_the_users_home_alone(route: str, isolation: str, tmp_path: Path) -> None:
    """Neither forkproof nor what it starts opens a file there; the harness's variables are the suite's own."""
    made = broken(tmp_path, route, "tell", "start")
    canary = Canary(tmp_path / "user")
    variables = {"FORKPROOF_HOME": str(tmp_path / "fp"), **made.variables}
    run(canary, tmp_path, made.asked, str(made.trace), "--isolation", isolation, **variables)
    assert canary.touched == []
    seen = json.loads(made.notes("environment")[0])
    assert seen["HOME"].startswith(str(made.temporary))
    assert [name for name, value in seen.items() if SECRET in value or str(canary.home) in value] == []
    assert set(canary.variables) - set(seen) >= {"ANTHROPIC_API_KEY", "NPM_TOKEN", "GITHUB_TOKEN", "CLAUDE_CONFIG_DIR"}


WRAPPER = """#!/bin/sh
[ "$1" = --version ] || env -0 > {notes}
exec {program} "$@"
"""


@pytest.mark.real
@pytest.mark.parametrize("name", ["codex", "goose", "pi"])
def test_a_real_harness_leaves_the_users_home_alone(name: str, tmp_path: Path) -> None:
    """A real harness finds no way to the user's files, and none of the user's keys; what is not installed fails."""
    canary = Canary(tmp_path / "user")
    shelf = os.environ.get("FORKPROOF_HOME") or str(Path.home() / ".cache" / "forkproof")
    variables = {"FORKPROOF_HOME": shelf}
    found = installed(name)
    notes = tmp_path / "environment"
    if not found.needs_node:
        wrapper = tmp_path / name
        wrapper.write_text(WRAPPER.format(notes=notes, program=found.binary), encoding="utf-8")
        wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
        variables[f"FORKPROOF_{name.upper()}_BINARY"] = str(wrapper)
    run(canary, tmp_path, name, "cut/edit-then-fork-shared", **variables)
    assert canary.touched == []
    if not found.needs_node:
        seen = notes.read_text(encoding="utf-8", errors="replace").split("\0")
        assert any(line.startswith("HOME=") for line in seen)
        assert [line for line in seen if SECRET in line or str(canary.home) in line] == []
