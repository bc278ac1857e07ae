"""The in-process adapter: every operation of the protocol, answered by the reference."""

import asyncio

import pytest

from forkproof.adapters.choice import Choice
from forkproof.adapters.errors import NotInstalled, StartFailed
from forkproof.adapters.inprocess import CAPABILITIES, MemoryWorld, ReferenceAdapter, create
from forkproof.adapters.prompt import Prompt
from forkproof.adapters.protocol import (
    Acknowledged,
    Adapter,
    Cancel,
    Compact,
    Cut,
    Fork,
    ModelReply,
    NativeCall,
    OpenSession,
    Refused,
    Say,
    Stall,
    TurnEnded,
    World,
)
from forkproof.conformance.vocabulary import POLICIES
from forkproof.reference.machine import Machine
from forkproof.reference.semantics import Semantics
from tests.inprocess_stage import Stage, run, tool


def test_it_is_an_adapter_with_a_world() -> None:
    """Design 5: the protocol is the only seam; the registry makes it by `create`."""
    adapter: Adapter = create()
    world: World = MemoryWorld(Machine())
    assert not adapter.needs_server
    assert world.runs() == {}
    assert adapter.diagnostics() == ""


def test_what_it_declares() -> None:
    """Design 5: capabilities and the policies of its semantics, declared before anything runs."""
    described = ReferenceAdapter(Semantics(busy_source="refuse", retained_turns=0)).describe()
    assert described.harness == "reference"
    assert described.capabilities == CAPABILITIES
    assert (described.policies["busy_source"], described.policies["retained_turns"]) == ("refuse", "0")
    known = {name: choices for name, choices in POLICIES.items() if name in described.policies}
    assert {name: described.policies[name] in choices for name, choices in known.items()} == dict.fromkeys(known, True)
    assert described.unobservable == frozenset()


def test_versions() -> None:
    """The reference has the version of the package and no other."""
    own = create().describe().version
    assert create(Choice("reference", own)).describe().version == own
    with pytest.raises(NotInstalled, match=r"there is no version 0\.0\.0"):
        create(Choice("reference", "0.0.0"))


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
            await stage.world.started("call_h")
            stage.world.release("call_h")
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
            answer = await stage.adapter.perform(Compact(stage.main))
            assert isinstance(answer, Acknowledged)
            assert answer.native == "compaction-1"
            kinds = [stage.adapter.classify(request.prompt) for request in stage.model.requests]
            assert kinds == ["turn", "summary"]

    run(story())
    assert ReferenceAdapter().classify(Prompt(())) == "turn"


def test_stopping_in_the_middle_leaves_nothing_running() -> None:
    """Adapter.stop ends turns that wait, forks that wait for them, and whatever else is under way."""

    async def story() -> None:
        job = ModelReply((tool("job", "wait", "forever"), tool("other", "wait", "forever")))
        async with Stage(job, semantics=Semantics(busy_source="wait")) as stage:
            slow = asyncio.ensure_future(stage.turn("slow"))
            await stage.world.started("call_other")
            fork = asyncio.ensure_future(
                stage.adapter.perform(Fork(stage.main, Cut("head"), "shared", stage.directory))
            )
            await asyncio.sleep(0)
        assert (await slow).stop == "cancelled"
        assert isinstance(await fork, Refused)

    run(story())
