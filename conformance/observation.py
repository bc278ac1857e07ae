"""What was seen while a trace was played: plain frozen data, with no opinion. The judge reads it, nothing else does.

Source: design sections 1 and 4: three channels (prompts sent, files left, records returned), and what they cost in
requests and tool runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from forkproof.adapters.errors import AdapterError
from forkproof.adapters.model.given import Thought
from forkproof.adapters.model.script import SeenRequest
from forkproof.adapters.protocol import Covered, Description, ForkRecord, HookRun, Question
from forkproof.adapters.side import FilesPutBack, StateRead
from forkproof.conformance.readings import NOTHING, Readings

__all__ = ["Observation", "Outcome", "PartSeen", "StepSeen", "TurnSeen"]

Outcome: TypeAlias = Literal["done", "refused", "unsupported", "unknown", "pending", "blocked", "skipped"]
"""`blocked`: the step could not be tried, since something before it did not happen; `skipped`: left out on purpose."""


@dataclass(frozen=True, slots=True)
class StepSeen:
    """One step as it went. `files` is the session's workspace after the step, `runs` the counters then.

    `unanswered` are the calls about which a question is open then, `processes` how many of each name run, where the
    step looks at them. `asked` and `hooks` are the questions to the person and the runs of hooks up to then, in all
    sessions. `state` is the side state of sessions as the harness tells it, where the step looks at that; `put_back`
    what it says of files that it put back. `editor` is the text that a move gave back, `readings` what was read of
    the session.
    """

    index: int
    key: str
    name: str
    session: str
    outcome: Outcome
    reason: str = ""
    detail: str = ""
    stop: str | None = None
    files: Mapping[str, str] | None = None
    runs: Mapping[str, int] = field(default_factory=dict)
    editor: str | None = None
    readings: Readings = NOTHING
    state: Mapping[str, StateRead] = field(default_factory=dict)
    put_back: FilesPutBack | None = None
    asked: tuple[Question, ...] = ()
    unanswered: frozenset[str] = frozenset()
    processes: Mapping[str, int] = field(default_factory=dict)
    hooks: tuple[HookRun, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnSeen:
    """A turn that was begun: its session, and once it ended its native id and stop reason."""

    session: str
    native: str | None = None
    stop: str | None = None


@dataclass(frozen=True, slots=True)
class PartSeen:
    """The trace itself, or one control run of it.

    `sessions` maps labels to the harness's ids, `records` labels to fork records, `probes` labels to the turn that
    asked for the session's next prompt at the end of the part. `compactions` maps names to native ids where there are
    any. `thoughts` are the thinking that the model gave, by item.
    `opened` holds, by a resume's step, the id that was named and the one that was opened; `together`
    the single outcomes of steps that ran at the same time.
    """

    nonce: str
    steps: tuple[StepSeen, ...]
    requests: tuple[SeenRequest, ...]
    produced: frozenset[str]
    sessions: Mapping[str, str]
    directories: Mapping[str, str]
    turns: Mapping[str, TurnSeen]
    records: Mapping[str, ForkRecord]
    probes: Mapping[str, str]
    compactions: Mapping[str, str]
    covered: Mapping[str, Covered] = field(default_factory=dict)
    thoughts: Mapping[str, Thought] = field(default_factory=dict)
    opened: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    together: tuple[StepSeen, ...] = ()

    def requests_of(self, turn: str) -> tuple[SeenRequest, ...]:
        """The turn's requests, first to last."""
        return tuple(r for r in self.requests if r.kind == "turn" and r.turn == turn)

    def off_script(self) -> tuple[SeenRequest, ...]:
        """Requests that nothing in the trace accounts for."""
        return tuple(r for r in self.requests if r.kind == "off-script")


@dataclass(frozen=True, slots=True)
class Observation:
    """Everything seen of one trace.

    `error` ended it early, during the main part's step `error_step` (-1: before any).
    """

    slug: str
    description: Description
    main: PartSeen
    controls: Mapping[frozenset[str], PartSeen]
    error: AdapterError | None = None
    error_step: int = -1
    oddities: tuple[str, ...] = ()
    diagnostics: str = ""
    private: Mapping[str, str] = field(default_factory=dict)
    """Texts that are this trial's only, with what to write in their place: its directory, its key."""
