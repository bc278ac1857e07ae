"""The one seam between the suite and a harness: typed frozen messages and a small `Adapter`.

The player sends operations, which mirror the steps of a trace, and gets one answer each. An adapter never judges and
never sees an expectation. Source of the seam: design section 5; the fork record's fields: seed 000 and clauses REC-1 to
REC-10.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from forkproof.adapters.prompt import Prompt

__all__ = [
    "ABSENT", "Acknowledged", "Adapter", "Answer", "Cancel", "Compact", "Cut", "Deadlines", "Description", "Endpoint",
    "Field", "Fork", "ForkRecord", "Forked", "Import", "ImportedTurn", "Kind", "Model", "ModelReply", "ModelRequest", "NativeCall", "OpenSession",
    "Operation", "Refused", "Say", "SendPrompt", "SessionOpened", "Stall", "ToolUse", "Trial", "TurnEnded", "TurnRef", "Unknown",
    "Unsupported", "World",
]  # fmt: skip

WorkspaceChoice: TypeAlias = Literal["shared", "isolated"]
Kind: TypeAlias = Literal["turn", "summary", "side"]


# --- What the suite asks -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TurnRef:
    """A turn that was played before, as a cut point.

    `native` is the id that the harness gave when the turn ended, if it gave one; `marker` is text that stands in the
    turn's user message and nowhere else; `ordinal` counts the user messages on the source's path from 0. A turn with
    `exists=False` was never played: the adapter makes up a plausible id that the harness can't know (clause CUT-5).
    """

    name: str
    marker: str
    ordinal: int
    native: str | None = None
    exists: bool = True


@dataclass(frozen=True, slots=True)
class Cut:
    """Where the copied history ends: before a turn's user message, after a turn's last item, or at the head."""

    kind: Literal["before", "after", "head"]
    turn: TurnRef | None = None


@dataclass(frozen=True, slots=True)
class OpenSession:
    """Start a new, empty session in this directory."""

    directory: str
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ImportedTurn:
    """A finished turn of an imported history; `at` in whole seconds since the epoch."""

    at: int
    user: str
    say: str


@dataclass(frozen=True, slots=True)
class Import:
    """Start a session that already holds these turns, with these times (capability `import`); answered like `OpenSession`."""

    directory: str
    turns: tuple[ImportedTurn, ...]
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SendPrompt:
    """Give a session a user message; the answer comes when the turn has ended, and `Cancel` may come before that."""

    session: str
    text: str


@dataclass(frozen=True, slots=True)
class Cancel:
    """Interrupt the turn that runs in this session, as a person pressing Escape would."""

    session: str


@dataclass(frozen=True, slots=True)
class Compact:
    """Compact this session's history now; the answer comes when that is done."""

    session: str


@dataclass(frozen=True, slots=True)
class Fork:
    """Make a new session from a source's history up to a cut.

    `directory` is the source's own for a shared workspace. For an isolated one it is the new place: empty and not yet
    made. A harness that copies does so; for one that only takes a directory the adapter calls `World.copy` first. A
    session with `exists=False` was never opened: the adapter makes up a plausible id (clause ATO-2).
    """

    session: str
    cut: Cut
    workspace: WorkspaceChoice
    directory: str
    exists: bool = True


Operation: TypeAlias = OpenSession | Import | SendPrompt | Cancel | Compact | Fork


# --- What the harness answers --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a fork record and where it came from.

    Only `reported` fields, stated by the harness itself in its answer or its own listing, satisfy the REC clauses;
    `derived` ones were worked out by the adapter; `absent` ones are nowhere.
    """

    value: Any = None
    origin: Literal["reported", "derived", "absent"] = "absent"


ABSENT = Field()


@dataclass(frozen=True, slots=True)
class ForkRecord:
    """What a harness states about a fork, in its own ids (seed 000, "A fork contract worth specifying").

    session: id of the new session. source: id of the immediate source. cut: `{"before": TURN}`, `{"after": TURN}` or
    `{"head": true}` with the harness's turn id or the turn's marker. revision: what was frozen of the source (any
    scalar). settings: name -> {"value", "origin"}, origin one of cut, latest, default, override. checkpoint: the
    compaction that the child starts from, or "none". directory: where tools run. workspace: "shared", "isolated" or
    "other". edge: the kind of lineage edge, "fork". grants: approvals carried over. editor: text put back for editing.
    """

    session: Field
    source: Field = ABSENT
    cut: Field = ABSENT
    revision: Field = ABSENT
    settings: Field = ABSENT
    checkpoint: Field = ABSENT
    directory: Field = ABSENT
    workspace: Field = ABSENT
    edge: Field = ABSENT
    grants: Field = ABSENT
    editor: Field = ABSENT


@dataclass(frozen=True, slots=True)
class SessionOpened:
    """The new session's id."""

    session: str


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The turn is over. `stop` is ACP's stop reason, or `failed`; `native` the harness's id of the turn, if it has one."""

    stop: str
    native: str | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Forked:
    """The fork was made."""

    record: ForkRecord


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """Done. `native` is the harness's id of what was made, e.g. of a compaction, if it gave one."""

    native: str | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """A definite no: nothing was done. `reason` is one of busy, unknown-cut, unknown-session, or other; `message` the harness's words."""

    reason: Literal["busy", "unknown-cut", "unknown-session", "other"]
    message: str


