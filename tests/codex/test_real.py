"""The Codex adapter on the real binary, which must be installed: without it these tests fail, they are never skipped.

The model is ours and scripted, so each test reads what Codex really sends (docs/codex.md, "What its forks do").
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias, get_args

import pytest

from forkproof.adapters.codex.adapter import CodexAdapter, HistoryMode
from forkproof.adapters.codex.server import AppServer
from forkproof.adapters.errors import HarnessDied
from forkproof.adapters.installation import installed
from forkproof.adapters.model.codec import Ids
from forkproof.adapters.model.markers import Markers
from forkproof.adapters.model.script import ScriptedModel
from forkproof.adapters.model.server import ModelServer
from forkproof.adapters.protocol import (
    Acknowledged,
    Answer,
    Cancel,
    Compact,
    Cut,
    Field,
    Fork,
    Forked,
    ForkRecord,
    ModelReply,
    OpenSession,
    Person,
    Refused,
    Say,
    SendPrompt,
    SessionOpened,
    ToolUse,
    Trial,
    TurnEnded,
    TurnRef,
)

pytestmark = pytest.mark.real

NONCE = "abc123"


class Stage:
    """A real Codex and its scripted model; every turn's user text is marked, and so is all that the model says."""

    def __init__(self, folder: Path, history: HistoryMode) -> None:
        self.folder = folder
        self.adapter = CodexAdapter(installed("codex"), history)
        self.markers = Markers(NONCE)
        self.model = ScriptedModel(self.markers, self.adapter.classify)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Codex and the model's server, both ended in the end; nothing may have come that no model's server expects."""
        root = self.folder / "trial"
        root.mkdir()
        async with ModelServer(self.model, self.adapter.native_call, Ids(NONCE)) as server:
            try:
                self.world = await self.adapter.start(Trial(root, self.model, server.endpoint))
                yield
            finally:
                await self.adapter.stop()
            assert server.oddities == ()

    async def open(self) -> str:
        """A session in a workspace with one file."""
        self.home = self.world.create("main", {"notes.md": "draft\n"})
        answer = await self.adapter.perform(OpenSession(self.home))
        assert isinstance(answer, SessionOpened)
        return answer.session

    def person(self, person: Person) -> None:
        """From now on this person answers Codex's questions."""
        self._app.person = person

    async def ask(self, method: str, thread: str, **params: Any) -> Any:
        """A request of the app-server that the seam has no operation for."""
        return await self._app.ask(method, {"threadId": thread, **params})

    @property
    def _app(self) -> AppServer:
        desk = self.adapter._desk  # the running server is nobody else's business
        assert desk is not None
        return desk.server

    def use(self, name: str, tool: str, arguments: Any) -> ToolUse:
        """A marked call."""
        tag = self.markers.tag
        return ToolUse(self.markers.call_id(name), name, tool, arguments, tag(f"{name}.start"), tag(f"{name}.end"))

    def begin(self, session: str, name: str, *uses: ToolUse) -> asyncio.Task[Answer]:
        """A turn in which the model makes these calls, all at once, and then says something."""
        said = ModelReply((Say(self.markers.mark("Said.", f"{name}.say")),))
        self.model.begin_turn(name, (ModelReply(uses), said) if uses else (said,))
        words = self.markers.mark("Please.", f"{name}.user")
        return asyncio.create_task(self.adapter.perform(SendPrompt(session, words)))

    async def turn(self, session: str, name: str, *uses: ToolUse) -> TurnRef:
        """A turn to its end, as a cut point."""
        ended = await self.begin(session, name, *uses)
        self.model.end_turn(name)
        assert isinstance(ended, TurnEnded)
        assert ended.stop == "end_turn"
        return TurnRef(name, self.markers.tag(f"{name}.user"), 0, ended.native)

    async def fork(self, session: str, cut: Cut, isolated: str | None = None) -> ForkRecord:
        """A fork that is made, without asking the model."""
        before = len(self.model.requests)
        choice: Any = "isolated" if isolated else "shared"
        answer = await self.adapter.perform(Fork(session, cut, choice, isolated or self.home))
        assert isinstance(answer, Forked), answer
        assert len(self.model.requests) == before
        return answer.record

    def prompt(self, name: str, index: int = 0) -> list[str]:
        """What one of the turn's requests held, in the trace's names."""
        seen = [r for r in self.model.requests if r.turn == name and r.kind == "turn"][index]
        return [i.name + (f": {i.status}" if i.status else "") for i in seen.items]


