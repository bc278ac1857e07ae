"""Keeps a session's user messages out of the second of what stands before them.

Goose cuts by a stamp in whole seconds: of two rows of one second it can't keep one and drop the other. A person types
slower than that, a trace does not. So this keeps to the harness's own resolution, it waits out no race of ours; and a
history whose rows share a second on purpose is imported (clause CUT-3), which no one paces.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable

__all__ = ["Pace"]


class Pace:
    """When each session's newest row may have been made, on the wall clock, which Goose stamps with too.

    `now` gives seconds since the epoch, `sleep` waits for some.
    """

    def __init__(
        self, now: Callable[[], float] = time.time, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._now = now
        self._sleep = sleep
        self._newest: dict[str, int] = {}
        self._open: set[str] = set()

    async def begin(self, session: str) -> None:
        """Return when the session's next user message can have a second of its own: at once, or within one second."""
        newest = self._newest.get(session)
        # Not longer than for the rest of this second, should the clock have been set back.
        while newest is not None and math.floor(self._now()) == newest:
            await self._sleep(newest + 1 - self._now())
        self._open.add(session)
        self._row(session)

    def end(self, session: str) -> None:
        """The turn is over; its last row may be of this second."""
        self._open.discard(session)
        self._row(session)

    def copied(self, source: str, child: str) -> None:
        """The child's rows are, at the newest, as new as the source's, which may be of this second while it is busy."""
        if source in self._open:
            self._row(child)
        elif source in self._newest:
            self._newest[child] = self._newest[source]

    def _row(self, session: str) -> None:
        self._newest[session] = math.floor(self._now())
