"""Settings, questions and stored threads on the real binary: what docs/codex.md says of them."""

from __future__ import annotations

import pytest

from forkproof.adapters.protocol import (
    Acknowledged,
    Configure,
    Cut,
    Decision,
    Delete,
    Fork,
    Forked,
    HookRun,
    HookSaid,
    Question,
    Refused,
    Restart,
    Resume,
    SessionOpened,
)
from forkproof.adapters.readings import Moved, SessionsRead
from forkproof.adapters.tree import ListSessions, Rewind

from .test_real import Play, Stage, play

pytestmark = pytest.mark.real

__all__ = ["play"]


class Yes:
    """A person who allows everything for the session."""

    def __init__(self) -> None:
        self.asked: list[Question] = []

    async def permit(self, question: Question) -> Decision:
        """Yes."""
        self.asked.append(question)
        return "allow_for_session"

    def run_hook(self, run: HookRun) -> HookSaid:
        """There are no hooks here."""
        raise AssertionError(run)


async def listed(codex: Stage) -> SessionsRead:
    """The list of threads."""
    answer = await codex.adapter.perform(ListSessions())
    assert isinstance(answer, SessionsRead)
    return answer


def test_a_fork_takes_the_model_of_the_configuration(play: Play) -> None:
    """Neither the model that the source was opened with nor the one it has now is in a fork; a given one is."""

    async def story(codex: Stage) -> None:
        main = await codex.open()
        await codex.turn(main, "plan")
        assert await codex.adapter.perform(Configure(main, {"model": "second", "effort": "high"})) == Acknowledged()
        await codex.turn(main, "write")
        plain = await codex.fork(main, Cut("head"))
        given = await codex.adapter.perform(Fork(main, Cut("head"), "shared", codex.home, settings={"model": "third"}))
        assert isinstance(given, Forked)
        await codex.turn(plain.session.value, "one")
        await codex.turn(given.record.session.value, "two")
        models = {r.turn: r.prompt.model for r in codex.model.requests}
        assert models == {"plan": "fake-model", "write": "second", "one": "fake-model", "two": "third"}

    play(story)


def test_an_approval_for_the_session_is_the_thread_s_own(play: Play) -> None:
    """The same command is asked about once in a thread, and again in its fork, which names itself (AUT-1, OPS-6)."""

    async def story(codex: Stage) -> None:
        person = Yes()
        main = await codex.open()
        codex.person(person)
        assert await codex.adapter.perform(Configure(main, {"permissions": "ask"})) == Acknowledged()
        await codex.turn(main, "one", codex.use("first", "count", "runs"))
        await codex.turn(main, "two", codex.use("second", "count", "runs"))
        child = (await codex.fork(main, Cut("head"))).session.value
        await codex.turn(child, "three", codex.use("third", "count", "runs"))
        call = codex.markers.call_id
        assert person.asked == [Question(main, call("first")), Question(child, call("third"))]
        assert codex.world.runs() == {"runs": 3}

    play(story)


def test_threads_are_there_after_a_kill_and_name_their_source(play: Play) -> None:
    """After a kill both threads are resumed under their ids; the fork's source is in what is read of it (REC-3)."""

    async def story(codex: Stage) -> None:
        main = await codex.open()
        await codex.turn(main, "plan")
        child = (await codex.fork(main, Cut("head"))).session.value
        assert await codex.adapter.perform(Restart(kill=True)) == Acknowledged()
        assert await codex.adapter.perform(Resume(child)) == SessionOpened(child)
        await codex.turn(child, "later")
        assert codex.prompt("later") == ["plan.user", "plan.say", "later.user"]
        assert {line.session: line.source for line in (await listed(codex)).lines} == {main: "", child: main}

    play(story)


def test_a_fork_before_the_first_turn_is_not_listed_until_its_own_first_turn(play: Play) -> None:
    """An empty fork can be used at once, and is in no list before that."""

    async def story(codex: Stage) -> None:
        main = await codex.open()
        first = await codex.turn(main, "plan")
        child = (await codex.fork(main, Cut("before", first))).session.value
        assert child not in (await listed(codex)).sessions
        await codex.turn(child, "anew")
        assert child in (await listed(codex)).sessions

    play(story)


def test_a_thread_is_reverted_or_deleted_as_its_storage_allows(play: Play) -> None:
    """A paginated thread is reverted, and once forked not deleted; with a legacy one it is the other way round."""

    async def story(codex: Stage) -> None:
        main = await codex.open()
        await codex.turn(main, "plan")
        write = await codex.turn(main, "write")
        await codex.fork(main, Cut("head"))
        can = codex.adapter.describe().capabilities
        moved = await codex.adapter.perform(Rewind(main, 1, write.marker, write.native))
        gone = await codex.adapter.perform(Delete(main))
        if "rewind" in can:
            assert moved == Moved()
            assert isinstance(gone, Refused)
            assert "forked history still references it" in gone.message
        else:
            assert isinstance(moved, Refused)
            assert gone == Acknowledged()

    play(story)


def test_injected_items_are_in_forks_and_are_no_turn(play: Play) -> None:
    """Items that a client injects go to the model and into forks, but no turn holds them: nothing can be cut there."""

    async def story(codex: Stage) -> None:
        main = await codex.open()
        await codex.turn(main, "plan")
        said = {"type": "output_text", "text": codex.markers.mark("Injected.", "extra.say")}
        await codex.ask(
            "thread/inject_items", main, items=[{"type": "message", "role": "assistant", "content": [said]}]
        )
        child = (await codex.fork(main, Cut("head"))).session.value
        await codex.turn(child, "later")
        turns = (await codex.ask("thread/turns/list", child))["data"]
        assert codex.prompt("later") == ["plan.user", "plan.say", "extra.say", "later.user"]
        held = [words for turn in turns for item in turn["items"] for words in (str(item.get("text", item)),)]
        assert len(turns) == 2
        assert not [words for words in held if "Injected." in words]

    play(story)
