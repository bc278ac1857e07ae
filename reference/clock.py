"""The clock: times of entries, in whole seconds. Injected; the default ticks, so equal runs are equal."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Protocol

__all__ = ["Clock", "TickingClock", "seconds_of"]

_START: Final = 1_700_000_000


class Clock(Protocol):
    """A source of times. Nothing in the reference orders entries by time (clauses CUT-3, CUT-4)."""

    def now(self) -> int:
        """Whole seconds since the epoch."""
        ...


def seconds_of(time: int | str) -> int:
    """A time in whole seconds since the epoch; as text it is a date and time of ISO 8601. Raises `ValueError`."""
    return time if isinstance(time, int) else int(datetime.fromisoformat(time).timestamp())


class TickingClock:
    """One second later each time that it is read."""

    def __init__(self, start: int = _START) -> None:
        self._now = start

    def now(self) -> int:
        """The next second."""
        self._now += 1
        return self._now
