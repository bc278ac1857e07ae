"""What the second reference found wrong in the first one, each as a story of its own."""

from __future__ import annotations

import asyncio

from forkproof.reference.cut import Point
from forkproof.reference.model import Reply
from forkproof.reference.prompt import ToolResult
from forkproof.reference.record import Record
from forkproof.reference.refusal import Refusal
from forkproof.reference.semantics import Semantics
from forkproof.reference.tree import Listing, Moved
from forkproof.reference.turn import Ended
from tests.reference_models import Script, call, say
from tests.reference_stage import HEAD, SHARED, Stage


def test_a_history_reads_as_the_request_does() -> None:
    """TRE-3: results stand behind the answer in the order of their calls, whichever ended first."""

    async def story() -> list[str]:
        both = Reply((call("slow", "wait", "release"), call("quick", "count", "n")))
        stage = Stage(Script({"go": [both, say("done")]}))
        turn = asyncio.ensure_future(stage.harness.prompt(stage.main, "go"))
        await stage.harness.machine.started("id-slow")
        stage.harness.machine.release("id-slow")
        await turn
        history = stage.harness.tree.history(stage.main)
        assert not isinstance(history, Refusal)
        return [part.id for message in history for part in message.parts if isinstance(part, ToolResult)]

    assert asyncio.run(story()) == ["id-slow", "id-quick"]


def test_a_fork_that_waited_names_the_revision_that_it_waited_for() -> None:
    """REC-9, SNAP-1: a queued message that begins when the source's turn ends is later than the frozen revision."""

    async def story() -> tuple[Record, str]:
        wait = Reply((call("job", "wait", "release"),))
        stage = Stage(Script({"go": [wait, say("done")]}), Semantics(busy_source="wait"))
        turn = asyncio.ensure_future(stage.harness.prompt(stage.main, "go"))
        await stage.harness.machine.started("id-job")
        fork = asyncio.ensure_future(stage.fork(HEAD, SHARED))
        await asyncio.sleep(0)
        stage.harness.inbox.queue(stage.main, "next")
        stage.harness.machine.release("id-job")
        await turn
        record = await fork
        listing = stage.harness.tree.entries(record.session)
        assert isinstance(listing, Listing)
        return record, listing.entries[-1].id

    record, end = asyncio.run(story())
    assert record.revision == end


def test_what_is_said_while_a_branch_is_summarized_is_answered() -> None:
    """CMP-7, NAV-7: a message that waits for the summary of a branch begins when it is there."""

    async def story() -> tuple[Moved | Refusal, Ended | Refusal, list[str]]:
        stage = Stage()
        await stage.turn("one")
        await stage.turn("two")
        listing = stage.harness.tree.entries(stage.main)
        assert isinstance(listing, Listing)
        first = listing.entries[2].id
        branch = asyncio.ensure_future(stage.harness.tree.branch(stage.main, first, summary=True))
        await asyncio.sleep(0)
        ended = await asyncio.wait_for(stage.harness.prompt(stage.main, "three"), 10)
        return await branch, ended, stage.last()

    moved, ended, last = asyncio.run(story())
    assert isinstance(moved, Moved)
    assert isinstance(ended, Ended)
    assert last[0] == "one"
    assert last[-1] == "three"
    assert "two" not in last


def test_a_label_on_inherited_history_survives_a_restart() -> None:
    """LBL-2, ATO-4: a label that was set before the fork is the child's after a restart too."""

    async def story() -> list[str]:
        stage = Stage()
        await stage.turn("one")
        listing = stage.harness.tree.entries(stage.main)
        assert isinstance(listing, Listing)
        stage.harness.tree.label(stage.main, listing.entries[0].id, "start")
        record = await stage.fork(HEAD)
        await stage.harness.restart(kill=False)
        nodes = stage.harness.tree.nodes(record.session)
        assert not isinstance(nodes, Refusal)
        return [node.label for node in nodes if node.label]

    assert asyncio.run(story()) == ["start"]


