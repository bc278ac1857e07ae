"""The in-process adapter: every operation of the protocol, answered by the reference."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Self

import pytest

from forkproof.adapters.errors import NotInstalled, StartFailed
from forkproof.adapters.inprocess import CAPABILITIES, MemoryWorld, ReferenceAdapter, create
from forkproof.adapters.prompt import Prompt, Text, ToolCall, ToolResult
from forkproof.adapters.protocol import (
    Acknowledged,
    Adapter,
    Cancel,
    Compact,
    Cut,
    Field,
    Fork,
    Forked,
    ForkRecord,
    Import,
    ImportedTurn,
    ModelReply,
    ModelRequest,
    NativeCall,
    OpenSession,
    Refused,
    Say,
    SendPrompt,
    SessionOpened,
    Stall,
    ToolUse,
    Trial,
    TurnEnded,
    TurnRef,
    World,
)
from forkproof.reference.cut import BusySource
from forkproof.reference.machine import Machine
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


def test_it_is_an_adapter_with_a_world() -> None:
    """Design 5: the protocol is the only seam; the registry makes it by `create`."""
    adapter: Adapter = create()
    world: World = MemoryWorld(Machine())
    assert not adapter.needs_server
    assert world.runs() == {}
    assert adapter.diagnostics() == ""


def test_what_it_declares() -> None:
    """Design 5: capabilities and the policies of its semantics, declared before anything runs."""
    described = ReferenceAdapter(Semantics(busy_source="refuse", retained_turns=2)).describe()
    assert described.harness == "reference"
    assert described.capabilities == CAPABILITIES
    assert described.policies == {"busy_source": "refuse", "retained_turns": "2", "settings_source": "cut"}
    assert described.unobservable == frozenset()


def test_versions() -> None:
    """The reference has the version of the package and no other."""
    own = create().describe().version
    assert create(own).describe().version == own
    with pytest.raises(NotInstalled, match=r"there is no version 0\.0\.0"):
        create("0.0.0")


def test_nothing_can_be_done_before_start_or_after_stop() -> None:
    """Design 5: one life, start to stop; stopping is always allowed."""

    async def story() -> None:
        adapter = ReferenceAdapter()
        await adapter.stop()
        with pytest.raises(StartFailed):
            await adapter.perform(OpenSession("/work/main"))

    run(story())


def test_a_turn_with_every_tool() -> None:
    """Design 3: each abstract tool does its work, and its output carries the markers that it was given."""
    uses = (
        tool("w", "write", {"new.txt": "one"}),
        tool("e", "edit", {"new.txt": {"old": "one", "new": "two"}}),
        tool("r", "read", "new.txt"),
        tool("x", "run", "ls"),
        tool("c", "count", "n"),
        tool("f", "run", "false"),
        tool("h", "wait", "release"),
    )

    async def story() -> None:
        async with Stage(*(ModelReply((use,)) for use in uses)) as stage:
            turn = asyncio.ensure_future(stage.turn("go"))
            await stage.world.started("h")
            stage.world.release("h")
            assert await turn == TurnEnded("end_turn", "turn-1")
            assert stage.last()[2::2] == [
                "[fp0.w.start]\nwrote new.txt\n[fp0.w.end]",
                "[fp0.e.start]\nedited new.txt\n[fp0.e.end]",
                "[fp0.r.start]\ntwo\n[fp0.r.end]",
                "[fp0.x.start]\nnew.txt\nnotes.md\n[fp0.x.end]",
                "[fp0.c.start]\nn: 1\n[fp0.c.end]",
                "[fp0.f.start]\n[fp0.f.failed]",
                "[fp0.h.start]\n[fp0.h.end]",
            ]
            assert stage.world.read(stage.directory) == {"notes.md": "draft\n", "new.txt": "two"}
            assert stage.world.runs() == {"n": 1}

    run(story())


def test_a_native_call_is_the_abstract_tool_itself() -> None:
    """Design 3: the reference needs no mapping."""
    assert ReferenceAdapter().native_call(tool("r", "read", "a")) == NativeCall("read", "a")


def test_a_failing_model_fails_the_turn() -> None:
    """The status and the message of the model's failure are told."""

    async def story() -> None:
        async with Stage(ModelReply(status=503, message="overloaded")) as stage:
            assert await stage.turn("go") == TurnEnded("failed", "turn-1", "the model answered 503: overloaded")

    run(story())


