"""A machine of one's own for installs: a canary HOME, a FORKPROOF_HOME, and a PATH with a fake npm."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

FAKE = Path(__file__).with_name("fake_npm.py")


@dataclass(frozen=True)
class Machine:
    """The user's surroundings; `order` says what the fake npm does next time."""

    root: Path

    @property
    def environment(self) -> dict[str, str]:
        """The variables that forkproof gets."""
        return {
            "HOME": str(self.root / "user"),
            "FORKPROOF_HOME": str(self.root / "home"),
            "PATH": f"{self.root / 'bin'}:/usr/bin:/bin",
        }

    @property
    def shelf(self) -> Path:
        """Where goose's versions go."""
        return self.root / "home" / "harnesses" / "goose"

    def order(self, **orders: dict[str, Any]) -> None:
        """Tell the fake npm what to do from now on."""
        defaults = {"program": "bin/goose", "print": " 1.52.0"}
        orders["install"] = {**defaults, **orders.get("install", {})}
        (self.root / "bin" / "orders.json").write_text(json.dumps(orders))

    def calls(self, command: str) -> list[dict[str, Any]]:
        """The calls of one npm command so far."""
        log = self.root / "bin" / "calls.jsonl"
        lines = log.read_text().splitlines() if log.exists() else []
        return [call for line in lines if (call := json.loads(line))["argv"][0] == command]

    def left(self) -> list[str]:
        """What stands on goose's shelf beside the lock."""
        return sorted(p.name for p in self.shelf.iterdir() if p.name != ".lock") if self.shelf.exists() else []

    def forkproof(self, *arguments: str) -> subprocess.Popen[str]:
        """`forkproof harness ...` as a process of its own."""
        code = "from forkproof.conformance.cli.harness import harness; harness()"
        return subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path)
    for folder in ("bin", "user"):
        (tmp_path / folder).mkdir()
    (tmp_path / "user" / ".npmrc").write_text("registry=http://127.0.0.1:9/\n")
    npm = tmp_path / "bin" / "npm"
    npm.write_text(f"#!{sys.executable}\n" + FAKE.read_text())
    npm.chmod(0o755)
    made.order()
    return made


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    return path
