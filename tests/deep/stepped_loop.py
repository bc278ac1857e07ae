"""An event loop that runs until every task waits: no time passes, and nothing is guessed."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

__all__ = ["SteppedLoop"]

T = TypeVar("T")


class _IdleSelector(selectors.SelectSelector):
    """Calls `on_idle` where the loop would block: nothing ever comes from outside."""

    on_idle: Callable[[], None]

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """No event. A loop that asks without a timeout has no task left that can go on."""
        if timeout is None:
            self.on_idle()
        elif timeout > 0:
            raise RuntimeError("the reference waits for time to pass, and here it never does")
        return []


class SteppedLoop:
    """Starts coroutines, and runs them until all of them wait for something or are over."""

    def __init__(self) -> None:
        selector = _IdleSelector()
        self._loop = asyncio.SelectorEventLoop(selector)
        selector.on_idle = self._loop.stop

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """A task that begins when the loop next runs."""
        return self._loop.create_task(work)

    def settle(self) -> None:
        """Run until no task can go on."""
        self._loop.run_forever()

    def close(self) -> None:
        """Give the loop's descriptors back."""
        self._loop.close()
