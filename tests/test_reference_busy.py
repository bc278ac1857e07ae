"""Forks of a source whose turn is in flight: each policy does what it says, and the turn runs on undisturbed."""

import asyncio

import pytest

from forkproof.reference.cut import BusySource, Point
from forkproof.reference.model import Reply
from forkproof.reference.refusal import Refusal
from forkproof.reference.semantics import Semantics
from forkproof.reference.turn import Ended
from tests.reference_models import Script, call, say
from tests.reference_stage import HEAD, SHARED, Stage

SLOW = {"slow": [Reply((call("step", "count", "n"),)), Reply((call("job", "wait", "release"),)), say("job done")]}


async def busy(policy: BusySource) -> tuple[Stage, "asyncio.Task[Ended | Refusal]", str]:
    """A stage with one turn done and a second one in flight."""
    stage = Stage(Script(SLOW), semantics=Semantics(busy_source=policy))
    one = await stage.turn("one")
    slow = asyncio.ensure_future(stage.harness.prompt(stage.main, "slow"))
    await stage.harness.machine.started("id-job")
    return stage, slow, one


async def finish(stage: Stage, slow: "asyncio.Task[Ended | Refusal]") -> None:
    """Let the turn in flight end, undisturbed by any fork (SNAP-4)."""
    stage.harness.machine.release("id-job")
    assert await slow == Ended("turn-2", "end_turn")
    await stage.turn("after")
    done = ["call id-step", "done id-step", "call id-job", "done id-job", "job done"]
    assert stage.last() == ["one", "ok", "slow", *done, "after"]
    assert stage.harness.machine.runs() == {"n": 1}


def test_a_busy_source_is_interrupted_in_the_child_only() -> None:
    """SNAP-2, SNAP-4, TOOL-2, TOOL-3: all that was complete is in, the rest is unknown, and the record says so."""

    async def story() -> None:
        stage, slow, _ = await busy("interrupt")
        record = await stage.fork(HEAD)
        assert record.cut == {"interrupted": "turn-2"}
        await stage.turn("peek", record.session)
        shown = stage.last()
        assert shown[:7] == ["one", "ok", "slow", "call id-step", "done id-step", "call id-job", "unknown id-job"]
        assert "interrupted" in shown[7]
        assert "person" not in shown[7]
        assert shown[8:] == ["peek"]
        await finish(stage, slow)
        again = await stage.fork(Point("after", "turn-2"), source=record.session)
        await stage.turn("deeper", again.session)
        assert stage.last() == [*shown[:8], "deeper"]
        whole = await stage.fork(Point("after", "turn-2"))
        await stage.turn("deeper", whole.session)
        assert "job done" in stage.last()

    asyncio.run(story())


def test_a_busy_source_is_forked_at_what_is_committed() -> None:
    """SNAP-4, REC-6: the turn in flight is left out, and the record shows the boundary."""

    async def story() -> None:
        stage, slow, one = await busy("last-committed")
        record = await stage.fork(HEAD)
        assert record.cut == {"after": one}
        await stage.turn("peek", record.session)
        assert stage.last() == ["one", "ok", "peek"]
        await finish(stage, slow)

    asyncio.run(story())


def test_a_busy_source_refuses() -> None:
    """SNAP-4: refused for any cut, and nothing is written."""

    async def story() -> None:
        stage, slow, one = await busy("refuse")
        assert (await stage.refused(HEAD)).reason == "busy"
        assert (await stage.refused(Point("before", one))).reason == "busy"
        await finish(stage, slow)
        assert (await stage.fork(HEAD)).cut == {"head": True}

    asyncio.run(story())


def test_a_busy_source_is_waited_for() -> None:
    """SNAP-1, SNAP-4: the fork is answered when the turn ends, and holds that turn and none after it."""

    async def story() -> None:
        stage, slow, _ = await busy("wait")
        fork = asyncio.ensure_future(stage.fork(HEAD))
        for _ in range(5):
            await asyncio.sleep(0)
        assert not fork.done()
        await finish(stage, slow)
        record = await fork
        assert record.cut == {"after": "turn-2"}
        await stage.turn("peek", record.session)
        assert stage.last()[-2:] == ["job done", "peek"]

    asyncio.run(story())


def test_a_fork_that_waits_is_refused_when_the_harness_closes() -> None:
    """ATO-1: no child is made on the way out."""

    async def story() -> None:
        stage, slow, _ = await busy("wait")
        fork = asyncio.ensure_future(stage.harness.fork(stage.main, HEAD, SHARED))
        await asyncio.sleep(0)
        await stage.harness.close()
        assert isinstance(await fork, Refusal)
        await slow
        assert stage.harness.sessions() == (stage.main,)

    asyncio.run(story())


@pytest.mark.parametrize("policy", ["interrupt", "last-committed"])
def test_other_cuts_of_a_busy_source_are_exact(policy: BusySource) -> None:
    """CUT-5, REC-6: earlier turns and the place before the one in flight are plain cuts; after it is none yet."""

    async def story() -> None:
        stage, slow, one = await busy(policy)
        assert (await stage.fork(Point("after", one))).cut == {"after": one}
        before = await stage.fork(Point("before", "turn-2"))
        assert (before.cut, before.editor) == ({"before": "turn-2"}, "slow")
        assert (await stage.refused(Point("after", "turn-2"))).reason == "unknown-cut"
        await finish(stage, slow)

    asyncio.run(story())