def test_a_stalled_answer_waits_and_can_be_interrupted() -> None:
    """Design 3: `stall` holds the answer until it is released, or until the turn is cancelled."""

    async def story() -> None:
        async with Stage(ModelReply((Say("half"), Stall("here")))) as stage:
            turn = asyncio.ensure_future(stage.turn("go"))
            await stage.model.asked.wait()
            assert not turn.done()
            stage.model.stall.set()
            assert (await turn).stop == "end_turn"
        async with Stage(ModelReply((Say("half"), Stall("here")))) as stage:
            turn = asyncio.ensure_future(stage.turn("go"))
            await stage.model.asked.wait()
            assert await stage.adapter.perform(Cancel(stage.main)) == Acknowledged()
            assert (await turn).stop == "cancelled"

    run(story())


def test_requests_are_told_apart() -> None:
    """Design 4: a summary request says what it is; all others are those of turns."""

    async def story() -> None:
        async with Stage() as stage:
            await stage.turn("go")
            assert await stage.adapter.perform(Compact(stage.main)) == Acknowledged("compaction-1")
            kinds = [stage.adapter.classify(request.prompt) for request in stage.model.requests]
            assert kinds == ["turn", "summary"]

    run(story())
    assert ReferenceAdapter().classify(Prompt(())) == "turn"


def test_every_field_of_a_record_is_reported() -> None:
    """REC-1 to REC-10: the reference states all of it itself."""

    async def story() -> None:
        async with Stage() as stage:
            await stage.turn("go")
            await stage.adapter.perform(Compact(stage.main))
            two = await stage.turn("on [fp0.two.user]")
            record = await stage.fork(Cut("before", ref("two", two.native)))
            fields = {name: getattr(record, name) for name in ForkRecord.__dataclass_fields__}
            assert all(field.origin == "reported" for field in fields.values())
            settings = {"model": "reference-model", "effort": "medium", "permissions": "ask"}
            assert {name: field.value for name, field in fields.items()} == {
                "session": "session-2",
                "source": stage.main,
                "cut": {"before": "turn-2"},
                "revision": "entry-6",
                "settings": {name: {"value": value, "origin": "cut"} for name, value in settings.items()},
                "checkpoint": "compaction-1",
                "directory": stage.directory,
                "workspace": "shared",
                "edge": "fork",
                "grants": [],
                "editor": "on [fp0.two.user]",
            }

    run(story())


def test_cut_points_by_id_and_by_marker() -> None:
    """CUT-2: a turn is found by its id, or, without one, by the marker in its message; also in a fork of a fork."""

    async def story() -> None:
        async with Stage() as stage:
            one = await stage.turn("first [fp0.one.user]")
            await stage.turn("second [fp0.two.user]")
            child = await stage.fork(Cut("after", ref("one", one.native)))
            assert isinstance(child.session.value, str)
            await stage.turn("third [fp0.three.user]", child.session.value)
            by_marker = await stage.fork(Cut("before", ref("three")), child.session.value)
            assert by_marker.editor == Field("third [fp0.three.user]", "reported")
            inherited = await stage.fork(Cut("before", ref("one", one.native)), child.session.value)
            assert inherited.source == Field(child.session.value, "reported")

    run(story())


@pytest.mark.parametrize("kind", ["before", "after"])
def test_what_was_never_there_is_refused(kind: str) -> None:
    """CUT-5, ATO-2: an unknown turn, a turn of elsewhere and an unknown session."""

    async def story() -> None:
        async with Stage() as stage:
            ended = await stage.turn("go [fp0.go.user]")
            other = await stage.adapter.perform(OpenSession(stage.directory))
            assert isinstance(other, SessionOpened)
            asked = (
                (stage.main, ref("nobody", exists=False), True, "unknown-cut"),
                (stage.main, ref("nobody"), True, "unknown-cut"),
                (other.session, ref("go", ended.native), True, "unknown-cut"),
                ("ghost", ref("go", ended.native), False, "unknown-session"),
                ("session-77", ref("go", ended.native), True, "unknown-session"),
            )
            for session, turn, exists, reason in asked:
                cut = Cut("before" if kind == "before" else "after", turn)
                answer = await stage.adapter.perform(Fork(session, cut, "isolated", stage.world.reserve("alt"), exists))
                assert isinstance(answer, Refused)
                assert answer.reason == reason
            assert stage.world.read("/work/alt") == {}

    run(story())


