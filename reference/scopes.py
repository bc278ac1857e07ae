"""Scopes: branches of work inside one conversation, and how they are folded into its main thread.

A scope holds its own messages only. Folding brings in what was said and by whom, never how it was found out. Source:
seed 000, "Sidekick: scoped branches"; clauses FLD-1 to FLD-4.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from forkproof.reference.entries import Answered, Body, Entry, Folded
from forkproof.reference.prompt import Text
from forkproof.reference.session import Session

__all__ = ["Scope", "crosses", "scope_start"]


@dataclass(slots=True, eq=False)
class Scope:
    """A scope of the conversation `owner`. `roles` names who spoke in a turn, where it was not the agent itself."""

    owner: Session
    session: Session
    roles: dict[str, str] = field(default_factory=dict)


def scope_start(owner: Session) -> Entry | None:
    """The entry behind which a scope of this conversation begins: none, it sees nothing of the main thread (FLD-1)."""
    del owner
    return None


def crosses(entries: Iterable[Entry], roles: Mapping[str, str], *, folded: bool) -> Sequence[Body]:
    """What of a scope's entries stands in the main thread.

    Nothing before it is folded (FLD-1). Then each text of the model: the agent's own words as they are, those of
    another role with its name (FLD-2). Calls, results and the instructions given inside the scope stay out (FLD-3).
    """
    if not folded:
        return ()
    return [
        Folded(part.content, roles.get(entry.turn, ""))
        for entry in entries
        if isinstance(entry.body, Answered)
        for part in entry.body.parts
        if isinstance(part, Text)
    ]
