"""A trace through every phase, played on `programs/broken` by each route, and what may be left: nothing."""

from __future__ import annotations

import json
import os
import shlex
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from forkproof.adapters import node, registry
from forkproof.adapters.environment import TAG
from forkproof.adapters.packages import PACKAGES
from forkproof.adapters.protocol import Deadlines
from forkproof.conformance.bench import Isolation
from forkproof.conformance.contract import load_contract
from forkproof.conformance.engine import Engine, Played
from forkproof.conformance.trace.load import load

PROGRAM = Path(__file__).parents[1] / "programs" / "broken"
SAYS = {"codex": f"codex-cli {PACKAGES['codex'].pinned}", "pi": PACKAGES["pi"].pinned}
"""What a program of that name answers to `--version`."""

NODE = f'[ "$1" = --version ] && echo v{node.OLDEST}.0.0 && exit 0\nexec "$@"'
"""Stands in for Node, for which pi is a script: here the script is one for the shell, so no Node is needed."""

TRACE = """
trace: 1
title: Through every phase
needs: [fork.head, compact, cancel]
steps:
  - turn: plan
    user: Plan.
    model: [{say: Planned.}]
    expect:
      - CUT-1: {prompt: [plan.user]}
  - fork: alt
    head: true
  - turn: retry
    in: alt
    user: Again.
    model: [{say: Fine.}]
    expect:
      - CUT-4: {prompt: [plan.user, plan.say, retry.user]}
  - compact: fold
    in: main
    model: [{say: All was planned.}]
  - turn: long
    user: Write.
    model: [{stall: pen}, {say: Written.}]
    until: pen.started
  - cancel: main
    expect:
      - OPS-5: {stop: cancelled}
"""

RECIPE = """
recipe = 1
name = "broken"
wire = "chat"
command = [{command}]
compact = "/compact"
capabilities = ["cancel", "compact", "fork.head"]
reusable = true

[tool.shell]
name = "shell"

[env]
MODEL_URL = "{{endpoint}}"
MODEL_KEY = "{{key}}"
"""


@dataclass(frozen=True)
class Broken:
    """A broken harness in a folder of its own; `asked` is what `forkproof run` takes."""

    folder: Path
    asked: str
    variables: dict[str, str]

    @property
    def trace(self) -> Path:
        """The file of the trace."""
        return self.folder / "through.yaml"

    @property
    def temporary(self) -> Path:
        """The directory for temporary files, which is empty when all is over."""
        return self.folder / "tmp"

    def notes(self, word: str) -> list[str]:
        """What the program noted under this word."""
        with suppress(FileNotFoundError):
            lines = (self.folder / "notes").read_text(encoding="utf-8").splitlines()
            return [line.partition(" ")[2] for line in lines if line.startswith(f"{word} ")]
        return []

    def left(self) -> list[str]:
        """What is still there: processes of the harness, and temporary files."""
        pids = {int(pid) for pid in self.notes("child")}
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                told = process.environ()
                ours = TAG in told and told.get("HOME", "").startswith(str(self.folder))
                if (ours or process.pid in pids) and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(f"process {process.pid}: {' '.join(process.cmdline())}")
        return found + [str(path) for path in self.temporary.iterdir()]


def broken(folder: Path, route: str, fault: str, phase: str) -> Broken:
    """Make the program for a route, and the trace."""
    (folder / "tmp").mkdir(exist_ok=True)
    words = [sys.executable, "-I", str(PROGRAM), route, fault, phase, str(folder / "notes")]
    made = Broken(folder, f"acp:{folder / 'broken.toml'}", {})
    made.trace.write_text(TRACE, encoding="utf-8")
    if route == "acp":
        command = ", ".join(json.dumps(word) for word in words)
        (folder / "broken.toml").write_text(RECIPE.format(command=command), encoding="utf-8")
        return made
    if route == "stdio":
        program = folder / "adapter.sh"
        program.write_text(f"exec {shlex.join(words)}\n", encoding="utf-8")
        return Broken(folder, str(program), {})
    version = f'[ "$1" = --version ] && echo "{SAYS[route]}" && exit 0'
    program = _script(folder / route, f'{version}\nexec {shlex.join(words)} "$@"')
    variables = {f"FORKPROOF_{route.upper()}_BINARY": program}
    if route == "pi":
        variables[node.VARIABLE] = _script(folder / "node", NODE)
    return Broken(folder, route, variables)


def _script(file: Path, text: str) -> str:
    file.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    file.chmod(0o755)
    return str(file)


@dataclass(frozen=True)
class Outcome:
    """What a trial gave, and how long after the fault it was over, in seconds (0 where no fault happened)."""

    played: Played
    took: float


def play(
    made: Broken,
    deadlines: Deadlines,
    *,
    isolation: Isolation = "trace",
    times: int = 1,
    after_each: Callable[[], None] = lambda: None,
) -> list[Outcome]:
    """Play the trace so often, by the same engine that a run has."""
    outcomes = []
    os.environ.update(made.variables)
    before, tempfile.tempdir = tempfile.tempdir, str(made.temporary)
    try:
        entry = registry.find(made.asked)
        with Engine(entry, load_contract(), 1, deadlines, isolation=isolation) as engine:
            for _ in range(times):
                played = engine.play(load(made.trace))
                ended = time.monotonic()
                after_each()
                outcomes.append(Outcome(played, ended - float((made.notes("fault") or [ended])[-1])))
    finally:
        tempfile.tempdir = before
        for name in made.variables:
            del os.environ[name]
    return outcomes