Story: TypeAlias = Callable[[Stage], Awaitable[None]]
Play: TypeAlias = Callable[[Story], None]


@pytest.fixture(params=get_args(HistoryMode))
def play(request: pytest.FixtureRequest, tmp_path: Path) -> Play:
    """Tells a story to Codex, with either storage of threads."""

    def told(story: Story) -> None:
        async def whole() -> None:
            stage = Stage(tmp_path, request.param)
            async with stage.running():
                await story(stage)

        asyncio.run(whole())

    return told


WRITTEN = ["plan.user", "plan.say", "write.user", "edit.call", "edit.result: done", "write.say"]


async def written(codex: Stage) -> tuple[str, TurnRef]:
    """A session with the turns `plan` and `write`; `write` made a file."""
    main = await codex.open()
    await codex.turn(main, "plan")
    return main, await codex.turn(main, "write", codex.use("edit", "write", {"parser.py": "v1\n"}))


def test_edit_then_fork_forgets_the_edit_and_sees_the_file(play: Play) -> None:
    """A fork before an edit holds nothing of it, tools see the shared file, and the record is as docs/codex.md says."""

    async def story(codex: Stage) -> None:
        main, write = await written(codex)
        record = await codex.fork(main, Cut("before", write))
        child = record.session.value
        await codex.turn(child, "retry", codex.use("look", "read", "parser.py"))
        assert codex.prompt("retry") == ["plan.user", "plan.say", "retry.user"]
        assert codex.prompt("retry", 1)[-2:] == ["look.call", "look.result: done"]
        assert codex.world.read(codex.home) == {"notes.md": "draft\n", "parser.py": "v1\n"}
        assert record.source == Field(main, "reported")
        assert record.cut == Field({"before": write.native}, "derived")
        assert record.directory == Field(codex.home, "reported")
        assert (record.workspace, record.edge) == (Field("shared", "reported"), Field("fork", "reported"))
        again = await codex.fork(child, Cut("before", await codex.turn(child, "more")))
        assert again.source == Field(child, "reported")

    play(story)


def test_an_isolated_fork_works_in_its_own_copy(play: Play) -> None:
    """Tools of an isolated fork run in the new directory and leave the source's alone; both calls of a pair end."""

    async def story(codex: Stage) -> None:
        main, write = await written(codex)
        place = codex.world.reserve("copy")
        record = await codex.fork(main, Cut("after", write), isolated=place)
        assert (record.directory, record.workspace) == (Field(place, "reported"), Field("isolated", "reported"))
        pair = codex.use("where", "run", "pwd"), codex.use("change", "write", {"parser.py": "v2\n"})
        await codex.turn(record.session.value, "apart", *pair)
        assert codex.prompt("apart") == [*WRITTEN, "apart.user"]
        assert set(codex.prompt("apart", 1)[-2:]) == {"where.result: done", "change.result: done"}
        results = str(codex.model.requests[-1].prompt.messages)
        assert place in results
        assert codex.world.read(place)["parser.py"] == "v2\n"
        assert codex.world.read(codex.home)["parser.py"] == "v1\n"

    play(story)


def test_a_busy_source_is_copied_as_if_interrupted(play: Play) -> None:
    """The declared policy: a head fork of a busy source holds the call unfinished, a cut after its turn is refused."""

    async def story(codex: Stage) -> None:
        main, _ = await written(codex)
        running = codex.begin(main, "busy", codex.use("hold", "wait", "release"))
        await codex.world.started(codex.markers.call_id("hold"))
        record = await codex.fork(main, Cut("head"))
        assert set(record.cut.value) == {"interrupted"}
        busy = TurnRef("busy", codex.markers.tag("busy.user"), 2)
        refused = await codex.adapter.perform(Fork(main, Cut("after", busy), "shared", codex.home))
        assert isinstance(refused, Refused)
        assert refused.reason == "busy"
        await codex.turn(record.session.value, "kid")
        assert codex.prompt("kid") == [*WRITTEN, "busy.user", "hold.call", "hold.result: unfinished", "kid.user"]
        codex.world.release(codex.markers.call_id("hold"))
        ended = await running
        assert isinstance(ended, TurnEnded)
        assert ended.stop == "end_turn"
        assert codex.prompt("busy", 1)[-1] == "hold.result: done"

    play(story)


