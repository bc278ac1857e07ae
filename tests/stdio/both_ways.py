"""Traces on the reference, in process and over the open protocol: what either way sees, as comparable data."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from forkproof.adapters.inprocess import create
from forkproof.adapters.protocol import Adapter, Deadlines, Trial, World
from forkproof.adapters.stdio.adapter import StdioAdapter
from forkproof.adapters.stdio.program import Program, program
from forkproof.conformance.contract import Contract
from forkproof.conformance.engine import Engine
from forkproof.conformance.trace.load import LoadedTrace
from forkproof.conformance.trace.model import QueueStep
from forkproof.conformance.trace.steps import AtOnceStep
from forkproof.conformance.trace.walk import walk
from forkproof.reports.lines import encode

SEED = 11
_AT_ONCE = frozenset({"queue", "steer", "tool.agent", "tool.tell", "tool.schedule", "tool.together"})


def served(folder: Path) -> Program:
    """The program that serves the reference."""
    place = folder / "reference.sh"
    words = [sys.executable, "-c", "from forkproof.conformance.cli import main; main()", "adapter", "serve-reference"]
    place.write_text(f"exec {shlex.join(words)}\n", encoding="utf-8")
    return program(place)


class Kept(StdioAdapter):
    """One process for many traces: `stop` only ends the harness, and the next `start` is a `renew`."""

    async def start(self, trial: Trial) -> World:
        """The first time a start, then a renewal."""
        if self.talk is None:
            return await super().start(trial)
        world = await self.renew(trial)
        assert world is not None
        return world

    async def stop(self) -> None:
        """The process goes on."""

    async def end(self) -> None:
        """Now it does not."""
        await super().stop()


class _Entry:
    """What an engine needs of a registry's entry."""

    def __init__(self, adapter: Adapter | None) -> None:
        from forkproof.adapters.choice import Choice

        self.choice = Choice("reference")
        self._adapter = adapter

    def create(self) -> Adapter:
        """The one adapter, or a fresh one in process."""
        return self._adapter or create()


@contextmanager
def playing(contract: Contract, adapter: Kept | None) -> Iterator[Engine]:
    """An engine on the reference: in process without an adapter, else over the protocol."""
    entry: Any = _Entry(adapter)
    engine = Engine(entry, contract, SEED, Deadlines(120, 120, 30))
    with engine:
        try:
            yield engine
        finally:
            if adapter is not None:
                engine._runner.run(adapter.end())


def seen(engine: Engine, loaded: LoadedTrace) -> list[dict[str, Any]]:
    """The lines of `run.jsonl` for one trace, without their volatile members."""
    played = engine.play(loaded)
    lines = [json.loads(encode(event)) for event in (played.observed, *played.checks.values())]
    for line in lines:
        del line["volatile"]
    return lines


def verdicts(lines: Iterable[dict[str, Any]]) -> list[tuple[str, str, str, str]]:
    """Each check with its verdict, its fingerprint and its reason."""
    return [(x["id"], x["verdict"], x["fingerprint"], x["reason"]) for x in lines if x["event"] == "check"]


def moves_by_itself(loaded: LoadedTrace) -> bool:
    """Whether the harness does something of its own while the suite takes its next step.

    In which step a request is seen is then a matter of time, in any two processes; what is in it is not.
    """
    steps = [step for _, _, step in walk(loaded.trace)]
    held = any(getattr(step, "until", None) or isinstance(step, AtOnceStep | QueueStep) for step in steps)
    return held or bool(_AT_ONCE & set(loaded.trace.needs))


def timeless(lines: list[dict[str, Any]]) -> Any:
    """The same without all that tells in which step, and in which order, something that ran by itself was seen."""
    observed, *checks = lines
    requests = sorted((_without(r, "index", "step") for r in observed["requests"]), key=json.dumps)
    steps = [_without(step, "requests", "runs") for step in observed["steps"]]
    told = {**_without(observed, "evidence"), "requests": requests, "steps": steps}
    return told, [_without(check, "witness") for check in checks]


def _without(line: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in line.items() if name not in names}
