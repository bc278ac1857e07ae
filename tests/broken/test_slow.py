"""A slow machine must not read as a failing harness: the default deadlines hold under load (adapters/trial.py)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from forkproof.adapters import registry
from forkproof.conformance.contract import load_contract
from forkproof.conformance.engine import Engine
from forkproof.conformance.trace.load import load, shipped_root

pytestmark = pytest.mark.real

SPIN = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: sum(range(100000))"
"""Busy until whoever started it is gone."""


@contextmanager
def load_of(processes: int) -> Iterator[None]:
    """So many processes that do nothing but compute, as many times the machine's processors."""
    count = processes * (os.cpu_count() or 1)
    busy = [subprocess.Popen([sys.executable, "-I", "-S", "-c", SPIN]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


@pytest.mark.parametrize("name", ["codex", "goose"])
def test_no_deadline_passes_under_load(name: str) -> None:
    """With four busy processes for each processor a real harness gets to its verdicts, at the default deadlines."""
    trace = load(Path(shipped_root(), "cut", "edit-then-fork-shared.yaml"))
    with load_of(4), Engine(registry.find(name), load_contract(), 1) as engine:
        played = engine.play(trace)
    verdicts = {check.id: check.verdict for check in played.checks.values()}
    assert played.observed.error is None
    assert not {"TIMEOUT", "CRASH", "SUITE_ERROR"} & set(verdicts.values()), verdicts
    assert "PASS" in verdicts.values()
