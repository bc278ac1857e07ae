"""A first story on an adapter: described, started, a turn with a tool call, a fork, the end. `adapter check` shows it.

It finds what would make a whole run end early, and says what to do. What the forks are worth only a run tells.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from forkproof.adapters.errors import AdapterError
from forkproof.adapters.model.codec import Ids
from forkproof.adapters.model.markers import Markers
from forkproof.adapters.model.script import ScriptedModel
from forkproof.adapters.protocol import (
    Answer,
    Cut,
    Deadlines,
    Endpoint,
    Fork,
    Forked,
    ModelReply,
    OpenSession,
    Operation,
    Say,
    SendPrompt,
    SessionOpened,
    ToolUse,
    Trial,
    TurnEnded,
    TurnRef,
    World,
)
from forkproof.adapters.stdio.adapter import StdioAdapter
from forkproof.adapters.stdio.finding import Finding
from forkproof.adapters.stdio.program import Program

__all__ = ["Smoke"]

_Status: TypeAlias = Literal["ok", "failed", "absent"]
_Chapter: TypeAlias = Callable[[], Awaitable[tuple[_Status, str, str]]]
_MARKERS: Final = Markers("5a0ce5")
_FILE: Final = {"smoke.txt": "it runs\n"}
_PAGE: Final = "docs/adapters.md has the shapes; FORKPROOF_WIRE_LOG=FILE keeps every message"


class Smoke:
    """Plays the story. `endpoint` is the model server's while `served` is open, for whoever goes on with it."""

    def __init__(self, program: Program, root: Path, seconds: float) -> None:
        self._program = program
        self._root = root
        self._deadlines = Deadlines(start=seconds, operation=seconds, stop=min(seconds, 5.0))
        self._script = ScriptedModel(_MARKERS, lambda _prompt: None)
        self._adapter: StdioAdapter | None = None
        self._world: World | None = None
        self._directory = ""
        self._main = ""

    def described(self) -> Finding:
        """Whether the program says what it is. Must come first."""
        expected = "the harness, its version, its capabilities"
        try:
            self._adapter = StdioAdapter(self._program, self._deadlines)
        except AdapterError as error:
            return Finding("describe", "failed", expected, error.cause, error.hint or _PAGE)
        found = self._adapter.describe()
        return Finding(
            "describe", "ok", expected, f"{found.harness} {found.version}, {len(found.capabilities)} of them"
        )

    @asynccontextmanager
    async def served(self) -> AsyncIterator[Endpoint | None]:
        """The model server, if the harness needs one."""
        adapter = self._known
        if not adapter.needs_server:
            yield None
            return
        from forkproof.adapters.model.server import ModelServer

        async with ModelServer(self._script, adapter.native_call, Ids("5a0ce5")) as server:
            yield server.endpoint

    async def story(self, endpoint: Endpoint | None) -> AsyncIterator[Finding]:
        """The findings, one after another; the first failure ends the story."""
        for name, expected, tell in (
            ("start", "the harness starts", lambda: self._start(endpoint)),
            ("session/open", "the id of a new session", self._open),
            ("session/prompt", "the turn runs, its tool call works, it ends with end_turn", self._turn),
            ("session/fork", "a new session that holds what the source holds", self._fork),
        ):
            finding = await self._told(name, expected, tell)
            yield finding
            if finding.status == "failed":
                break
        yield await self._told("stop", "the harness ends, and nothing that it started runs on", self._stop)

    async def _told(self, name: str, expected: str, tell: _Chapter) -> Finding:
        try:
            status, came, hint = await tell()
        except AdapterError as error:
            return Finding(name, "failed", expected, error.cause, error.hint or _PAGE)
        return Finding(name, status, expected, came, hint)

    # --- The story -------------------------------------------------------------------------------------------------

    @property
    def _known(self) -> StdioAdapter:
        if self._adapter is None:
            raise RuntimeError("`described` comes first")
        return self._adapter

    async def _start(self, endpoint: Endpoint | None) -> tuple[_Status, str, str]:
        self._world = await self._known.start(Trial(self._root, self._script, endpoint, self._deadlines))
        self._directory = self._world.create("main", {"notes.md": "draft\n"})
        return "ok", "it started", ""

    async def _open(self) -> tuple[_Status, str, str]:
        answer = await self._ask(OpenSession(self._directory))
        if not isinstance(answer, SessionOpened):
            return "failed", str(answer), 'answer `{"sessionId": ...}`; every adapter needs this method'
        self._main = answer.session
        return "ok", f"session {answer.session}", ""

    async def _turn(self) -> tuple[_Status, str, str]:
        writes = "tool.write" in self._known.describe().capabilities
        use = ToolUse(
            _MARKERS.call_id("smoke"), "smoke", "write", _FILE, _MARKERS.tag("smoke.start"), _MARKERS.tag("smoke.end")
        )
        said = ModelReply((Say(_MARKERS.mark("Done.", "first.say")),))
        answer = await self._prompt(self._main, "first", (ModelReply((use,)), said) if writes else (said,))
        if not isinstance(answer, TurnEnded) or answer.stop != "end_turn":
            return "failed", str(answer), 'answer `{"stopReason": "end_turn"}` when the turn is over'
        if not self._script.requests:
            return "failed", "no request came to the model", "the harness must use the endpoint and the key of `start`"
        last = self._script.requests[-1]
        if not any(item.name == "first.user" for item in last.items):
            return "failed", f"the model was sent {_items(last)}", "the user's text must reach the model as it is"
        if not writes:
            return "ok", "the turn ended; tool.write is not declared, so no tool was called", ""
        done = any(item.name == "smoke.result" and item.status == "done" for item in last.items)
        written = self._world is not None and self._world.read(self._directory).get("smoke.txt") == _FILE["smoke.txt"]
        if not (done and written):
            came = f"the model was sent {_items(last)}; the file is {'' if written else 'not '}there"
            return "failed", came, "the command must run in the session's cwd, and its output go back to the model"
        return "ok", "the turn ended, the file was written", ""

    async def _fork(self) -> tuple[_Status, str, str]:
        declared = self._known.describe().capabilities
        kind = next((kind for kind in ("head", "after", "before") if f"fork.{kind}" in declared), None)
        if kind is None:
            return "absent", "no fork.before, fork.after or fork.head is declared", ""
        turn = TurnRef("first", _MARKERS.tag("first.user"), 0, None)
        cut = Cut("head") if kind == "head" else Cut("after" if kind == "after" else "before", turn)
        answer = await self._ask(Fork(self._main, cut, "shared", self._directory))
        if not isinstance(answer, Forked):
            return "failed", str(answer), f"fork.{kind} is declared, so a fork must be made"
        child = answer.record.session.value
        if not isinstance(child, str) or child == self._main:
            return "failed", f"the child is {child!r}", 'state its id: `{"record": {"sessionId": {"value": ..., ...}}}`'
        ended = await self._prompt(child, "second", (ModelReply((Say(_MARKERS.mark("Yes.", "second.say")),)),))
        sent = _items(self._script.requests[-1])
        if not isinstance(ended, TurnEnded) or ended.stop != "end_turn":
            return "failed", f"a turn in the fork: {ended}", "a fork is a session like any other"
        wanted = "second.user" if kind == "before" else "first.user"
        if wanted not in sent:
            return "failed", f"the fork's prompt holds {sent}", "the fork must begin with the source's history"
        return "ok", f"session {child}; its prompt holds {sent}", ""

    async def _stop(self) -> tuple[_Status, str, str]:
        adapter = self._known
        talk = adapter.talk
        await adapter.stop()
        left = talk.process.leftovers() if talk is not None else ()
        if left:
            return "failed", f"processes that still run: {', '.join(map(str, left))}", "end them in `stop`"
        return "ok", "nothing is left", ""

    async def _prompt(self, session: str, turn: str, replies: tuple[ModelReply, ...]) -> Answer:
        self._script.begin_turn(turn, replies)
        try:
            return await self._ask(SendPrompt(session, _MARKERS.mark("Go on.", f"{turn}.user")))
        finally:
            self._script.end_turn(turn)

    async def _ask(self, operation: Operation) -> Answer:
        from forkproof.adapters.errors import HarnessHung

        seconds = self._deadlines.operation
        try:
            async with asyncio.timeout(seconds):
                return await self._known.perform(operation)
        except TimeoutError:
            raise HarnessHung(f"no answer within {seconds:g} s to {type(operation).__name__}", _PAGE) from None


def _items(request: Any) -> str:
    return ", ".join(item.name for item in request.items) or "nothing that it was told"
