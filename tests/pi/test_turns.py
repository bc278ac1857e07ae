"""When a turn of pi is over, and how: by its events, which bear neither a session nor a turn."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from forkproof.adapters.errors import HarnessDied
from forkproof.adapters.pi import process
from forkproof.adapters.pi.peer import Rejected
from forkproof.adapters.pi.turns import Ledger

SETTLED = {"type": "agent_settled"}


def user(text: str) -> dict[str, Any]:
    return {"type": "message_start", "message": {"role": "user", "content": [{"type": "text", "text": text}]}}


def said(reason: str, error: str | None = None) -> dict[str, Any]:
    return {"type": "message_end", "message": {"role": "assistant", "stopReason": reason, "errorMessage": error}}


@pytest.mark.parametrize(
    ("reason", "stop"),
    [("stop", "end_turn"), ("aborted", "cancelled"), ("error", "failed"), ("length", "max_tokens"), ("new", "new")],
)
def test_the_last_answer_tells_how_it_ended(reason: str, stop: str) -> None:
    async def run() -> None:
        ledger = Ledger(settles=True)
        turn = ledger.begin("a")
        for event in (user("a"), said("toolUse"), said(reason, "words"), {"type": "agent_end"}):
            ledger.hear(event)
        assert not turn.ended.done(), "agent_end is not the end where a release settles"
        ledger.hear(SETTLED)
        assert (turn.ended.result().stop, turn.ended.result().detail) == (stop, "words")
        assert not ledger.busy

    asyncio.run(run())


@pytest.mark.parametrize(
    ("reason", "aborted", "stop"),
    [
        ("error", True, "cancelled"),
        ("error", False, "failed"),
        ("stop", True, "end_turn"),
        ("aborted", False, "cancelled"),
    ],
)
def test_an_error_in_a_run_that_was_aborted_is_the_abort(reason: str, aborted: bool, stop: str) -> None:
    """1.5.0 asks for one more answer after an aborted call, which fails; whether it was aborted stands at the end."""

    async def run() -> None:
        ledger = Ledger(settles=True)
        turn = ledger.begin("a")
        for event in (user("a"), said("toolUse"), said(reason, "words"), {**SETTLED, "aborted": aborted}):
            ledger.hear(event)
        assert (turn.ended.result().stop, turn.ended.result().detail) == (stop, "words")

    asyncio.run(run())


def test_a_queued_message_ends_the_turn_before_it() -> None:
    """Pi runs both in one go and settles once: the first turn is over when the second message is taken up."""

    async def run() -> None:
        ledger = Ledger(settles=True)
        first, steered, second = ledger.begin("a"), "s", ledger.queue("b")
        for event in (user("a"), said("toolUse"), user(steered), said("stop")):
            ledger.hear(event)
        assert not first.ended.done(), "a steered message belongs to the turn"
        ledger.hear(user("b"))
        assert first.ended.result().stop == "end_turn"
        assert ledger.current is second
        ledger.hear(said("aborted"))
        ledger.hear(SETTLED)
        assert second.ended.result().stop == "cancelled"

    asyncio.run(run())


def test_older_releases_end_with_agent_end_and_may_not_be_quiet_yet() -> None:
    async def run() -> None:
        ledger = Ledger(settles=False)
        turn = ledger.begin("a")
        ledger.hear(said("stop"))
        ledger.hear({"type": "agent_end"})
        assert turn.ended.result().stop == "end_turn"
        assert ledger.unsure

    asyncio.run(run())


def test_another_session_ends_what_ran() -> None:
    async def run() -> None:
        ledger = Ledger(settles=True)
        turn, waiting = ledger.begin("a"), ledger.queue("b")
        assert ledger.replaced() == []
        with pytest.raises(Rejected, match="forgot the message"):
            await waiting.ended
        assert turn.ended.result().stop == "cancelled"
        assert not ledger.busy
        assert ledger.queued == []

    asyncio.run(run())


def test_an_older_release_runs_on_unseen_what_it_leaves() -> None:
    """0.73.1 stops neither the turn nor the message behind it: both are over only when nothing more can come."""

    async def run() -> None:
        ledger = Ledger(settles=False)
        turn, waiting = ledger.begin("a"), ledger.queue("b")
        assert ledger.replaced() == [turn, waiting]
        assert not ledger.busy
        ledger.begin("c")
        ledger.hear(said("stop"))
        ledger.hear({"type": "agent_end"})
        assert not turn.ended.done(), "what the open session tells is not of it"
        for each in (turn, waiting):
            ledger.lose(each)
            assert each.ended.result().stop == "cancelled"
        ledger.queue("d")
        assert ledger.replaced() == [], "nothing ran, so nothing goes on"

    asyncio.run(run())


def test_what_goes_on_unseen_is_over_when_its_commands_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_LOOK_EVERY", 0.001)
    monkeypatch.setattr(process, "_QUIET_FOR", 0.003)

    async def run() -> None:
        ledger = Ledger(settles=False)
        turn = ledger.begin("a")
        looks = iter([(1, 2), (1, 2, 9), (1, 9)])
        supervised = SimpleNamespace(leftovers=lambda: next(looks, (1, 2)))
        pi: Any = SimpleNamespace(ledger=ledger, _own=frozenset({1, 2}), _process=supervised)
        await process.PiProcess._see_off(pi, ledger.replaced())
        assert next(looks, None) is None, "a command still ran"
        assert turn.ended.result().stop == "cancelled"
        assert ledger.unseen == []

    asyncio.run(run())


def test_a_death_reaches_all_who_wait() -> None:
    async def run() -> None:
        ledger = Ledger(settles=False)
        turns = [ledger.begin("a"), ledger.queue("b")]
        ledger.replaced()
        turns += [ledger.begin("c"), ledger.queue("d")]
        ledger.fail(HarnessDied("gone"))
        for turn in turns:
            with pytest.raises(HarnessDied):
                await turn.ended

    asyncio.run(run())
