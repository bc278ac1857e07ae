"""What the suite asks of a harness: one frozen message a step of a trace.

They mirror the trace language (design sections 3 and 5). Sessions, turns and directories go by the ids that the harness
and the world gave.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from forkproof.adapters.authority import Configure, SettingValue
from forkproof.adapters.busy import BusyOperation, ItemRef
from forkproof.adapters.durable import Crash, DurableOperation
from forkproof.adapters.side import SideOperation
from forkproof.adapters.tree import TreeOperation

__all__ = [
    "Cancel",
    "Compact",
    "Cut",
    "Fork",
    "Import",
    "ImportedTurn",
    "OpenSession",
    "Operation",
    "SendPrompt",
    "TurnRef",
    "WorkspaceChoice",
]

WorkspaceChoice: TypeAlias = Literal["shared", "isolated"]


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
    """Where the copied history ends: before a turn's user message, behind its last item or another one, or the head."""

    kind: Literal["before", "after", "at", "head"]
    turn: TurnRef | None = None
    item: ItemRef | None = None


@dataclass(frozen=True, slots=True)
class OpenSession:
    """Start a new, empty session in this directory."""

    directory: str
    settings: Mapping[str, SettingValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ImportedTurn:
    """A finished turn of an imported history; `at` in whole seconds since the epoch, or a time written as text.

    Turns come in the order in which they are stored. `behind` is the key of the turn that this one goes on from, None
    for the one stored before it; a key that no turn has makes it an orphan (capability `import.tree`, clauses RD-4 and
    TRE-1). The session stands at the last stored turn that none goes on from. `id` is the turn's id in the
    storage, where the trace chooses it (clause CUT-4).
    """

    at: int | str
    user: str
    say: str
    key: str = ""
    behind: str | None = None
    id: str = ""


@dataclass(frozen=True, slots=True)
class Import:
    """Start a session that already holds these turns, with these times (capability `import`).

    Answered like `OpenSession`.
    """

    directory: str
    turns: tuple[ImportedTurn, ...]
    settings: Mapping[str, SettingValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SendPrompt:
    """Give a session a user message; the answer comes when the turn has ended, and `Cancel` may come before that.

    `attachments` are files by name, each with its content, which go to the model with the text (clause ENV-8).
    In a scope, `role` names who answers, where that is not the agent itself (clause FLD-2).
    """

    session: str
    text: str
    attachments: Mapping[str, str] = field(default_factory=dict)
    role: str = ""


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
    session with `exists=False` was never opened: the adapter makes up a plausible id (clause ATO-2). `settings` are
    given with the fork, and win over the source's (capability `settings.fork`, clause SET-2). `request` names
    this request, so that a harness can tell when it is made once more (capability `fork.retry`, clause ATO-6). `dies`
    is where the harness's process is to die over it; the answer is then `Unknown` (capability `crash`, clause ATO-3).
    """

    session: str
    cut: Cut
    workspace: WorkspaceChoice
    directory: str
    exists: bool = True
    settings: Mapping[str, SettingValue] = field(default_factory=dict)
    request: str = ""
    dies: Crash | None = None


Operation: TypeAlias = (
    Configure
    | OpenSession
    | Import
    | SendPrompt
    | Cancel
    | Compact
    | Fork
    | BusyOperation
    | TreeOperation
    | DurableOperation
    | SideOperation
)
