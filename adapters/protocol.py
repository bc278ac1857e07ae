"""The one seam between the suite and a harness: typed frozen messages and a small `Adapter`.

The player sends operations, which mirror the steps of a trace, and gets one answer each. An adapter never judges and
never sees an expectation. Source: design section 5. The messages live in modules of their own, one a noun; everything
is imported from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from forkproof.adapters.answers import (
    ABSENT,
    Acknowledged,
    Answer,
    Covered,
    Field,
    Forked,
    ForkRecord,
    Refused,
    SessionOpened,
    TurnEnded,
    Unknown,
    Unsupported,
)
from forkproof.adapters.authority import (
    Configure,
    Decision,
    Hook,
    HookRun,
    HookSaid,
    Person,
    Question,
    SettingValue,
)
from forkproof.adapters.busy import AwaitQueued, BusyOperation, ItemRef, Queue, Steer
from forkproof.adapters.durable import Crash, Delete, DurableOperation, Restart, Resume
from forkproof.adapters.exchange import (
    Drop,
    Kind,
    Model,
    ModelReply,
    ModelRequest,
    NativeCall,
    Say,
    Stall,
    Think,
    ToolUse,
)
from forkproof.adapters.operations import (
    Cancel,
    Compact,
    Cut,
    Fork,
    Import,
    ImportedTurn,
    OpenSession,
    Operation,
    SendPrompt,
    TurnRef,
    WorkspaceChoice,
)
from forkproof.adapters.prompt import Prompt
from forkproof.adapters.trial import (
    Deadlines,
    Endpoint,
    Trial,
)
from forkproof.adapters.world import (
    World,
)

__all__ = [
    "ABSENT",
    "Acknowledged",
    "Adapter",
    "Answer",
    "AwaitQueued",
    "BusyOperation",
    "Cancel",
    "Compact",
    "Configure",
    "Covered",
    "Crash",
    "Cut",
    "Deadlines",
    "Decision",
    "Delete",
    "Description",
    "Drop",
    "DurableOperation",
    "Endpoint",
    "Field",
    "Fork",
    "ForkRecord",
    "Forked",
    "Hook",
    "HookRun",
    "HookSaid",
    "Import",
    "ImportedTurn",
    "ItemRef",
    "Kind",
    "Model",
    "ModelReply",
    "ModelRequest",
    "NativeCall",
    "OpenSession",
    "Operation",
    "Person",
    "Question",
    "Queue",
    "Refused",
    "Restart",
    "Resume",
    "Retrying",
    "Reusable",
    "Say",
    "SendPrompt",
    "SessionOpened",
    "SettingValue",
    "Stall",
    "Steer",
    "Think",
    "ToolUse",
    "Trial",
    "TurnEnded",
    "TurnRef",
    "Unknown",
    "Unsupported",
    "WorkspaceChoice",
    "World",
]


@dataclass(frozen=True, slots=True)
class Description:
    """What an adapter declares before anything runs.

    `policies` are choices that the contract leaves open, e.g. `busy_source: refuse`. `unobservable` names things that
    no channel of this route shows, e.g. `record.source` over plain ACP. `wire` names the codec, `variant` which of the
    harness's own ways to work this is, empty for its default. `models` maps names of models on the wire to a trace's,
    for a harness that takes no name which it does not know. `deadline` are the seconds that its start and each
    operation may take where the person names none: for a harness that is patient by design, e.g. with a broken stream.
    """

    harness: str
    version: str
    wire: str
    capabilities: frozenset[str]
    policies: Mapping[str, str] = field(default_factory=dict)
    unobservable: frozenset[str] = frozenset()
    binary_sha256: str = ""
    route: str = ""
    variant: str = ""
    models: Mapping[str, str] = field(default_factory=dict)
    deadline: float | None = None


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
        """Carry out one operation.

        Several may be under way at once. Raises an `AdapterError` when the harness breaks.
        """
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


@runtime_checkable
class Retrying(Protocol):
    """What an adapter is besides, whose harness asks its model again, at once, where the answer is an HTTP error.

    `retried` are statuses for which it does so whatever it asked for; with `--chaos` some requests get one of them.
    """

    retried: tuple[int, ...]


@runtime_checkable
class Reusable(Protocol):
    """What an adapter is besides, whose harness can serve several traces with one process (`--isolation run`)."""

    async def renew(self, trial: Trial) -> World | None:
        """Make the running harness ready for one more trace; None if it can't be, and it is then ended.

        Called instead of `start`, when the trace before has come to its end in order and nothing of it runs any more.
        `trial.root` is a new empty directory, `trial.endpoint` the one that `start` got; `start`'s own root stays. The
        trace must find what it would find in a fresh process: whatever outlives a session, such as a grant, a memory
        or a setting, is as at the start. An `AdapterError` has the same effect as None.
        """
        ...
