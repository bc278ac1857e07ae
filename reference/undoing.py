"""Putting files back: what a session's turns changed, taken back in its workspace. Source: clauses ENV-6, ENV-7."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from forkproof.reference.entries import Entry
from forkproof.reference.project import full_path
from forkproof.reference.refusal import Refusal
from forkproof.reference.runtime import Runtime
from forkproof.reference.session import Session

__all__ = ["PutBack", "put_back"]


@dataclass(frozen=True, slots=True)
class PutBack:
    """What is said of a restore: the paths that are as they were, and those that were left as they are."""

    restored: tuple[str, ...]
    left: tuple[str, ...]


def put_back(runtime: Runtime, session: Session, first: Entry | None) -> PutBack | Refusal:
    """Take back what tools did to files in this turn, whose user message is `first`, and in all later ones."""
    path = full_path(session.leaf)
    if first is None or first not in path:
        return Refusal("unknown-cut", "the history of this session holds no such turn")
    directory = session.header.directory
    turns = {entry.turn for entry in path[path.index(first) :] if entry.turn}
    changes = [c for c in runtime.desk.changes if c.directory == directory]
    workspace = runtime.machine.workspace(directory)
    decided = runtime.rules.undo(changes, turns, workspace.files())
    for name, content in decided.contents.items():
        if content is not None:
            workspace.write(name, content)
        else:
            with contextlib.suppress(FileNotFoundError):
                workspace.remove(name)
    said = runtime.rules.said_of_restore(decided)
    return PutBack(tuple(sorted(said.contents)), said.left)
