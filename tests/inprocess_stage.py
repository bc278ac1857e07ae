"""A stage for stories about the in-process adapter: a scripted model, and one session in a directory with a file."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Self

from forkproof.adapters.inprocess import ReferenceAdapter
from forkproof.adapters.prompt import Text, ToolCall, ToolResult
from forkproof.adapters.protocol import (
    Cut,
    Fork,
    Forked,
    ForkRecord,
    ModelReply,
    ModelRequest,
    OpenSession,
    Say,
    SendPrompt,
    SessionOpened,
    ToolUse,
    Trial,
    TurnEnded,
    TurnRef,
)
from forkproof.reference.semantics import Semantics


class Played:
    """A model that gives its answers in the order of the requests, and `fine` when it has none left."""

    def __init__(self, *replies: ModelReply) -> None:
        self.replies = list(replies)
        self.requests: list[ModelRequest] = []
        self.asked = asyncio.Event()
        self.stall = asyncio.Event()

    async def respond(self, request: ModelRequest) -> ModelReply:
        """The next answer."""
        self.requests.append(request)
        self.asked.set()
        return self.replies.pop(0) if self.replies else ModelReply((Say("fine"),))

    async def released(self, stall: str) -> None:
        """Return when the test lets the stream go on."""
        await self.stall.wait()


def tool(name: str, kind: str, arguments: Any) -> ToolUse:
    return ToolUse(f"call_{name}", name, kind, arguments, f"[fp0.{name}.start]", f"[fp0.{name}.end]")


def ref(name: str, native: str | None = None, *, exists: bool = True) -> TurnRef:
    return TurnRef(name, f"[fp0.{name}.user]", 0, native, exists)


class Stage:
    """A started adapter with one session in a directory with one file."""

    def __init__(self, *replies: ModelReply, semantics: Semantics | None = None) -> None:
        self.model = Played(*replies)
        self.adapter = ReferenceAdapter(semantics or Semantics())

    async def __aenter__(self) -> Self:
        self.world = await self.adapter.start(Trial(Path("unused"), self.model))
        self.directory = self.world.create("main", {"notes.md": "draft\n"})
        opened = await self.adapter.perform(OpenSession(self.directory))
        assert isinstance(opened, SessionOpened)
        self.main = opened.session
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.adapter.stop()
        await self.adapter.stop()

    async def turn(self, text: str, session: str = "") -> TurnEnded:
        ended = await self.adapter.perform(SendPrompt(session or self.main, text))
        assert isinstance(ended, TurnEnded)
        return ended

    async def fork(self, cut: Cut, session: str = "") -> ForkRecord:
        answer = await self.adapter.perform(Fork(session or self.main, cut, "shared", self.directory))
        assert isinstance(answer, Forked)
        return answer.record

    def last(self) -> list[str]:
        """The texts, calls and results of the newest request, without the system message."""
        return [_short(part) for message in self.model.requests[-1].prompt.messages[1:] for part in message.parts]


def _short(part: object) -> str:
    match part:
        case Text(content):
            return content
        case ToolCall(_, name, arguments):
            return f"{name} {arguments}"
        case ToolResult(_, response):
            return response
        case _:
            raise TypeError(part)


def run(story: Coroutine[Any, Any, None]) -> None:
    async def whole() -> None:
        await story
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(whole())
