"""The events of a run: typed, frozen, and the only source of every report. Source: design section 8 and 12.

A run is one `RunStarted`, then for each trace a `TraceStarted`, an `Observed` and its `Checked`s, and last one
`RunEnded`; `Note`s may stand anywhere between. The events of one trace from its `Observed` on stand together, also when
several traces are played at once.

What varies from run to run (times, process ids, paths of temporary directories) stands in an event's `volatile` member
and nowhere else: outside it, two runs with one seed are equal byte for byte.

Payload members are JSON data as it is written: mappings with string keys and lists. They are shared, not copied;
whoever receives an event only reads it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, get_args

__all__ = [
    "READABLE_VERSIONS", "SCHEMA_VERSION", "VERDICTS", "AdapterStamp", "Checked", "Consumer", "ContractStamp", "Event",
    "HarnessStamp", "JsonObject", "KnownDeviation", "Level", "Note", "Observed", "RunEnded", "RunStarted", "TraceError",
    "TraceSetStamp", "TraceStarted", "Verdict",
]  # fmt: skip

SCHEMA_VERSION = 3
"""Raised with every change of the lines of run.jsonl; a reader refuses the versions that it does not know."""
READABLE_VERSIONS = (1, 2, 3)
"""What is read. Version 1 lacks the evidence, so it can be shown and not be judged again; version 2 does not say as
what a deviation is known, nor how often it shows.
"""

JsonObject: TypeAlias = dict[str, Any]
Level: TypeAlias = Literal["MUST", "SHOULD"]
Verdict: TypeAlias = Literal[
    "PASS", "FAIL", "WARN", "NOT_APPLICABLE", "UNTESTABLE", "UNOBSERVABLE", "TIMEOUT", "CRASH", "SUITE_ERROR",
    "XFAIL", "XPASS",
]  # fmt: skip
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


class _Data:
    """What all parts of an event share: how `reports.lines` reads them and describes them in the schema."""

    __slots__ = ()
    __pydantic_config__: ClassVar[dict[str, Any]] = {
        "extra": "forbid",
        "use_attribute_docstrings": True,
        "json_schema_serialization_defaults_required": True,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractStamp(_Data):
    """Which contract was judged by."""

    revision: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSetStamp(_Data):
    """Which traces the run was to play."""

    count: int
    """How many traces were selected."""
    sha256: str
    """One hash over the selected traces' slugs and texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HarnessStamp(_Data):
    """Which harness was driven."""

    name: str
    version: str
    binary_sha256: str = ""
    """Hash of the program that ran; empty for one that runs in process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterStamp(_Data):
    """How the harness was driven, and what its adapter declares (design section 5). The lists are sorted."""

    route: str
    wire: str
    capabilities: list[str]
    policies: dict[str, str] = field(default_factory=dict)
    variant: str = ""
    """Which of the harness's own ways to work was driven; empty for its default."""
    unobservable: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        object.__setattr__(self, "capabilities", sorted(self.capabilities))
        object.__setattr__(self, "unobservable", sorted(self.unobservable))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(_Data):
    """The first line: what is being certified, by what."""

    event: Literal["run"] = "run"
    schema: int = SCHEMA_VERSION
    suite: str
    """Version of forkproof."""
    contract: ContractStamp
    traces: TraceSetStamp
    harness: HarnessStamp
    adapter: AdapterStamp
    seed: int
    profile: str | None = None
    """The certification level that was asked for, if one was."""
    isolation: Literal["trace", "run"] = "trace"
    """Whether each trace had a harness process of its own, or those that can shared one."""
    chaos: int | None = None
    """The seed by which the model's answers were disturbed on their way; None where they were not."""
    volatile: JsonObject = field(default_factory=dict)
    """`started` (ISO 8601, with offset), `python`, `platform`; nothing that names the machine or its user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceStarted(_Data):
    """A trace begins; in a run that was killed, the last of these is the trace that it died in."""

    event: Literal["trace"] = "trace"
    trace: str
    """The slug: the trace's path below `traces/`, without `.yaml`."""
    volatile: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceError(_Data):
    """Why a trace did not get to its end, in the words of the adapter's error (code, cause, hint)."""

    code: str
    cause: str
    hint: str = ""
    verdict: Verdict = "CRASH"
    """What the trace's checks that were not reached get."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed(_Data):
    """All that was seen while one trace was played: enough to judge it again without the harness."""

    event: Literal["observation"] = "observation"
    trace: str
    status: Literal["played", "ended"] = "played"
    """`ended`: the trace broke off before its last step, and `error` says why."""
    error: TraceError | None = None
    steps: list[JsonObject] = field(default_factory=list)
    """One a step that began: index, key, name, session, outcome, detail, stop, requests (a count), files, record."""
    requests: list[JsonObject] = field(default_factory=list)
    """One a model request, in order of arrival: index, kind (turn, summary, side), turn, session, items, prompt, path.
    """
    files: dict[str, dict[str, str]] = field(default_factory=dict)
    """Directory label -> relative path -> text, at the trace's end; undecodable bytes as surrogate escapes."""
    records: list[JsonObject] = field(default_factory=list)
    """One fork record a fork."""
    runs: JsonObject = field(default_factory=dict)
    """Name of a counted side effect -> how often it ran."""
    controls: JsonObject = field(default_factory=dict)
    """What control runs of the same trace, played without some steps, gave."""
    noise: list[JsonObject] = field(default_factory=list)
    """Text of the harness's own in the prompts (system prompt, reminders): kept, not judged."""
    trace_sha256: str = ""
    """Hash of the trace's file; empty in records of version 1."""
    steps_sha256: str = ""
    """Hash of what is played of the trace: all but its title and its expectations."""
    evidence: JsonObject = field(default_factory=dict)
    """What the verdicts rest on, for `forkproof rejudge`; its form is the suite's own, told by its `version`."""
    volatile: JsonObject = field(default_factory=dict)
    """Timings in seconds, raw ids, oddities."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownDeviation(_Data):
    """The baseline's entry for a check."""

    reason: str
    url: str = ""
    verdict: Verdict = "FAIL"
    """What the check is known as: FAIL, or that it comes to no end or can't be judged."""
    sometimes: str = ""
    """In how many plays of how many it was seen, e.g. `3 of 8`; empty where it shows in each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked(_Data):
    """The verdict on one expectation.

    `expected` and `seen` have the same shape: kind of expectation (`prompt`, `files`, `record`, `requests`, ...; design
    section 3) -> what was expected or seen. For prompts that is a list of items, each `plan.user` as in a trace, or
    `{"item", "role", "status", "label"}` with only the members that are known; a label is one of provenance (design
    section 4). For `prompt_has` and `prompt_lacks`, `seen` holds the whole prompt's items. `reports.diff` reads both.
    """

    event: Literal["check"] = "check"
    id: str
    """`trace-slug::CLAUSE`, with `#2` for a second one."""
    trace: str
    clause: str
    level: Level
    step: int | None
    """Index of the step that carries the expectation, from 0."""
    verdict: Verdict
    reason: str = ""
    """One line: what is wrong, or why nothing could be judged."""
    expected: JsonObject = field(default_factory=dict)
    seen: JsonObject = field(default_factory=dict)
    witness: JsonObject = field(default_factory=dict)
    """What proves it in this run, e.g. `{"request": 3}` or `{"file": "parser.py"}`; empty if nothing was seen."""
    fingerprint: str = ""
    """Stable digest of the kind of failure; empty for a pass."""
    replay: str = ""
    """The command that plays this one check again."""
    baseline: KnownDeviation | None = None
    file: str = ""
    """The trace's file, as the reader's editor would find it from here or from the package."""
    line: int = 0
    """Line of the expectation in `file`, from 1; 0 if not known."""
    volatile: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Note(_Data):
    """Something that a person should know and that is no verdict, e.g. a capability that is shown but not declared."""

    event: Literal["note"] = "note"
    level: Literal["info", "warning", "error"] = "info"
    text: str
    volatile: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded(_Data):
    """The last line. A record without it is of a run that was killed."""

    event: Literal["end"] = "end"
    counts: dict[str, int]
    """Verdict -> number of checks; verdicts that none got may be left out."""
    exit: int
    """The exit code (design section 6)."""
    complete: bool = True
    """Whether every selected trace was played and judged."""
    reason: str = ""
    """Why the run is not complete, e.g. that it was interrupted."""
    volatile: JsonObject = field(default_factory=dict)
    """`seconds` wall; `jobs` side by side; of all processes of forkproof's own together `cpu_self` seconds, `cpu_ratio`
    (cpu_self / seconds) and `peak_rss_mb`; no harness is in them.
    """


Event: TypeAlias = RunStarted | TraceStarted | Observed | Checked | Note | RunEnded


class Consumer(Protocol):
    """Whoever takes the events of a run: the log, the console, a report writer."""

    def emit(self, event: Event) -> None:
        """Take the next event."""
        ...

    def close(self) -> None:
        """The run is over, however it ended; may be called twice."""
        ...
