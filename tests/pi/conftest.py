"""A real pi and its scripted model, for the tests that drive it; without pi they fail, they are never skipped."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from forkproof.adapters.choice import Choice
from forkproof.adapters.model.codec import Ids
from forkproof.adapters.model.markers import Markers
from forkproof.adapters.model.script import ScriptedModel
from forkproof.adapters.model.server import ModelServer
from forkproof.adapters.pi import configuration, create, files
from forkproof.adapters.pi.adapter import PiAdapter
from forkproof.adapters.protocol import (
    Answer,
    Cut,
    Fork,
    Forked,
    ForkRecord,
    ModelReply,
    OpenSession,
    Say,
    SendPrompt,
    SessionOpened,
    Trial,
    TurnEnded,
    TurnRef,
)

NONCE = "abc123"

Story: TypeAlias = Callable[["Stage"], Awaitable[None]]
Play: TypeAlias = Callable[..., None]


class Stage:
    """A real pi and its scripted model; every turn's user text is marked, and so is all that the model says."""

    def __init__(self, folder: Path, wire: str | None = None) -> None:
        self.folder = folder
        adapter = create(Choice("pi", wire=wire))
        assert isinstance(adapter, PiAdapter)
        self.adapter = adapter
        self.markers = Markers(NONCE)
        self.model = ScriptedModel(self.markers, self.adapter.classify)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Pi and the model's server, both ended in the end; nothing may have come that no model's server expects."""
        root = self.folder / "trial"
        root.mkdir()
        async with ModelServer(self.model, self.adapter.native_call, Ids(NONCE)) as server:
            try:
                self.trial = Trial(root, self.model, server.endpoint)
                self.world = await self.adapter.start(self.trial)
                yield
            finally:
                await self.adapter.stop()
            assert server.oddities == ()

    async def open(self, name: str = "main") -> str:
        """A session in a workspace with one file."""
        self.directory = self.world.create(name, {"notes.md": "draft\n"})
        answer = await self.adapter.perform(OpenSession(self.directory))
        assert isinstance(answer, SessionOpened)
        return answer.session

    async def turn(self, session: str, name: str) -> TurnRef:
        """A turn to its end, as a cut point."""
        said = ModelReply((Say(self.markers.mark("Said.", f"{name}.say")),))
        self.model.begin_turn(name, (said,))
        words = self.markers.mark("Please.", f"{name}.user")
        ended = await self.adapter.perform(SendPrompt(session, words))
        self.model.end_turn(name)
        assert isinstance(ended, TurnEnded), ended
        assert ended.stop == "end_turn"
        return TurnRef(name, self.markers.tag(f"{name}.user"), 0)

    async def fork(self, session: str, cut: Cut, isolated: str | None = None) -> ForkRecord:
        """A fork that is made, without asking the model."""
        before = len(self.model.requests)
        choice: Any = "isolated" if isolated else "shared"
        answer = await self.adapter.perform(Fork(session, cut, choice, isolated or self.directory))
        assert isinstance(answer, Forked), answer
        assert len(self.model.requests) == before
        return answer.record

    def prompt(self, name: str) -> list[str]:
        """What the turn's first request held, in the trace's names."""
        seen = next(r for r in self.model.requests if r.turn == name and r.kind == "turn")
        return [item.name for item in seen.items]

    async def stored(self, lines: Sequence[Mapping[str, Any] | bytes]) -> tuple[str, Path]:
        """A session from a file with these lines, where raw bytes stand as they are; its id and its file."""
        self.directory = self.world.create("main", {})
        session = files.new_id()
        folder = configuration.sessions_folder(self.trial.root / "home", self.directory)
        folder.mkdir(parents=True, exist_ok=True)
        file = files.place(folder, session)
        whole = [files.header(session, self.directory), *lines]
        written = (each if isinstance(each, bytes) else json.dumps(each).encode() + b"\n" for each in whole)
        file.write_bytes(b"".join(written))
        fleet = self.adapter._fleet
        assert fleet is not None
        async with fleet.placing:
            assert await fleet.stored(file, self.directory) == session
        return session, file

    async def ask(self, operation: Any) -> Answer:
        """Carry out one operation."""
        return await self.adapter.perform(operation)


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Play a story on a running pi."""

    def run(story: Story, wire: str | None = None) -> None:
        async def whole() -> None:
            stage = Stage(tmp_path, wire)
            async with asyncio.timeout(300), stage.running():
                await story(stage)

        asyncio.run(whole())

    return run