def test_what_never_was_is_refused(play: Play) -> None:
    """Unknown turns and sessions are refused with their reasons, and no request is made (CUT-5, ATO-2)."""

    async def story(codex: Stage) -> None:
        main, write = await written(codex)
        before = len(codex.model.requests)
        never = TurnRef("never", "[never]", 9, exists=False)
        answers = [
            await codex.adapter.perform(Fork(main, Cut("before", never), "shared", codex.home)),
            await codex.adapter.perform(Fork(main, Cut("after", never), "shared", codex.home)),
            await codex.adapter.perform(Fork("never", Cut("head"), "shared", codex.home, exists=False)),
            await codex.adapter.perform(Fork("never", Cut("before", write), "shared", codex.home, exists=False)),
        ]
        reasons = [getattr(answer, "reason", answer) for answer in answers]
        assert reasons == ["unknown-cut", "unknown-cut", "unknown-session", "unknown-session"]
        assert len(codex.model.requests) == before

    play(story)


def test_a_cancelled_turn_stays_unfinished_in_a_fork(play: Play) -> None:
    """Cancel ends a turn whose command never would; a fork after it holds the call, unfinished (TOOL-2)."""

    async def story(codex: Stage) -> None:
        main, _ = await written(codex)
        running = codex.begin(main, "stuck", codex.use("hang", "wait", "forever"))
        await codex.world.started(codex.markers.call_id("hang"))
        assert await codex.adapter.perform(Cancel(main)) == Acknowledged()
        ended = await running
        assert isinstance(ended, TurnEnded)
        assert ended.stop == "cancelled"
        stuck = TurnRef("stuck", codex.markers.tag("stuck.user"), 2, ended.native)
        record = await codex.fork(main, Cut("after", stuck))
        await codex.turn(record.session.value, "kid")
        assert codex.prompt("kid") == [*WRITTEN, "stuck.user", "hang.call", "hang.result: unfinished", "kid.user"]

    play(story)


def test_forks_on_both_sides_of_a_compaction(play: Play) -> None:
    """A compaction asks for one summary; a fork before it has the items, one after it the summary (CMP-3)."""

    async def story(codex: Stage) -> None:
        main, write = await written(codex)
        codex.model.begin_summary("short", ModelReply((Say(codex.markers.mark("Short.", "short.summary")),)))
        done = await codex.adapter.perform(Compact(main))
        codex.model.end_summary("short")
        assert isinstance(done, Acknowledged)
        assert [r.kind for r in codex.model.requests if r.turn == "short"] == ["summary"]
        early = await codex.fork(main, Cut("after", write))
        late = await codex.fork(main, Cut("head"))
        assert (early.checkpoint.value, late.checkpoint.value) == ("none", done.native)
        await codex.turn(early.session.value, "old")
        await codex.turn(late.session.value, "new")
        assert codex.prompt("old") == [*WRITTEN, "old.user"]
        assert codex.prompt("new") == ["plan.user", "write.user", "short.summary", "new.user"]

    play(story)


def test_a_killed_codex_is_a_crash_with_its_signal(play: Play) -> None:
    """When Codex is killed in the middle of a turn, the turn's answer is HarnessDied, and says by what."""

    async def story(codex: Stage) -> None:
        main = await codex.open()
        running = codex.begin(main, "stuck", codex.use("hang", "wait", "forever"))
        await codex.world.started(codex.markers.call_id("hang"))
        assert codex.adapter._desk is not None
        os.kill(codex.adapter._desk.server._process.pid, signal.SIGKILL)
        with pytest.raises(HarnessDied, match="SIGKILL"):
            await running

    play(story)
