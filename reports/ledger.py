"""What a closing report needs of a run's events."""

from __future__ import annotations

from dataclasses import dataclass, field

from forkproof.reports.events import Checked, Event, Note, Observed, RunEnded, RunStarted, TraceError

__all__ = ["Ledger"]


@dataclass(slots=True)
class Ledger:
    """Events sorted by kind as they come. Of an observation only its error is kept: the rest may be large."""

    started: RunStarted | None = None
    errors: dict[str, TraceError | None] = field(default_factory=dict)
    """Each observed trace, in order, with what broke it off."""
    checks: list[Checked] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    ended: RunEnded | None = None

    def take(self, event: Event) -> None:
        """Enter one event."""
        match event:
            case RunStarted():
                self.started = event
            case Observed():
                self.errors[event.trace] = event.error
            case Checked():
                self.checks.append(event)
            case Note():
                self.notes.append(event)
            case RunEnded():
                self.ended = event
