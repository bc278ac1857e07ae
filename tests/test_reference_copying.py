"""Forks that copy: new ids, and every reference rewritten with them."""

import asyncio

from forkproof.reference.copying import write_anew
from forkproof.reference.cut import Point
from forkproof.reference.entries import Checkpoint, Entry, UserSaid
from forkproof.reference.project import active, full_path
from forkproof.reference.semantics import Semantics
from tests.reference_stage import HEAD, Stage

COPIED = Semantics(prefix="copied", retained_turns=2)


async def compacted() -> Stage:
    """Four turns, compacted with the newest two kept, and one behind."""
    stage = Stage(semantics=COPIED)
    for text in ("one", "two", "three", "four"):
        await stage.turn(text)
    await stage.harness.compact(stage.main)
    await stage.turn("five")
    return stage


def checkpoint(path: list[Entry]) -> Checkpoint:
    """The one compaction of a path."""
    (found,) = (entry.body for entry in path if isinstance(entry.body, Checkpoint))
    return found


def test_a_copy_has_ids_of_its_own_and_says_the_same() -> None:
    """CMP-1, CMP-2: no entry is shared, no id is used twice, and the context is that of the source."""

    async def story() -> None:
        stage = await compacted()
        record = await stage.fork(HEAD)
        source, child = full_path(stage.leaf()), full_path(stage.leaf(record.session))
        assert len(source) == len(child)
        assert not {entry.id for entry in source} & {entry.id for entry in child}
        told = [[entry.message for entry in active(path[-1])] for path in (source, child)]
        assert told[0] == told[1]

    asyncio.run(story())


def test_the_tail_of_a_copy_lies_on_its_own_path() -> None:
    """CMP-1, CMP-6: a tail that still named the source's entry would bring everything back that was covered."""

    async def story() -> None:
        stage = await compacted()
        record = await stage.fork(HEAD)
        path = full_path(stage.leaf(record.session))
        tail = checkpoint(path).tail
        assert tail in path
        assert tail is not None
        assert isinstance(tail.body, UserSaid)
        assert tail.body.text == "three"

    asyncio.run(story())


def test_a_copied_turn_is_a_cut_point() -> None:
    """CUT-2: the turns of a copy keep their ids, and are cut on the copy's path."""

    async def story() -> None:
        stage = await compacted()
        child = await stage.fork(HEAD)
        grandchild = await stage.fork(Point("before", "turn-2"), source=child.session)
        await stage.turn("again", grandchild.session)
        assert stage.last() == ["one", "ok", "again"]

    asyncio.run(story())


def test_a_tail_that_is_not_copied_goes_to_the_next_entry_that_is() -> None:
    """CMP-1: "also if the named item is not copied"; without any that is, nothing is kept."""

    async def story() -> None:
        stage = await compacted()
        runtime, session = stage.harness._runtime, stage.harness.session(stage.main)
        assert session is not None
        path = full_path(session.leaf)
        made = checkpoint(path)
        without = [entry for entry in path if made.tail is None or entry.turn != made.tail.turn]
        copies = write_anew(runtime, session, None, without)
        tail = checkpoint(full_path(session.leaf)).tail
        assert tail is copies[next(entry for entry in without if entry.turn == "turn-4").id]
        write_anew(runtime, session, None, [e for e in full_path(session.leaf) if e.turn not in ("turn-3", "turn-4")])
        assert checkpoint(full_path(session.leaf)).tail is None

    asyncio.run(story())
