"""Schedules: wake-ups that a model sets for itself. Source: clause STA-2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Schedule", "after_fork", "due"]


@dataclass(frozen=True, slots=True)
class Schedule:
    """At the moment `at`, in seconds of the harness's own time, `session` is given the message `text`."""

    session: str
    at: int
    text: str


def after_fork(schedules: Sequence[Schedule], source: str, child: str) -> list[Schedule]:
    """The schedules once `source` has been forked into `child`: neither doubled nor moved, they stay the source's."""
    del source, child
    return list(schedules)


def due(schedules: Sequence[Schedule], now: int) -> tuple[list[Schedule], list[Schedule]]:
    """Those that are due now, in order of their time, and the others."""
    ready = sorted((s for s in schedules if s.at <= now), key=lambda schedule: schedule.at)
    return ready, [s for s in schedules if s.at > now]
