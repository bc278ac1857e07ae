"""The pi adapter on the real program, which must be installed: without it these tests fail, they are never skipped.

The model is ours and scripted, so each test reads what pi really sends and stores (docs/pi.md, "Files made by hand").
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from forkproof.adapters.diskworld import DiskWorld
from forkproof.adapters.durable import Restart, Resume
from forkproof.adapters.protocol import Cut, Fork, ItemRef, OpenSession, Refused, SessionOpened, Trial, TurnRef
from forkproof.adapters.readings import EntriesRead, SessionsRead, TreeRead
from forkproof.adapters.tree import Branch, EditContext, EntryRef, ListSessions, ReadEntries, ReadTree, SetLabel

from .conftest import Play, Stage

pytestmark = pytest.mark.real


def line(id_: str, parent: str | None, role: str, text: str, **more: Any) -> dict[str, Any]:
    """One entry of a session's file."""
    content = [{"type": "text", "text": text}]
    message: dict[str, Any] = {"role": role, "content": content, "timestamp": 1_700_000_000_000, **more}
    if role == "assistant":
        cost = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
        usage = {"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 2, "cost": cost}
        message |= {
            "api": "openai-completions", "provider": "forkproof", "model": "fake-1", "usage": usage,
            "stopReason": "stop",
        }  # fmt: skip
    return {
        "type": "message",
        "id": id_,
        "parentId": parent,
        "timestamp": "2023-11-14T22:13:20.000Z",
        "message": message,
    }


def story_lines(stage: Stage) -> list[dict[str, Any]]:
    """Two turns that were stored before."""
    mark = stage.markers.mark
    return [
        line("u1", None, "user", mark("One.", "one.user")),
        line("a1", "u1", "assistant", mark("Said.", "one.say")),
        line("u2", "a1", "user", mark("Two.", "two.user")),
        line("a2", "u2", "assistant", mark("Said.", "two.say")),
    ]


def test_cuts_and_the_record(play: Play) -> None:
    """Before, after, at an item and at the head; each child holds exactly that, and the source stays as it was."""

    async def story(stage: Stage) -> None:
        main = await stage.open()
        await stage.turn(main, "one")
        two = await stage.turn(main, "two")
        item = ItemRef("two.user", stage.markers.tag("two.user"))
        cuts = {
            "before": (Cut("before", two), ["one.user", "one.say"]),
            "after": (Cut("after", two), ["one.user", "one.say", "two.user", "two.say"]),
            "at": (Cut("at", item=item), ["one.user", "one.say", "two.user"]),
            "head": (Cut("head"), ["one.user", "one.say", "two.user", "two.say"]),
        }
        for name, (cut, held) in cuts.items():
            record = await stage.fork(main, cut)
            assert (record.source.value, record.source.origin) == (main, "reported")
            assert record.directory.value == stage.directory
            assert record.workspace.value == "shared"
            assert record.cut.origin == "derived"
            assert (record.editor.value or "").startswith("Please.") == (name == "before")
            await stage.turn(record.session.value, f"in-{name}")
            assert stage.prompt(f"in-{name}") == [*held, f"in-{name}.user"]
        await stage.turn(main, "later")
        assert stage.prompt("later") == ["one.user", "one.say", "two.user", "two.say", "later.user"]

    play(story)


def test_an_isolated_fork_runs_in_its_own_copy(play: Play) -> None:
    async def story(stage: Stage) -> None:
        main = await stage.open()
        await stage.turn(main, "one")
        two = await stage.turn(main, "two")
        copy = stage.world.reserve("copy")
        record = await stage.fork(main, Cut("before", two), copy)
        assert (record.directory.value, record.workspace.value) == (copy, "isolated")
        assert record.source.value == main
        assert dict(stage.world.read(copy)) == {"notes.md": "draft\n"}
        await stage.turn(record.session.value, "alt")
        assert stage.prompt("alt") == ["one.user", "one.say", "alt.user"]

    play(story)


def test_what_never_was_is_refused(play: Play) -> None:
    async def story(stage: Stage) -> None:
        main = await stage.open()
        await stage.turn(main, "one")
        gone = TurnRef("gone", "[gone]", 0, exists=False)
        answer = await stage.ask(Fork(main, Cut("before", gone), "shared", stage.directory))
        assert isinstance(answer, Refused)
        assert answer.reason == "unknown-cut"
        answer = await stage.ask(Fork("nobody", Cut("head"), "shared", stage.directory, exists=False))
        assert isinstance(answer, Refused)
        assert answer.reason == "unknown-session"

    play(story)


def test_moving_labels_and_context_edits_go_over_the_bridge(play: Play) -> None:
    async def story(stage: Stage) -> None:
        main = await stage.open()
        await stage.turn(main, "one")
        await stage.turn(main, "two")
        say = EntryRef("one.say", stage.markers.tag("one.say"))
        await stage.ask(SetLabel(main, say, "here"))
        read = await stage.ask(ReadTree(main))
        assert isinstance(read, TreeRead)
        assert [node.label for node in read.nodes if node.label] == ["here"]
        await stage.ask(EditContext(main, say, stage.markers.mark("Shorter.", "brief.edit")))
        await stage.turn(main, "three")
        assert stage.prompt("three") == ["one.user", "brief.edit", "two.user", "two.say", "three.user"]
        await stage.ask(Branch(main, say))
        await stage.turn(main, "other")
        assert stage.prompt("other") == ["one.user", "one.say", "other.user"], "an edit is of the branch it was made on"

    play(story)


@pytest.mark.parametrize("kill", [False, True])
def test_sessions_survive_an_end_of_the_process(play: Play, *, kill: bool) -> None:
    async def story(stage: Stage) -> None:
        main = await stage.open()
        await stage.turn(main, "one")
        child = (await stage.fork(main, Cut("head"))).session.value
        await stage.ask(Restart(kill=kill))
        for session, turn in ((child, "in-child"), (main, "in-main")):
            assert await stage.ask(Resume(session)) == SessionOpened(session)
            await stage.turn(session, turn)
            assert stage.prompt(turn) == ["one.user", "one.say", f"{turn}.user"]
        listed = await stage.ask(ListSessions())
        assert isinstance(listed, SessionsRead)
        assert {each.session: each.source for each in listed.lines} == {main: "", child: main}

    play(story)


def test_one_process_serves_a_second_trace_that_finds_nothing_of_the_first(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.turn(await stage.open(), "one")
        root = stage.folder / "second"
        root.mkdir()
        renewed = await stage.adapter.renew(Trial(root, stage.model, stage.trial.endpoint))
        assert isinstance(renewed, DiskWorld)
        directory = renewed.create("main", {})
        listed = await stage.ask(ListSessions())
        assert listed == SessionsRead((), ())
        opened = await stage.ask(OpenSession(directory))
        assert isinstance(opened, SessionOpened)
        await stage.turn(opened.session, "two")
        assert stage.prompt("two") == ["two.user"]
        entries = await stage.ask(ReadEntries(opened.session))
        assert isinstance(entries, EntriesRead)
        fleet = stage.adapter._fleet
        assert fleet is not None
        assert len(fleet._processes) == 1

    play(story)


# --- Files made by hand --------------------------------------------------------------------------------------------


def test_an_orphan_is_a_root_and_the_path_ends_there(play: Play) -> None:
    async def story(stage: Stage) -> None:
        lines = story_lines(stage)
        lines[2]["parentId"] = "gone"
        session, _ = await stage.stored(lines)
        read = await stage.ask(ReadTree(session))
        assert isinstance(read, TreeRead)
        assert {node.entry.id for node in read.nodes if node.under is None} >= {"u1", "u2"}
        await stage.turn(session, "next")
        assert stage.prompt("next") == ["two.user", "two.say", "next.user"]

    play(story)


def test_a_torn_tail_costs_its_own_line_and_no_other(play: Play) -> None:
    """Pi takes a half line for none, and puts a line's end behind it before it writes on: nothing is glued to it."""

    async def story(stage: Stage) -> None:
        *whole, last = story_lines(stage)
        half = json.dumps(last).encode()[:60]
        session, file = await stage.stored([*whole, half])
        await stage.turn(session, "next")
        assert stage.prompt("next") == ["one.user", "one.say", "two.user", "next.user"]
        assert half + b"\n" in file.read_bytes()

    play(story)


@pytest.mark.parametrize("version", [1, 2])
def test_an_old_file_is_read_and_written_anew(play: Play, version: int) -> None:
    """Version 1 had no ids: pi makes them, in the order of the lines, and rewrites the file as version 3."""

    async def story(stage: Stage) -> None:
        lines = story_lines(stage)
        session, file = await stage.stored(lines)
        await stage.ask(Restart(kill=False))
        head, *rest = map(json.loads, file.read_text().splitlines())
        head["version"] = version
        if version == 1:
            del head["version"]
            rest = [{k: v for k, v in each.items() if k not in ("id", "parentId")} for each in rest]
        file.write_text("".join(json.dumps(each) + "\n" for each in (head, *rest)))
        await stage.ask(Resume(session))
        await stage.turn(session, "next")
        assert stage.prompt("next") == ["one.user", "one.say", "two.user", "two.say", "next.user"]
        assert json.loads(file.read_text().splitlines()[0])["version"] == 3

    play(story)


def test_two_processes_on_one_file_do_not_see_each_other(play: Play) -> None:
    """Each keeps its own leaf: both append to one file, the later one's entries hang on what it read, and win."""

    async def story(stage: Stage) -> None:
        session, file = await stage.stored(story_lines(stage))
        fleet = stage.adapter._fleet
        assert fleet is not None
        first = fleet.holder(session)
        assert first is not None
        second = await fleet.start(file.parent, "--session", str(file))
        assert second.open.id == session
        await stage.turn(session, "by-first")
        fleet._processes.remove(first)
        try:
            await stage.turn(session, "by-second")
        finally:
            fleet._processes.append(first)
        assert stage.prompt("by-second") == ["one.user", "one.say", "two.user", "two.say", "by-second.user"]
        assert stage.markers.tag("by-first.user") in file.read_text()
        await stage.ask(Restart(kill=False))
        await stage.ask(Resume(session))
        await stage.turn(session, "after")
        assert "by-second.user" in stage.prompt("after")
        assert "by-first.user" not in stage.prompt("after")

    play(story)


def test_a_circle_off_the_path_is_lost_from_the_tree(play: Play) -> None:
    """Neither entry of it is a root, so the forest holds neither; the listing still has both (clause RD-4)."""

    async def story(stage: Stage) -> None:
        circle = [line("c1", "c2", "user", "Hen."), line("c2", "c1", "assistant", "Egg.")]
        session, _ = await stage.stored([*circle, *story_lines(stage)])
        tree, entries = await stage.ask(ReadTree(session)), await stage.ask(ReadEntries(session))
        assert isinstance(tree, TreeRead)
        assert isinstance(entries, EntriesRead)
        assert {node.entry.id for node in tree.nodes} >= {"u1", "a1", "u2", "a2"}
        assert not {node.entry.id for node in tree.nodes} & {"c1", "c2"}
        assert {entry.id for entry in entries.entries} >= {"c1", "c2"}
        await stage.turn(session, "next")
        assert stage.prompt("next") == ["one.user", "one.say", "two.user", "two.say", "next.user"]

    play(story)
