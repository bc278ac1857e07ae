"""Work: something under way in a session, such as a turn, that a person may interrupt."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

__all__ = ["Work"]

T = TypeVar("T")


class Work(Generic[T]):
    """Runs `steps` in a task of its own from now on; where it is stopped, `stopped` says what came of it.

    The task is cancelled by `stop` alone, and never before it has begun, so `stopped` is called exactly once then.
    """

    def __init__(self, steps: Callable[[], Awaitable[T]], stopped: Callable[[], T]) -> None:
        self._steps = steps
        self._when_stopped = stopped
        self._begun = False
        self._stopping = False
        self._task = asyncio.ensure_future(self._run())

    async def _run(self) -> T:
        self._begun = True
        if self._stopping:
            return self._when_stopped()
        try:
            return await self._steps()
        except asyncio.CancelledError:
            result = self._when_stopped()
            if not self._stopping:
                raise
            return result

    async def result(self) -> T:
        """What came of it. Whoever waits here owns the work: cancelling the wait stops it."""
        try:
            await asyncio.wait({self._task})
        except asyncio.CancelledError:
            await self.stop()
            raise
        return self._task.result()

    async def over(self) -> None:
        """Return when it is over; cancelling this wait leaves it alone."""
        await asyncio.wait({self._task})

    async def stop(self) -> None:
        """Interrupt it, and return when it is over."""
        self._stopping = True
        if self._begun:
            self._task.cancel()
        await asyncio.wait({self._task})
