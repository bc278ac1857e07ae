"""The fork record: what a fork states about itself.

Source: seed 000, "A fork contract worth specifying"; clauses REC-1 to REC-10.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

from forkproof.reference.cut import Applied
from forkproof.reference.entries import Entry, newest_checkpoint
from forkproof.reference.inherit import Setting
from forkproof.reference.session import Edge

__all__ = ["NO_CHECKPOINT", "Record", "WorkspaceKind", "checkpoint_id"]

WorkspaceKind: TypeAlias = Literal["shared", "isolated", "other"]

NO_CHECKPOINT: Final = "none"


class Record(NamedTuple):
    """Everything that a fork decided.

    session, source: ids of the child and its immediate source (REC-1 to REC-3). cut: the boundary that was applied, in
    the words of the request where they are the same (REC-6). revision: the source's state that was frozen (REC-9).
    settings: the child's, each with its origin (REC-7). checkpoint: the compaction that the child starts from, or
    "none" (REC-10). directory, workspace: where tools run (REC-8). snapshot: what an isolated copy holds, None without
    a copy (ENV-5). editor: the text of the user message that the cut left out, else empty. edge: the kind of lineage
    edge (REC-4). grants: approvals carried over, always none (AUT-1).
    """

    session: str
    source: str
    cut: Applied
    revision: str
    settings: Mapping[str, Setting]
    checkpoint: str
    directory: str
    workspace: WorkspaceKind
    snapshot: Literal["all files"] | None
    editor: str
    edge: Edge = "fork"
    grants: tuple[str, ...] = ()


def checkpoint_id(leaf: Entry | None) -> str:
    """The id of the compaction that a path ending at `leaf` starts from, or "none"."""
    checkpoint = newest_checkpoint(leaf)
    return NO_CHECKPOINT if checkpoint is None else checkpoint.id
