"""What a harness answers: done, refused, unsupported or unknown, and the fork record.

The record's fields: seed 000, "A fork contract worth specifying", and clauses REC-1 to REC-10.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from forkproof.adapters.readings import Moved, Reading
from forkproof.adapters.side import SideAnswer

__all__ = [
    "ABSENT",
    "Acknowledged",
    "Answer",
    "Covered",
    "Field",
    "ForkRecord",
    "Forked",
    "Refused",
    "SessionOpened",
    "TurnEnded",
    "Unknown",
    "Unsupported",
]


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
    "other". snapshot: what an isolated copy holds (ENV-5). edge: the kind of lineage edge, "fork". grants: approvals
    carried over. editor: text put back for editing. memories: those that are shared with the child (STA-4).
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
    snapshot: Field = ABSENT
    grants: Field = ABSENT
    editor: Field = ABSENT
    memories: Field = ABSENT


@dataclass(frozen=True, slots=True)
class SessionOpened:
    """The new session's id, and for an import the harness's ids of its turns, in order, where it gives any."""

    session: str
    turns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The turn is over.

    `stop` is ACP's stop reason, or `failed`; `native` the harness's id of the turn, if it has one.
    """

    stop: str
    native: str | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Forked:
    """The fork was made."""

    record: ForkRecord


@dataclass(frozen=True, slots=True)
class Covered:
    """What a summary stands for, as the harness states it (clause CMP-8).

    session: the harness's id of the conversation. first, last: the range, each an item's marker or, where the harness
    names an entry that no item of the trace is in, its own id.
    """

    session: str
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """Done. `native` is the harness's id of what was made, e.g. of a compaction, if it gave one.

    `covers` is what a compaction states of its summary, if it states anything.
    """

    native: str | None = None
    covers: Covered | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """A definite no.

    Nothing was done. `reason` is one of busy, unknown-cut, unknown-session, cancelled (by a hook), or other;
    `message` the harness's words.
    """

    reason: Literal["busy", "unknown-cut", "unknown-session", "cancelled", "other"]
    message: str


@dataclass(frozen=True, slots=True)
class Unsupported:
    """This harness has no way to do that."""

    what: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """It may have happened: the answer was lost."""

    why: str


Answer: TypeAlias = (
    SessionOpened | TurnEnded | Forked | Acknowledged | Moved | Reading | SideAnswer | Refused | Unsupported | Unknown
)
