"""Cuts at an entry: the entry is kept, pairs stay whole, and a place that moved says so."""

import asyncio

import pytest

from forkproof.reference.cut import Point
from forkproof.reference.entries import Answered, Entry, ToolEnded, UserSaid
from forkproof.reference.entrycut import CallGroup, cut_at, pair_safe
from forkproof.reference.model import Reply
from forkproof.reference.project import full_path
from forkproof.reference.refusal import Refusal
from forkproof.reference.semantics import Semantics
from tests.reference_models import Script, call, say
from tests.reference_stage import Stage

GROUP = {
    "both": [Reply((call("a", "read", "notes.md"), call("b", "read", "notes.md"))), say("same")],
    "slow": [Reply((call("c", "read", "notes.md"), call("job", "wait", "release"))), say("done")],
}


async def played(choice: CallGroup = "after") -> tuple[Stage, list[Entry]]:
    """A turn with two calls, and one behind it."""
    stage = Stage(Script(GROUP), semantics=Semantics(call_group=choice))
    await stage.turn("both")
    await stage.turn("next")
    return stage, full_path(stage.leaf())


def of(path: list[Entry], kind: type) -> list[str]:
    """The ids of the entries of this kind."""
    return [entry.id for entry in path if isinstance(entry.body, kind)]


def test_the_entry_is_the_last_one_kept() -> None:
    """CUT-2: a message, an answer without calls, the last result; a whole turn keeps its end with it (TOOL-4)."""

    async def story() -> None:
        stage, path = await played()
        shown = {
            of(path, UserSaid)[0]: ["both"],
            of(path, ToolEnded)[1]: ["both", "call id-a", "call id-b", "done id-a", "done id-b"],
            of(path, Answered)[1]: ["both", "call id-a", "call id-b", "done id-a", "done id-b", "same"],
        }
        for id_, items in shown.items():
            record = await stage.fork(Point("at", entry=id_))
            assert record.cut == {"at": id_}
            await stage.turn("peek", record.session)
            told = [item for item in stage.last() if "<turn_interrupted>" not in item]
            assert told == [*items, "peek"]
            assert ("same" in items) == (len(told) == len(stage.last()))

    asyncio.run(story())


@pytest.mark.parametrize(
    ("choice", "cut", "items"),
    [
        ("after", 3, ["both", "call id-a", "call id-b", "done id-a", "done id-b"]),
        ("before", 0, ["both"]),
        ("repair", 2, ["both", "call id-a", "call id-b", "done id-a", "unknown id-b"]),
    ],
)
def test_a_cut_inside_a_group(choice: CallGroup, cut: int, items: list[str]) -> None:
    """TOOL-7, REC-6: it takes the place that is declared, and the record gives the one that it took."""

    async def story() -> None:
        stage, path = await played(choice)
        record = await stage.fork(Point("at", entry=of(path, ToolEnded)[0]))
        assert record.cut == {"at": path[cut].id}
        await stage.turn("peek", record.session)
        assert [item for item in stage.last() if "<turn_interrupted>" not in item] == [*items, "peek"]

    asyncio.run(story())


def test_a_cut_inside_a_group_is_refused_where_that_is_declared() -> None:
    """TOOL-7: and nothing is written."""

    async def story() -> None:
        stage, path = await played("refuse")
        for id_ in (of(path, Answered)[0], of(path, ToolEnded)[0]):
            assert (await stage.refused(Point("at", entry=id_))).reason == "unknown-cut"

    asyncio.run(story())


def test_a_group_that_is_not_over_has_no_place_behind_it() -> None:
    """CUT-5: what is not durable yet is no cut point, also where the cut would only be moved there."""

    async def story() -> None:
        stage = Stage(Script(GROUP))
        turn = asyncio.ensure_future(stage.harness.prompt(stage.main, "slow"))
        await stage.harness.machine.started("id-job")
        first = of(full_path(stage.leaf()), ToolEnded)[0]
        assert (await stage.refused(Point("at", entry=first))).reason == "unknown-cut"
        stage.harness.machine.release("id-job")
        await turn
        assert (await stage.fork(Point("at", entry=first))).cut != {"at": first}

    asyncio.run(story())


def test_an_entry_that_is_not_on_the_path_is_refused() -> None:
    """CUT-5: an unknown id, and one of another session."""

    async def story() -> None:
        stage, path = await played()
        early = await stage.fork(Point("before", path[0].turn))
        assert (await stage.refused(Point("at", entry="entry-999"))).reason == "unknown-cut"
        assert (await stage.refused(Point("at", entry=path[0].id), source=early.session)).reason == "unknown-cut"

    asyncio.run(story())


def test_every_place_of_a_path_is_pair_safe_after_all() -> None:
    """TOOL-1: whichever entry is asked for, the place that is taken never lies inside a group."""
    _, path = asyncio.run(played())
    for entry in path:
        place = cut_at(path[-1], entry.id)
        assert not isinstance(place, Refusal)
        safe = pair_safe(place, path[-1], "after")
        assert not isinstance(safe, Refusal)
        kept = full_path(safe.leaf)
        called = [id_ for e in kept if isinstance(e.body, Answered) for id_ in e.body.calls]
        assert called == [e.body.call for e in kept if isinstance(e.body, ToolEnded)]
