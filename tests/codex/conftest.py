"""A scripted app-server in place of Codex, and the few moves that stories are made of."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from forkproof.adapters.codex.adapter import CodexAdapter
from forkproof.adapters.installation import Installation
from forkproof.adapters.protocol import (
    Deadlines,
    Endpoint,
    Fork,
    Forked,
    ForkRecord,
    ModelReply,
    ModelRequest,
    OpenSession,
    Person,
    SendPrompt,
    SessionOpened,
    Trial,
    TurnEnded,
    TurnRef,
    World,
)

PATIENT = Deadlines(start=30, operation=30, stop=10)
FAKE = Path(__file__).parents[1] / "programs" / "fake_codex.py"


class Silent:
    """A model that nobody reaches."""

    async def respond(self, request: ModelRequest) -> ModelReply:
        """Nobody may ask."""
        raise AssertionError(request)

    async def released(self, stall: str) -> None:
        """Nobody may wait."""
        raise AssertionError(stall)


@dataclass(frozen=True)
class Driver:
    """An adapter that was started, and its world."""

    adapter: CodexAdapter
    world: World

    async def open(self) -> str:
        """A new session in a workspace with one file."""
        return await self.open_in("main")

    async def open_in(self, name: str) -> str:
        """The same in a directory of this name."""
        answer = await self.adapter.perform(OpenSession(self.world.create(name, {"notes.md": "draft\n"})))
        assert isinstance(answer, SessionOpened)
        return answer.session

    async def say(self, session: str, name: str) -> TurnRef:
        """A turn that ends by itself, as a cut point."""
        answer = await self.adapter.perform(SendPrompt(session, f"Go on. [{name}]"))
        assert isinstance(answer, TurnEnded)
        assert answer.stop == "end_turn"
        return TurnRef(name, f"[{name}]", 0, answer.native)

    async def fork(self, fork: Fork) -> ForkRecord:
        """The record of a fork that was made."""
        answer = await self.adapter.perform(fork)
        assert isinstance(answer, Forked), answer
        return answer.record


Story: TypeAlias = Callable[[Driver], Awaitable[Any]]


@dataclass(frozen=True)
class Play:
    """Tells a story to a fake app-server of some mode; it is ended afterwards, whatever happened."""

    folder: Path

    def adapter(self, mode: str) -> CodexAdapter:
        """The adapter, with the scripted app-server in place of Codex."""
        launcher = self.folder / "codex"
        launcher.write_text(f'#!/bin/sh\nexec {sys.executable} -I {FAKE} {mode} "$@"\n')
        launcher.chmod(0o755)
        return CodexAdapter(Installation("codex", "0.0.0", launcher, "0" * 64))

    def trial(self, deadlines: Deadlines, person: Person | None = None, name: str = "trial") -> Trial:
        """A private place, and an endpoint where nobody listens."""
        root = self.folder / name
        root.mkdir()
        return Trial(root, Silent(), Endpoint("http://127.0.0.1:9", "key"), deadlines, person=person)

    def __call__(self, mode: str, story: Story, deadlines: Deadlines = PATIENT, person: Person | None = None) -> Any:
        """Give what the story gives."""

        async def whole() -> Any:
            adapter = self.adapter(mode)
            try:
                return await story(Driver(adapter, await adapter.start(self.trial(deadlines, person))))
            finally:
                await adapter.stop()

        return asyncio.run(whole())


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """The stage of one test."""
    return Play(tmp_path)