def test_a_position_inside_of_a_finished_turn_survives_a_restart() -> None:
    """NAV-9, TOOL-4: where a person went to in the middle of a turn that ended, nothing was interrupted."""

    async def story() -> tuple[str | None, str | None]:
        stage = Stage(Script({"go": [Reply((call("quick", "count", "n"),)), say("done")]}))
        await stage.turn("go")
        listing = stage.harness.tree.entries(stage.main)
        assert isinstance(listing, Listing)
        moved = await stage.harness.tree.branch(stage.main, listing.entries[2].id)
        assert isinstance(moved, Moved)
        await stage.harness.restart(kill=True)
        again = stage.harness.tree.entries(stage.main)
        assert isinstance(again, Listing)
        return moved.position, again.leaf

    before, after = asyncio.run(story())
    assert before == after is not None


def test_a_stored_session_is_neither_moved_nor_spoken_to() -> None:
    """OPS-1, ISO-5: what is not open is resumed first, by whatever way it is reached."""

    async def story() -> list[object]:
        stage = Stage()
        await stage.turn("one")
        listing = stage.harness.tree.entries(stage.main)
        assert isinstance(listing, Listing)
        await stage.harness.restart(kill=False)
        queued = stage.harness.inbox.queue(stage.main, "two")
        return [queued, await stage.harness.tree.branch(stage.main, listing.entries[0].id)]

    assert [isinstance(answer, Refusal) for answer in asyncio.run(story())] == [True, True]


def test_a_label_off_the_path_survives_a_restart() -> None:
    """LBL-1, ATO-4: a session that stands before everything may name an entry that it was forked with."""

    async def story() -> list[str]:
        stage = Stage()
        await stage.turn("one")
        child = (await stage.fork(HEAD)).session
        listing = stage.harness.tree.entries(child)
        assert isinstance(listing, Listing)
        first = listing.entries[0].id
        assert isinstance(await stage.harness.tree.branch(child, first), Moved)
        assert not isinstance(stage.harness.tree.label(child, first, "start"), Refusal)
        await stage.harness.restart(kill=False)
        nodes = stage.harness.tree.nodes(child)
        assert not isinstance(nodes, Refusal)
        return [node.label for node in nodes if node.label]

    assert asyncio.run(story()) == ["start"]


def test_a_fork_keeps_its_sources_settings_when_a_turn_is_deleted_before_them() -> None:
    """SET-1, ISO-4: a later change by the fork itself does not hide the change that it inherited."""

    async def story() -> str:
        stage = Stage()
        turn = await stage.turn("one")
        stage.harness.authority.configure(stage.main, {"model": "other"})
        child = (await stage.fork(HEAD)).session
        stage.harness.authority.configure(child, {"effort": "high"})
        assert stage.harness.delete_turns(child, [turn]) is None
        await stage.turn("two", child)
        return stage.model.prompts[-1].model

    assert asyncio.run(story()) == "other"


def test_a_cut_in_a_group_whose_turn_was_cancelled_lies_behind_that_turn() -> None:
    """TOOL-7: the calls that have no result will never have one, so the pair-safe place is the turn's end."""

    async def story() -> tuple[Record | Refusal, list[str]]:
        both = Reply((call("quick", "count", "n"), call("job", "wait", "forever")))
        stage = Stage(Script({"go": [both]}))
        turn = asyncio.ensure_future(stage.harness.prompt(stage.main, "go"))
        await stage.harness.machine.started("id-job")
        await stage.harness.cancel(stage.main)
        await turn
        listing = stage.harness.tree.entries(stage.main)
        assert isinstance(listing, Listing)
        record = await stage.harness.fork(stage.main, Point("at", entry=listing.entries[1].id), SHARED)
        assert isinstance(record, Record)
        await stage.turn("next", record.session)
        return record, stage.last()

    record, last = asyncio.run(story())
    assert isinstance(record, Record)
    assert last[:5] == ["go", "call id-quick", "call id-job", "done id-quick", "unknown id-job"]