def test_an_imported_history() -> None:
    """Import is answered like OpenSession, with the ids of the turns, which are then cut points."""

    async def story() -> None:
        async with Stage() as stage:
            turns = tuple(ImportedTurn(1000, f"u{n} [fp0.t{n}.user]", f"s{n}") for n in range(3))
            opened = await stage.adapter.perform(Import(stage.directory, turns))
            assert isinstance(opened, SessionOpened)
            assert len(set(opened.turns)) == 3
            record = await stage.fork(Cut("after", ref("t1", opened.turns[1])), opened.session)
            assert isinstance(record.session.value, str)
            await stage.turn("ask", record.session.value)
            assert stage.last() == ["u0 [fp0.t0.user]", "s0", "u1 [fp0.t1.user]", "s1", "ask"]

    run(story())


def test_an_isolated_fork_gets_the_reserved_directory() -> None:
    """ENV-3, ENV-5: the harness makes the copy itself; a second one at the same place fails, and the fork with it."""

    async def story() -> None:
        async with Stage(ModelReply((tool("w", "write", {"notes.md": "mine\n"}),))) as stage:
            alt = stage.world.reserve("alt")
            forked = await stage.adapter.perform(Fork(stage.main, Cut("head"), "isolated", alt))
            assert isinstance(forked, Forked)
            assert forked.record.directory == Field(alt, "reported")
            assert isinstance(forked.record.session.value, str)
            await stage.turn("go", forked.record.session.value)
            assert stage.world.read(alt) == {"notes.md": "mine\n"}
            assert stage.world.read(stage.directory) == {"notes.md": "draft\n"}
            again = await stage.adapter.perform(Fork(stage.main, Cut("head"), "isolated", alt))
            assert isinstance(again, Refused)
            stage.world.copy(alt, "/work/by-the-suite")
            assert stage.world.read("/work/by-the-suite") == {"notes.md": "mine\n"}

    run(story())


def test_directories_are_never_the_same() -> None:
    """World.reserve: each name gives a new directory, whatever characters it has."""
    world = MemoryWorld(Machine())
    names = [
        world.create("main", {}),
        world.create("main", {}),
        world.reserve("main"),
        world.reserve("a/../b"),
        world.reserve(".."),
    ]
    assert len(set(names)) == 5
    assert all(name.startswith("/work/") and "/" not in name.removeprefix("/work/") for name in names)
    assert world.read("/work/nowhere") == {}


@pytest.mark.parametrize("policy", ["interrupt", "last-committed", "refuse", "wait"])
def test_a_busy_source_by_policy(policy: BusySource) -> None:
    """SNAP-4: what is declared is what happens."""
    job = ModelReply((tool("job", "wait", "release"),))

    async def story() -> None:
        async with Stage(ModelReply((Say("fine"),)), job, semantics=Semantics(busy_source=policy)) as stage:
            one = await stage.turn("one")
            slow = asyncio.ensure_future(stage.turn("slow"))
            await stage.world.started("job")
            fork = asyncio.ensure_future(
                stage.adapter.perform(Fork(stage.main, Cut("head"), "shared", stage.directory))
            )
            for _ in range(5):
                await asyncio.sleep(0)
            assert fork.done() is (policy != "wait")
            stage.world.release("job")
            ended = await slow
            answer = await fork
            if policy == "refuse":
                assert answer == Refused("busy", "turn turn-2 is in flight")
                return
            assert isinstance(answer, Forked)
            assert (
                answer.record.cut.value
                == {
                    "interrupt": {"interrupted": ended.native},
                    "last-committed": {"after": one.native},
                    "wait": {"after": ended.native},
                }[policy]
            )

    run(story())


def test_stopping_in_the_middle_leaves_nothing_running() -> None:
    """Adapter.stop ends turns that wait, forks that wait for them, and whatever else is under way."""

    async def story() -> None:
        job = ModelReply((tool("job", "wait", "forever"), tool("other", "wait", "forever")))
        async with Stage(job, semantics=Semantics(busy_source="wait")) as stage:
            slow = asyncio.ensure_future(stage.turn("slow"))
            await stage.world.started("other")
            fork = asyncio.ensure_future(
                stage.adapter.perform(Fork(stage.main, Cut("head"), "shared", stage.directory))
            )
            await asyncio.sleep(0)
        assert (await slow).stop == "cancelled"
        assert isinstance(await fork, Refused)

    run(story())
