"""The messages of the open protocol that the seam has no dataclass for: the life of a process, and the world's.

Sessions' operations and their answers are the seam's own; `methods` says which method carries which.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from forkproof.adapters.prompt import Prompt
from forkproof.adapters.protocol import (
    Deadlines,
    Decision,
    Description,
    Drop,
    Endpoint,
    Hook,
    Kind,
    ModelReply,
    NativeCall,
    Say,
    Stall,
    Think,
    ToolUse,
)

__all__ = [
    "PROTOCOL_VERSION",
    "AskNative",
    "CallRef",
    "Classified",
    "Classify",
    "CopyDirectory",
    "Counts",
    "CreateDirectory",
    "Decided",
    "Described",
    "DirectoryRef",
    "Done",
    "Files",
    "Initialize",
    "Initialized",
    "Nothing",
    "Reply",
    "ReserveDirectory",
    "Respond",
    "Shell",
    "StallRef",
    "Start",
    "Use",
    "WriteFiles",
]

PROTOCOL_VERSION: Final = 1
"""The version of the messages; a change that an adapter would notice gets a new number."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """No members."""


@dataclass(frozen=True, slots=True)
class Done:
    """It was done."""


@dataclass(frozen=True, slots=True)
class Initialize:
    """The first message: the version of this protocol that the suite speaks, and its own version."""

    protocol_version: int
    suite: str


@dataclass(frozen=True, slots=True)
class Initialized:
    """The version that the adapter speaks; `name` is its own, for messages."""

    protocol_version: int
    name: str = ""


@dataclass(frozen=True, slots=True)
class Shell:
    """The harness's shell tool: its name, the argument that holds the command, and arguments that are always sent."""

    tool: str
    argument: str
    also: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Described:
    """What an adapter declares before anything runs; must not need a trial.

    capabilities, policies, unobservable: words of the suite's (`docs/adapters.md`). wire: the model API's codec, for a
    harness that reaches its model over HTTP. model: "http", or "protocol" if it asks the suite by `model/respond`.
    world: whose directories the tools work in, the suite's on disk, or the adapter's own behind `world/*`. shell: the
    tool that every abstract tool becomes a command of; without it the suite asks `nativeCall`. classify: whether the
    adapter can tell the kind of a request. reusable: whether `start` may follow `stop` in the same process. deadline:
    seconds for the start and for each operation, where the person names none.
    """

    harness: str
    version: str
    capabilities: frozenset[str] = frozenset()
    policies: Mapping[str, str] = field(default_factory=dict)
    unobservable: frozenset[str] = frozenset()
    wire: str = ""
    binary_sha256: str = ""
    route: str = ""
    variant: str = ""
    model: Literal["http", "protocol"] = "http"
    world: Literal["suite", "adapter"] = "suite"
    shell: Shell | None = None
    classify: bool = False
    reusable: bool = False
    deadline: float | None = None

    def description(self, binary_sha256: str, route: str) -> Description:
        """The seam's form; the hash of the program and the route stand in where the adapter names none."""
        return Description(
            harness=self.harness,
            version=self.version,
            wire=self.wire,
            capabilities=self.capabilities,
            policies=self.policies,
            unobservable=self.unobservable,
            binary_sha256=self.binary_sha256 or binary_sha256,
            route=self.route or route,
            variant=self.variant,
            deadline=self.deadline,
        )


@dataclass(frozen=True, slots=True)
class Start:
    """Start the harness. `root` is an empty private directory, `home` the HOME below it that the process has already.

    `endpoint` is where the model's API is to be reached, null for a harness that asks by `model/respond`. Deadlines are
    seconds. `hooks` are to be installed; `keeping` is the form in which the provider is to keep the conversation.
    `cuts` is false for a trace in which no history is cut but at its head.
    """

    root: str
    home: str
    endpoint: Endpoint | None = None
    deadlines: Deadlines = field(default_factory=Deadlines)
    keeping: Literal["response", "conversation"] | None = None
    hooks: tuple[Hook, ...] = ()
    cuts: bool = True


@dataclass(frozen=True, slots=True)
class AskNative:
    """How the harness's model would ask for this."""

    use: ToolUse


@dataclass(frozen=True, slots=True)
class Classify:
    """Ask of what kind a request is."""

    prompt: Prompt


@dataclass(frozen=True, slots=True)
class Classified:
    """A turn's request, a summary's, side traffic, or null where nothing tells."""

    kind: Kind | None = None


@dataclass(frozen=True, slots=True)
class Respond:
    """One request to the model; `kind` says what it is for, where the harness knows: a turn, a summary, or neither."""

    prompt: Prompt
    path: str = ""
    kind: Kind | None = None


@dataclass(frozen=True, slots=True)
class Use:
    """A tool call of the model, as `ToolUse`; `native` is the call to make where the adapter declares a shell tool."""

    id: str
    name: str
    tool: str
    arguments: Any
    start: str
    end: str
    native: NativeCall | None = None

    @property
    def abstract(self) -> ToolUse:
        """The seam's form."""
        return ToolUse(self.id, self.name, self.tool, self.arguments, self.start, self.end)


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model answers: parts in order, or a failure with an HTTP status and a message. See `ModelReply`."""

    parts: tuple[Say | Think | Use | Stall | Drop, ...] = ()
    status: int = 200
    message: str = ""
    stored: str = ""

    @property
    def reply(self) -> ModelReply:
        """The seam's form."""
        parts = tuple(part.abstract if isinstance(part, Use) else part for part in self.parts)
        return ModelReply(parts, self.status, self.message, self.stored)


@dataclass(frozen=True, slots=True)
class StallRef:
    """A place at which a stream is held."""

    name: str


@dataclass(frozen=True, slots=True)
class Decided:
    """What the person says."""

    decision: Decision


@dataclass(frozen=True, slots=True)
class CreateDirectory:
    """Make a directory with these files."""

    name: str
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReserveDirectory:
    """Name a directory that does not exist yet."""

    name: str


@dataclass(frozen=True, slots=True)
class DirectoryRef:
    """A directory."""

    directory: str


@dataclass(frozen=True, slots=True)
class CopyDirectory:
    """Copy everything in `source` to `target`, where nothing is yet."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class WriteFiles:
    """Make these files or replace their content, as a person would."""

    directory: str
    files: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Files:
    """Files by relative POSIX path. `runs` may be left out: the counters at that moment, to save a question."""

    files: Mapping[str, str]
    runs: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class CallRef:
    """A tool call, by its id on the wire."""

    call: str


@dataclass(frozen=True, slots=True)
class Counts:
    """How many, by name."""

    counts: Mapping[str, int]
