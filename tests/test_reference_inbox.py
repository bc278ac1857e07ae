"""What is said to busy sessions: steered into the turn that runs, or held until nothing is under way."""

import asyncio

from forkproof.reference.cut import Point
from forkproof.reference.entries import Checkpoint
from forkproof.reference.harness import Compacted
from forkproof.reference.model import Failure, Reply
from forkproof.reference.project import full_path
from forkproof.reference.prompt import Prompt
from forkproof.reference.refusal import Refusal
from forkproof.reference.turn import Ended
from tests.reference_models import Script, call, say
from tests.reference_stage import HEAD, Stage

WAITING = {
    "slow": [Reply((call("job", "wait", "release"),)), say("done")],
    "aside": [say("heard")],
}


class Held(Script):
    """Summaries wait until they are let go."""

    def __init__(self) -> None:
        super().__init__()
        self.let_go = asyncio.Event()

    async def __call__(self, prompt: Prompt) -> Reply | Failure:
        """Answer one prompt."""
        if prompt.settings.get("purpose") == "summary":
            self.asked.set()
            await self.let_go.wait()
        return await super().__call__(prompt)


async def slow(stage: Stage) -> "asyncio.Task[Ended | Refusal]":
    """A turn in flight, with one turn before it."""
    await stage.turn("one")
    turn = asyncio.ensure_future(stage.harness.prompt(stage.main, "slow"))
    await stage.harness.machine.started("id-job")
    return turn


def test_a_steered_message_is_read_with_the_next_request_of_its_turn() -> None:
    """QUE-2: it stands behind the results of the turn, and the turn's end is behind it."""

    async def story() -> None:
        stage = Stage(Script(WAITING))
        turn = await slow(stage)
        assert stage.harness.inbox.steer(stage.main, "aside") is None
        stage.harness.machine.release("id-job")
        assert await turn == Ended("turn-2", "end_turn")
        assert stage.last() == ["one", "ok", "slow", "call id-job", "done id-job", "aside"]
        assert [point.text for point in stage.harness.fork_points(stage.main)] == ["one", "slow"]

    asyncio.run(story())


def test_a_steered_message_is_cut_with_its_turn() -> None:
    """QUE-2: no cut before or after another turn holds it; a cut after its own turn does."""

    async def story() -> None:
        stage = Stage(Script(WAITING))
        turn = await slow(stage)
        stage.harness.inbox.steer(stage.main, "aside")
        stage.harness.machine.release("id-job")
        await turn
        for point, held in ((Point("before", "turn-2"), False), (Point("after", "turn-2"), True)):
            record = await stage.fork(point)
            await stage.turn("next", record.session)
            assert ("aside" in stage.last()) is held

    asyncio.run(story())


def test_a_steered_message_outlives_the_interruption_of_its_turn() -> None:
    """SNAP-2: what a person said is never lost, also where the turn that it was said into was stopped."""

    async def story() -> None:
        stage = Stage(Script(WAITING))
        turn = await slow(stage)
        stage.harness.inbox.steer(stage.main, "aside")
        await stage.harness.cancel(stage.main)
        assert await turn == Ended("turn-2", "cancelled")
        await stage.turn("next")
        assert stage.last()[3:6] == ["call id-job", "unknown id-job", "aside"]

    asyncio.run(story())


def test_steering_needs_a_turn() -> None:
    """QUE-2: a message can only be steered into a turn that runs."""

    async def story() -> None:
        stage = Stage()
        await stage.turn("one")
        assert isinstance(stage.harness.inbox.steer(stage.main, "aside"), Refusal)
        assert isinstance(stage.harness.inbox.steer("nobody", "aside"), Refusal)

    asyncio.run(story())


def test_queued_messages_run_in_order_when_the_turn_is_over() -> None:
    """QUE-1: each becomes a turn of its own, once, and none is in a fork that was made before."""

    async def story() -> None:
        stage = Stage(Script(WAITING))
        turn = await slow(stage)
        tickets = [stage.harness.inbox.queue(stage.main, text) for text in ("first", "second")]
        record = await stage.fork(HEAD)
        stage.harness.machine.release("id-job")
        await turn
        ended = [await stage.harness.inbox.ended(ticket) for ticket in tickets if isinstance(ticket, str)]
        assert ended == [Ended("turn-3", "end_turn"), Ended("turn-4", "end_turn")]
        assert stage.last()[-3:] == ["first", "ok", "second"]
        await stage.turn("peek", record.session)
        assert not {"first", "second"} & set(stage.last())

    asyncio.run(story())


def test_a_message_to_an_idle_session_runs_at_once() -> None:
    """QUE-1: there is nothing to wait for."""

    async def story() -> None:
        stage = Stage()
        ticket = stage.harness.inbox.queue(stage.main, "now")
        assert isinstance(ticket, str)
        assert await stage.harness.inbox.ended(ticket) == Ended("turn-1", "end_turn")
        assert isinstance(stage.harness.inbox.queue("nobody", "now"), Refusal)
        assert isinstance(await stage.harness.inbox.ended("no ticket"), Refusal)

    asyncio.run(story())


def test_input_during_a_compaction_waits_for_it() -> None:
    """CMP-7: a prompt and a queued message are both answered behind the summary, and both are in the history."""

    async def story() -> None:
        model = Held()
        stage = Stage(model)
        await stage.turn("one")
        compaction = asyncio.ensure_future(stage.harness.compact(stage.main))
        await model.asked.wait()
        prompt = asyncio.ensure_future(stage.harness.prompt(stage.main, "during"))
        await asyncio.sleep(0)
        ticket = stage.harness.inbox.queue(stage.main, "behind")
        leaf = stage.leaf()
        assert leaf is not None
        assert leaf.turn == "turn-1"
        model.let_go.set()
        assert isinstance(await compaction, Compacted)
        assert await prompt == Ended("turn-2", "end_turn")
        assert isinstance(ticket, str)
        assert await stage.harness.inbox.ended(ticket) == Ended("turn-3", "end_turn")
        assert stage.last()[1:] == ["during", "ok", "behind"]

    asyncio.run(story())


def test_what_waits_is_told_when_the_harness_closes() -> None:
    """ATO-1: a message that never began is refused, not left without an answer."""

    async def story() -> None:
        stage = Stage(Script(WAITING))
        turn = await slow(stage)
        ticket = stage.harness.inbox.queue(stage.main, "late")
        assert isinstance(ticket, str)
        ended = asyncio.ensure_future(stage.harness.inbox.ended(ticket))
        await asyncio.sleep(0)
        await stage.harness.close()
        assert isinstance(await ended, Refusal)
        assert await turn == Ended("turn-2", "cancelled")
        assert isinstance(stage.harness.inbox.queue(stage.main, "later"), Refusal)

    asyncio.run(story())


def test_a_summary_of_a_summary_begins_where_the_path_does() -> None:
    """CMP-8: the range names the first entry, however many compactions lie between."""

    async def story() -> None:
        stage = Stage()
        for text in ("one", "two", "three"):
            await stage.turn(text)
            await stage.harness.compact(stage.main)
        path = full_path(stage.leaf())
        made = [entry.body for entry in path if isinstance(entry.body, Checkpoint)]
        assert [body.first for body in made] == [path[0].id] * 3
        assert {body.session for body in made} == {stage.main}

    asyncio.run(story())
