"""The outcome of a run as one JSON object, for programs that read standard output."""

from __future__ import annotations

import json
from typing import TextIO

from forkproof.reports.events import Event, JsonObject
from forkproof.reports.ledger import Ledger
from forkproof.reports.lines import as_json
from forkproof.reports.tally import UNEXPECTED

__all__ = ["JsonSummary"]


class JsonSummary:
    """Takes a run's events and prints one object when it is over: harness, counts, costs, unexpected checks, notes."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._ledger = Ledger()
        self._closed = False

    def emit(self, event: Event) -> None:
        """Take the next event."""
        self._ledger.take(event)

    def close(self) -> None:
        """Print the object, once."""
        if self._closed:
            return
        self._closed = True
        json.dump(self._summary(), self._file, indent=2)
        self._file.write("\n")

    def _summary(self) -> JsonObject:
        started, ended = self._ledger.started, self._ledger.ended
        return {
            "harness": None if started is None else as_json(started)["harness"],
            "seed": None if started is None else started.seed,
            "traces": len(self._ledger.errors),
            "counts": {} if ended is None else ended.counts,
            "exit": None if ended is None else ended.exit,
            "complete": ended is not None and ended.complete,
            "costs": {} if ended is None else dict(ended.volatile),
            "unexpected": [
                {name: value for name, value in as_json(check).items() if name not in {"event", "volatile"}}
                for check in self._ledger.checks
                if check.verdict in UNEXPECTED
            ],
            "notes": [note.text for note in self._ledger.notes],
        }
