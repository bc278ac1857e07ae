"""The ACP adapter on the scripted agent (tests/programs/fake_acp.py), and the few moves that stories are made of."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import psutil

from forkproof.adapters.acp.adapter import AcpAdapter
from forkproof.adapters.acp.extension import Extension
from forkproof.adapters.acp.program import own
from forkproof.adapters.acp.recipe import Recipe
from forkproof.adapters.diskworld import DiskWorld
from forkproof.adapters.protocol import (
    Cut,
    Deadlines,
    Endpoint,
    Fork,
    Forked,
    ForkRecord,
    ModelReply,
    ModelRequest,
    OpenSession,
    SessionOpened,
    Trial,
)

FAKE = Path(__file__).parents[1] / "programs" / "fake_acp.py"
ENDPOINT = Endpoint("http://127.0.0.1:9", "a-key")
HEAD = Cut("head")
PATIENT = Deadlines(start=30.0, operation=30.0, stop=10.0)


class Silent:
    """A model that nobody reaches."""

    async def respond(self, request: ModelRequest) -> ModelReply:
        """Nobody may ask."""
        raise AssertionError(request)

    async def released(self, stall: str) -> None:
        """Nobody may wait."""
        raise AssertionError(stall)


class Heard:
    """Every message of an adapter's talk with its agent, each with its direction; tells when one more came."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, Mapping[str, Any]]] = []
        self.grown = asyncio.Event()

    def tap(self, way: str, message: Mapping[str, Any]) -> None:
        """One more message."""
        self.messages.append((way, message))
        self.grown.set()


_HEARD: WeakKeyDictionary[AcpAdapter, Heard] = WeakKeyDictionary()


def heard(adapter: AcpAdapter) -> Heard:
    """What was said to and by this adapter's agent, in all its processes; asked for first before the start."""
    if adapter not in _HEARD:
        _HEARD[adapter] = Heard()
        adapter._agent.taps.append(_HEARD[adapter].tap)
    return _HEARD[adapter]


def fake_recipe(root: Path, faults: Iterable[str] = (), **more: Any) -> Recipe:
    """A recipe for the scripted agent, whose clock is the file `clock` in `root`."""
    clock = root / "clock"
    clock.write_text("1000", encoding="utf-8")
    command = [sys.executable, str(FAKE), "--clock", str(clock)]
    for fault in faults:
        command += ["--fault", fault]
    told = {"recipe": 1, "name": "fake", "wire": "chat", "command": command, "tool": {"shell": {"name": "sh"}}}
    return Recipe.model_validate({**told, **more})


@asynccontextmanager
async def running(
    root: Path,
    faults: Iterable[str] = (),
    deadlines: Deadlines = PATIENT,
    extra: Extension | None = None,
    *,
    listened: bool = True,
    **more: Any,
) -> AsyncIterator[tuple[AcpAdapter, DiskWorld]]:
    """A started adapter on the scripted agent, and its world; `listened` keeps the whole talk, see `heard`."""
    read = fake_recipe(root, faults, **more)
    adapter = AcpAdapter(read, own(read), extra)
    if listened:
        heard(adapter)
    trial = root / "trial"
    trial.mkdir()
    try:
        world = await adapter.start(Trial(trial, Silent(), ENDPOINT, deadlines))
        yield adapter, world
    finally:
        await adapter.stop()


async def opened(adapter: AcpAdapter, world: DiskWorld) -> tuple[str, str]:
    """A session and its directory."""
    directory = world.create("main", {"notes.md": "draft\n"})
    answer = await adapter.perform(OpenSession(directory))
    assert isinstance(answer, SessionOpened)
    return answer.session, directory


async def forked(adapter: AcpAdapter, fork: Fork) -> ForkRecord:
    """The record of a fork that must be made."""
    answer = await adapter.perform(fork)
    assert isinstance(answer, Forked), answer
    return answer.record


def incoming(adapter: AcpAdapter) -> list[Mapping[str, Any]]:
    """Everything that the agent sent."""
    return [message for way, message in heard(adapter).messages if way == "in"]


def sent(adapter: AcpAdapter, method: str) -> list[Mapping[str, Any]]:
    """The parameters of every request of this method that we sent."""
    said = [message for way, message in heard(adapter).messages if way == "out"]
    return [message["params"] for message in said if message.get("method") == method]


def updates(adapter: AcpAdapter, kind: str) -> list[Mapping[str, Any]]:
    """Every update of this kind that the agent sent."""
    told = [m["params"]["update"] for m in incoming(adapter) if m.get("method") == "session/update"]
    return [update for update in told if update["sessionUpdate"] == kind]


def said(adapter: AcpAdapter) -> str:
    """What the agent said last."""
    return str(updates(adapter, "agent_message_chunk")[-1]["content"]["text"])


async def call_begun(adapter: AcpAdapter) -> None:
    """Return when the scripted agent's call has been announced."""
    talk = heard(adapter)
    async with asyncio.timeout(30):
        while not updates(adapter, "tool_call"):
            talk.grown.clear()
            await talk.grown.wait()


def left_over(root: Path) -> list[psutil.Process]:
    """Processes of the scripted agent of this test that still run."""
    return [p for p in psutil.process_iter(["cmdline"]) if any(str(root) in w for w in p.info["cmdline"] or ())]
