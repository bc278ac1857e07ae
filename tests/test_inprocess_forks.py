"""Forks through the in-process adapter: records, cut points, refusals, imports, workspaces and busy sources."""

import asyncio

import pytest

from forkproof.adapters.inprocess import MemoryWorld
from forkproof.adapters.protocol import (
    Compact,
    Cut,
    Field,
    Fork,
    Forked,
    ForkRecord,
    Import,
    ImportedTurn,
    ModelReply,
    OpenSession,
    Refused,
    Say,
    SessionOpened,
)
from forkproof.reference.cut import BusySource
from forkproof.reference.machine import Machine
from forkproof.reference.semantics import Semantics
from tests.inprocess_stage import Stage, ref, run, tool


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
            settings = {"model": "reference-model", "effort": "medium", "permissions": "auto"}
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
                "snapshot": None,
                "grants": [],
                "editor": "on [fp0.two.user]",
                "memories": [],
            }

    run(story())


def test_cut_points_by_id_and_by_marker() -> None:
    """CUT-2: a turn is found by its id, or, without one, by the marker in its message; also in a fork of a fork."""

    async def story() -> None:
        async with Stage() as stage:
            one = await stage.turn("first, before three [fp0.one.user]")
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
                (stage.main, ref("go", ended.native), False, "unknown-session"),
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
            await stage.world.started("call_job")
            fork = asyncio.ensure_future(
                stage.adapter.perform(Fork(stage.main, Cut("head"), "shared", stage.directory))
            )
            for _ in range(5):
                await asyncio.sleep(0)
            assert fork.done() is (policy != "wait")
            stage.world.release("call_job")
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
