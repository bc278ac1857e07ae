"""The pace of a session's user messages, on a clock that the test moves."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkproof.adapters.goose.pace import Pace


class Clock:
    """Time stands still but for who sleeps; `late` is how much too long a sleep takes, below zero: too short."""

    def __init__(self, now: float, late: float = 0.0) -> None:
        self.now = now
        self.late = late
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        """Sleep, more or less."""
        self.slept.append(seconds)
        self.now += max(seconds + self.late, 0.001)

    def pace(self) -> Pace:
        """A pace on this clock."""
        return Pace(lambda: self.now, self.sleep)


def run(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(story())


@given(
    st.lists(st.tuples(st.floats(0, 2.5), st.floats(0, 2.5)), min_size=1, max_size=8),
    st.floats(1e9, 2e9),
    st.sampled_from([0.0, 0.004, -0.004]),
)
def test_a_user_message_never_shares_its_second_with_older_rows(
    turns: list[tuple[float, float]], start: float, late: float
) -> None:
    """However fast a trace is and however inexact a sleep; and nobody waits for more than a second."""
    clock = Clock(start, late)
    pace = clock.pace()

    async def story() -> None:
        newest = -1
        for length, pause in turns:
            before = clock.now
            await pace.begin("s")
            assert math.floor(clock.now) > newest
            assert clock.now - before <= 1.1
            clock.now += length
            pace.end("s")
            newest = math.floor(clock.now)
            clock.now += pause

    run(story)


def test_the_first_message_and_other_sessions_do_not_wait() -> None:
    """Only rows of the same session can't be told apart."""
    clock = Clock(100.2)
    pace = clock.pace()

    async def story() -> None:
        await pace.begin("a")
        pace.end("a")
        await pace.begin("b")
        assert clock.slept == []
        await pace.begin("a")
        assert clock.slept == [pytest.approx(0.8)]

    run(story)


def test_a_childs_first_message_keeps_off_the_copied_rows() -> None:
    """A fork copies stamps; of an idle source the newest is known, of a busy one it may be this second's."""
    clock = Clock(100.2)
    pace = clock.pace()

    async def story() -> None:
        await pace.begin("source")
        clock.now = 103.0
        pace.copied("source", "of-a-busy-one")
        pace.end("source")
        clock.now = 110.5
        pace.copied("source", "of-an-idle-one")
        pace.copied("never-seen", "of-a-strange-one")
        await pace.begin("of-an-idle-one")
        await pace.begin("of-a-strange-one")
        assert clock.slept == []
        clock.now = 103.6
        await pace.begin("of-a-busy-one")
        assert clock.slept == [pytest.approx(0.4)]

    run(story)


def test_a_clock_that_is_set_back_keeps_nobody_waiting() -> None:
    """An hour's wait would read as a harness that hangs."""
    clock = Clock(5000.5)
    pace = clock.pace()

    async def story() -> None:
        await pace.begin("s")
        pace.end("s")
        clock.now = 1400.5
        await pace.begin("s")
        assert clock.slept == []

    run(story)
