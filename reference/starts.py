"""The start of a session: what its hooks are told, what they put in front of it, and what is bound to it.

Source: clauses SET-4, SET-5, AUT-1, OPS-4, OPS-6; seed 000, "not the parent's live callbacks and runtime object".
"""

from __future__ import annotations

from forkproof.reference.hooks import Started
from forkproof.reference.refusal import Refusal
from forkproof.reference.session import Header

__all__ = ["bound_to", "cancelled", "context", "grants_carried", "told"]


def told(header: Header) -> Started:
    """What the start hooks of this session are told (SET-5)."""
    if header.lineage is None:
        return Started(header.id, "new")
    return Started(header.id, "fork", header.lineage.source)


def context(inherited: tuple[str, ...], own: tuple[str, ...]) -> tuple[str, ...]:
    """The hooks' context of a session that starts: its own, not stacked on the source's (SET-4)."""
    del inherited
    return own


def grants_carried(source: tuple[str, ...]) -> tuple[str, ...]:
    """The approvals of the source's session that hold for a child too: none (AUT-1)."""
    del source
    return ()


def bound_to(header: Header) -> str:
    """The session that questions of this one are asked for: itself, whatever it was forked from (OPS-6)."""
    return header.id


def cancelled(reason: str) -> Refusal | None:
    """What a hook's objection to a fork means: there is none (OPS-4)."""
    return Refusal("cancelled", f"a hook cancelled the fork: {reason}") if reason else None
