"""A real Goose and its scripted model, and the few moves that stories are made of."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from forkproof.adapters import goose
from forkproof.adapters.acp.adapter import AcpAdapter
from forkproof.adapters.diskworld import DiskWorld
from forkproof.adapters.model.codec import Ids
from forkproof.adapters.model.markers import Markers
from forkproof.adapters.model.script import ScriptedModel
from forkproof.adapters.model.server import ModelServer
from forkproof.adapters.prompt import Prompt
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
    ToolUse,
    Trial,
    TurnEnded,
    TurnRef,
)

NONCE = "abc123"
PATIENCE = 120
"""Seconds after which a story gives up: far above what any of them needs."""


class Stage:
    """Every turn's user text is marked with the turn's name, and so is all that the model says in it."""

    def __init__(self, root: Path, adapter: AcpAdapter | None = None) -> None:
        self.root = root
        # Without an installed Goose this raises `NotInstalled`: such a test fails, it is never skipped.
        self.adapter = adapter or cast("AcpAdapter", goose.create())
        self.markers = Markers(NONCE)
        self.model = ScriptedModel(self.markers, self.adapter.classify)
        self._world: DiskWorld | None = None

    @asynccontextmanager
    async def played(self) -> AsyncIterator[Stage]:
        """Started, and ended in any case."""
        async with ModelServer(self.model, self.adapter.native_call, Ids(NONCE)) as server:
            try:
                self._world = await self.adapter.start(Trial(self.root, self.model, server.endpoint))
                yield self
            finally:
                await self.adapter.stop()

    @property
    def world(self) -> DiskWorld:
        """Where the tools work."""
        assert self._world is not None
        return self._world

    async def open(self, directory: str, **settings: str) -> str:
        """A new session."""
        answer = await self.adapter.perform(OpenSession(directory, settings))
        assert isinstance(answer, SessionOpened), answer
        return answer.session

    def use(self, name: str, tool: str, arguments: Any) -> ToolUse:
        """A call of an abstract tool."""
        tag = self.markers.tag
        return ToolUse(self.markers.call_id(name), name, tool, arguments, tag(f"{name}.start"), tag(f"{name}.end"))

    def say(self, turn: str) -> ModelReply:
        """What the model says at the end of a turn."""
        return ModelReply((Say(self.markers.mark("So be it.", f"{turn}.say")),))

    async def turn(self, session: str, name: str, *uses: ToolUse) -> TurnEnded:
        """A whole turn: one answer a call, and a last word."""
        answer = await self.begin(session, name, *uses)
        self.model.end_turn(name)
        assert isinstance(answer, TurnEnded), answer
        return answer

    def begin(self, session: str, name: str, *uses: ToolUse) -> Awaitable[Answer]:
        """A turn that is left running; gives what to wait for."""
        self.model.begin_turn(name, (*(ModelReply((use,)) for use in uses), self.say(name)))
        text = self.markers.mark("Go on.", f"{name}.user")
        return asyncio.ensure_future(self.adapter.perform(SendPrompt(session, text)))

    def ref(self, turn: str, *, exists: bool = True) -> TurnRef:
        """A turn as a cut point."""
        return TurnRef(turn, self.markers.tag(f"{turn}.user"), 0, exists=exists)

    async def fork(self, session: str, cut: Cut, directory: str, workspace: Any = "shared") -> ForkRecord:
        """The record of a fork that must be made."""
        answer = await self.adapter.perform(Fork(session, cut, workspace, directory))
        assert isinstance(answer, Forked), answer
        return answer.record

    async def next_prompt(self, record: ForkRecord, name: str) -> list[str]:
        """The items of the prompt that the child's model gets for one more turn."""
        await self.turn(str(record.session.value), name)
        return self.items(name)

    def items(self, turn: str, request: int = 0) -> list[str]:
        """The items of one of a turn's requests, results with their status."""
        seen = [r for r in self.model.requests if r.kind == "turn" and r.turn == turn][request].items
        return [i.name + (f":{i.status}" if i.status else "") for i in seen]

    def prompt(self, turn: str) -> Prompt:
        """A turn's first request."""
        return next(r.prompt for r in self.model.requests if r.kind == "turn" and r.turn == turn)


def play(root: Path, story: Callable[[Stage], Coroutine[Any, Any, None]], adapter: AcpAdapter | None = None) -> Stage:
    """Play a story on a fresh Goose; gives the stage as it was left."""
    stage = Stage(root, adapter)

    async def whole() -> None:
        async with stage.played():
            await story(stage)

    asyncio.run(asyncio.wait_for(whole(), PATIENCE))
    return stage
