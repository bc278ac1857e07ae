"""Rules for sessions that outlive the process: what is flushed is kept, and nothing else; ids and answers stay."""

import asyncio
from dataclasses import replace

import pytest

from forkproof.reference.cut import Point
from forkproof.reference.fork import ForkRequest
from forkproof.reference.project import full_path
from forkproof.reference.record import Record
from forkproof.reference.refusal import Refusal
from forkproof.reference.session import Session
from forkproof.reference.store import CrashPoint, Died, Removed, Store
from forkproof.reference.turn import Ended
from tests.reference_stage import HEAD, SHARED, Stage


def test_a_store_keeps_what_was_flushed_and_nothing_else() -> None:
    """A process that is gone writes nothing any more, and takes what it had not flushed with it (SNAP-2, ATO-3)."""
    store = Store()
    store.write(Removed("a"))
    store.flush()
    store.write(Removed("b"))
    store.close()
    store.write(Removed("c"))
    store.flush()
    assert store.rows() == (Removed("a"),)
    store.open_again()
    store.write(Removed("d"))
    store.flush()
    assert store.rows() == (Removed("a"), Removed("d"))


@pytest.mark.parametrize("kill", [False, True])
def test_a_restart_gives_back_every_session_with_the_same_entries(kill: bool) -> None:
    """Prefix, cut and order survive, whichever way the process ends (ATO-4)."""

    async def story() -> None:
        stage = Stage()
        two = [await stage.turn(text) for text in ("one", "two")][1]
        early = (await stage.fork(Point("before", two))).session
        await stage.turn("aside", early)
        before = [(id_, [e.id for e in full_path(leaf)]) for id_, leaf in stage.state()]
        await stage.harness.restart(kill=kill)
        assert [(id_, [e.id for e in full_path(leaf)]) for id_, leaf in stage.state()] == before

    asyncio.run(story())


def test_a_stored_session_acts_only_after_a_resume() -> None:
    """What is stored is not open; a resume opens that session and makes no other (OPS-1)."""

    async def story() -> None:
        stage = Stage()
        await stage.turn("one")
        await stage.harness.restart(kill=True)
        assert isinstance(await stage.harness.prompt(stage.main, "two"), Refusal)
        assert isinstance(stage.harness.resume(stage.main), Session)
        assert isinstance(await stage.harness.prompt(stage.main, "two"), Ended)
        assert stage.harness.sessions() == (stage.main,)
        assert isinstance(stage.harness.resume("nobody"), Refusal)

    asyncio.run(story())


@pytest.mark.parametrize(("dies", "children"), [("before-commit", 0), ("during-commit", 0), ("after-commit", 1)])
def test_a_crash_over_a_fork_leaves_a_whole_child_or_none(dies: CrashPoint, children: int) -> None:
    """Whatever is left, the same request then gives one child, with the whole prefix (ATO-3, ATO-6)."""

    async def story() -> None:
        stage = Stage()
        await stage.turn("one")
        request = replace(SHARED, key="request", dies=dies)
        with pytest.raises(Died):
            await stage.harness.fork(stage.main, HEAD, request)
        await stage.harness.restart(kill=True)
        assert len(stage.harness.sessions()) == 1 + children
        record = await stage.harness.fork(stage.main, HEAD, replace(request, dies=None))
        assert isinstance(record, Record)
        assert stage.harness.sessions() == (stage.main, record.session)
        assert stage.leaf(record.session) is stage.leaf()

    asyncio.run(story())


def test_a_request_that_is_repeated_gets_its_first_answer() -> None:
    """Before a restart and after it; a request without a key is always a new one (ATO-6)."""

    async def story() -> None:
        stage = Stage()
        await stage.turn("one")
        request = ForkRequest("/main", key="k")
        first = await stage.fork(HEAD, request)
        await stage.turn("two")
        assert await stage.fork(HEAD, request) == first
        await stage.harness.restart(kill=False)
        assert await stage.fork(HEAD, request) == first
        assert (await stage.fork(HEAD)).session != (await stage.fork(HEAD)).session

    asyncio.run(story())


def test_turns_are_deleted_for_one_session_alone() -> None:
    """The other keeps them, cuts at those that stay are still found, and a restart changes nothing (ISO-4)."""

    async def story() -> None:
        stage = Stage()
        one, two, three = [await stage.turn(text) for text in ("one", "two", "three")]
        alt = (await stage.fork(HEAD)).session
        assert stage.harness.delete_turns(stage.main, [two]) is None
        for _ in range(2):
            kept = [point.turn for point in stage.harness.fork_points(stage.main)]
            assert kept == [one, three]
            assert [point.turn for point in stage.harness.fork_points(alt)] == [one, two, three]
            assert (await stage.fork(Point("before", three))).editor == "three"
            assert (await stage.fork(Point("before", three), source=alt)).editor == "three"
            await stage.harness.restart(kill=True)
        assert isinstance(stage.harness.delete_turns(alt, ["turn-unknown"]), Refusal)

    asyncio.run(story())


def test_a_deleted_session_is_gone_and_its_forks_are_whole() -> None:
    """They name it still, since it is where they came from (ISO-4, REC-3)."""

    async def story() -> None:
        stage = Stage()
        await stage.turn("one")
        alt = (await stage.fork(HEAD)).session
        assert stage.harness.delete(stage.main) is None
        await stage.harness.restart(kill=True)
        assert stage.harness.sessions() == (alt,)
        assert [line.source for line in stage.harness.lines()] == [stage.main]
        assert len(full_path(stage.leaf(alt))) > 0
        assert isinstance(stage.harness.delete(stage.main), Refusal)

    asyncio.run(story())


def test_titles_name_the_line_also_after_a_restart() -> None:
    """Siblings and forks of forks are told apart, and new ones get numbers of their own (REC-5)."""

    async def story() -> None:
        stage = Stage()
        one = (await stage.fork(HEAD)).session
        await stage.fork(HEAD)
        await stage.fork(HEAD, source=one)
        await stage.harness.restart(kill=False)
        await stage.fork(HEAD)
        titles = [line.title.partition(", ")[2] for line in stage.harness.lines()]
        assert titles == ["", "fork 1", "fork 2", "fork 1, fork 1", "fork 3"]

    asyncio.run(story())
