"""What one run of a harness gets: a private directory, the model, and how long each phase may take."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from forkproof.adapters.authority import Hook, Person
from forkproof.adapters.exchange import Model

__all__ = [
    "Deadlines",
    "Endpoint",
    "Trial",
]


LONGEST = 3600.0
"""Seconds that an adapter may ask for as its deadline: a hang must still be told in the end."""


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds that each phase of a real process may take, generous.

    A slow machine must not read as a failing harness.
    """

    start: float = 60.0
    operation: float = 60.0
    stop: float = 10.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the model server listens, e.g. `http://127.0.0.1:41234`, and the random key that it asks for."""

    url: str
    key: str


@dataclass(frozen=True, slots=True)
class Trial:
    """Everything that an adapter needs to run one harness process for one trace.

    `root` is an empty private directory of this trial; the harness's HOME, temporary files and the suite's control
    files go below it. In-process adapters get the `model` itself, real ones reach it at `endpoint`. `keeping` is set
    for a trace about conversations that the provider keeps: the harness is to have it keep them in this form.
    `person` answers the harness's questions, and plays the `hooks`, which are to be installed. `cuts` says whether a
    history may be cut anywhere but at its head: a harness that names cuts by the clock has to be given time between
    turns then, and no other time.
    """

    root: Path
    model: Model
    endpoint: Endpoint | None = None
    deadlines: Deadlines = Deadlines()
    keeping: Literal["response", "conversation"] | None = None
    person: Person | None = None
    hooks: tuple[Hook, ...] = ()
    cuts: bool = True
