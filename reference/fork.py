"""Forking: a new session from a place in another one's history, and the record of it.

Pure, and nothing is copied. Source: seed 000; clauses REC-1 to REC-10, OPS-2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from forkproof.reference.cut import Place
from forkproof.reference.inherit import Setting, Value, pinned
from forkproof.reference.record import Record, WorkspaceKind, checkpoint_id
from forkproof.reference.session import Begun, Header, Lineage, Session, revision_of
from forkproof.reference.store import CrashPoint

__all__ = ["Child", "ForkRequest", "Prefix", "fork"]


Prefix: TypeAlias = Literal["shared", "copied"]
"""What a fork's history begins with: its source's own entries, or copies of them."""


@dataclass(frozen=True, slots=True)
class ForkRequest:
    """What a fork asks for besides the cut: where the child's tools run, and settings that win over the source's.

    An isolated workspace is a copy of the source's, made at `directory`; a shared one is what is there already. `key`
    names the request, so that it can be told from another one when it is made again (ATO-6). `dies` is where the
    process is to die over it (ATO-3).
    """

    directory: str
    workspace: Literal["shared", "isolated"] = "shared"
    overrides: Mapping[str, Value] = field(default_factory=dict)
    key: str = ""
    dies: CrashPoint | None = None


class Child(NamedTuple):
    """A fork that is decided and not yet known to anyone."""

    session: Session
    record: Record


def fork(
    id_: str,
    source: Session,
    place: Place,
    directory: str,
    workspace: WorkspaceKind,
    settings: Mapping[str, Setting],
    grants: tuple[str, ...] = (),
) -> Child:
    """The child `id_` of `source` at `place`. O(1): the child's leaf is the source's own entry."""
    revision = revision_of(place.frozen or source.leaf)
    source_id = source.header.id
    values = {name: value for name, (value, _) in settings.items()}
    lineage = Lineage(source_id, revision, place.applied, "fork", source.children + 1)
    family = source.header.family or source_id
    header = Header(id_, directory, values, lineage, family, Begun(source.header, place.leaf, pinned(settings)))
    snapshot: Literal["all files"] | None = "all files" if workspace == "isolated" else None
    checkpoint = checkpoint_id(place.leaf)
    # By position: by name a fork would cost a tenth more.
    record = Record(
        id_, source_id, place.applied, revision, settings, checkpoint, directory, workspace, snapshot, place.editor,
        "fork", grants,
    )  # fmt: skip
    return Child(Session(header, place.leaf), record)