@dataclass(frozen=True, slots=True)
class Unsupported:
    """This harness has no way to do that."""

    what: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """It may have happened: the answer was lost."""

    why: str


Answer: TypeAlias = SessionOpened | TurnEnded | Forked | Acknowledged | Refused | Unsupported | Unknown


# --- The model's side ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ToolUse:
    """An abstract tool call of a trace, marked for this run.

    `id` is the call id on the wire. `tool` is write, edit, read, run, wait or count; `arguments` are the trace's own.
    `start` and `end` are the two markers that the tool's output must carry: `end` only when the work is done.
    """

    id: str
    name: str
    tool: str
    arguments: Any
    start: str
    end: str


@dataclass(frozen=True, slots=True)
class Say:
    """Text of the model, marker included."""

    text: str


@dataclass(frozen=True, slots=True)
class Stall:
    """Hold the stream open at this place until the suite releases it."""

    name: str


@dataclass(frozen=True, slots=True)
class ModelReply:
    """One answer of the model: texts and calls in order, or a failure with an HTTP status and a message."""

    parts: tuple[Say | ToolUse | Stall, ...] = ()
    status: int = 200
    message: str = ""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request that reached us: the prompt, and the raw body (decoded JSON) and path for the wire log."""

    prompt: Prompt
    path: str = ""
    raw: Any = None


class Model(Protocol):
    """The scripted model, played by the suite."""

    async def respond(self, request: ModelRequest) -> ModelReply:
        """Answer one request; never raises for bad input, it answers with a status."""
        ...

    async def released(self, stall: str) -> None:
        """Return when the named stall may go on."""
        ...


@dataclass(frozen=True, slots=True)
class NativeCall:
    """A tool call in the harness's own terms; `freeform` tools take text in place of a JSON object."""

    name: str
    arguments: Mapping[str, Any] | str
    freeform: bool = False


# --- The world and the trial ---------------------------------------------------------------------------------------


class World(Protocol):
    """What the tools touch: directories, waiting commands and counters. Directories are opaque strings to the player."""

    def create(self, name: str, files: Mapping[str, str]) -> str:
        """Make a directory with these files and return it."""
        ...

    def reserve(self, name: str) -> str:
        """Name a directory that does not exist yet."""
        ...

    def copy(self, source: str, target: str) -> None:
        """Copy everything in `source` to the reserved directory `target`."""
        ...

    def read(self, directory: str) -> Mapping[str, str]:
        """All files below the directory, by relative POSIX path; undecodable bytes as surrogate escapes."""
        ...

    async def started(self, call: str) -> None:
        """Return when the waiting command of this call has begun."""
        ...

    def release(self, call: str) -> None:
        """Let the waiting command of this call finish."""
        ...

    def runs(self) -> Mapping[str, int]:
        """How often each counting command ran so far."""
        ...


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds that each phase of a real process may take, generous: a slow machine must not read as a failing harness."""

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
    files go below it. In-process adapters get the `model` itself, real ones reach it at `endpoint`.
    """

    root: Path
    model: Model
    endpoint: Endpoint | None = None
    deadlines: Deadlines = Deadlines()


@dataclass(frozen=True, slots=True)
class Description:
    """What an adapter declares before anything runs.

    `policies` are choices that the contract leaves open, e.g. `busy_source: refuse`. `unobservable` names things that no
    channel of this route shows, e.g. `record.source` over plain ACP. `wire` names the codec.
    """

    harness: str
    version: str
    wire: str
    capabilities: frozenset[str]
    policies: Mapping[str, str] = field(default_factory=dict)
    unobservable: frozenset[str] = frozenset()
    binary_sha256: str = ""
    route: str = ""


class Adapter(Protocol):
    """Drives one harness. Life: `describe` at any time; then `start`, operations, `stop`, once per trace."""

    needs_server: bool
    """Whether the harness reaches the model over HTTP, so that the suite must run a server."""

    def describe(self) -> Description:
        """What this harness is and can do. Raises `NotInstalled`."""
        ...

    async def start(self, trial: Trial) -> World:
        """Start the harness. Raises an `AdapterError` of the phase that failed, and leaves nothing running then."""
        ...

    async def perform(self, operation: Operation) -> Answer:
        """Carry out one operation; several may be under way at once. Raises an `AdapterError` when the harness breaks."""
        ...

    def native_call(self, use: ToolUse) -> NativeCall:
        """How this harness's model would ask for the abstract tool."""
        ...

    def classify(self, prompt: Prompt) -> Kind | None:
        """Whether a request is a turn, a summary or side traffic, where the harness makes that visible; else None."""
        ...

    def diagnostics(self) -> str:
        """The end of what the harness wrote to its standard error, for messages."""
        ...

    async def stop(self) -> None:
        """End the harness and every descendant; never raises, and may be called at any time, also twice."""
        ...
