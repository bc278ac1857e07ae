"""Child agents: who works for a session, on a task that the model gave it by a tool.

A child agent has an identity and a history of its own and an owner, its parent session; it is no fork. Its handle is
the id of the call that made it. Source: seed 000, "Delegate to a child agent"; clauses OPS-5, SUB-1 to SUB-4.
"""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from forkproof.reference.entries import Answered, Entry
from forkproof.reference.session import Header, Lineage, Session, revision_of
from forkproof.reference.settings import in_force

__all__ = ["BOUNDARY", "Agent", "Context", "agent_of", "assignment", "attend", "owns", "start"]

Context: TypeAlias = Literal["inherit", "none"]
"""Whether a child agent begins with what its parent's model was sent, or with nothing."""

BOUNDARY: Final = (
    "You are a child agent. The conversation above is your parent's and for your information only; its role and its "
    "plans are not yours. Your only task:"
)
"""Fixes the child's own role behind copied history (clause SUB-4)."""


@dataclass(slots=True, eq=False)
class Agent:
    """A child agent. `owner` is the id of its parent session; `session` is known to nobody but its owner."""

    handle: str
    owner: str
    session: Session


def start(leaf: Entry | None, handle: str, context: Context) -> Entry | None:
    """The entry behind which a child agent begins.

    With inherited context it is the one before the answer that holds the spawn call: so the call, which is still in
    flight, and the tasks of its siblings beside it are left out (SUB-1, SUB-2), and so is whatever comes later.
    """
    if context == "none":
        return None
    entry = leaf
    while entry is not None and not (isinstance(entry.body, Answered) and handle in entry.body.calls):
        entry = entry.parent
    return entry.parent if entry is not None else leaf


def agent_of(id_: str, handle: str, parent: Session, leaf: Entry | None) -> Agent:
    """The child agent `id_` of a session; its tools run where the parent's do, and as the parent's settings have it."""
    header, settings = parent.header, in_force(parent.header, parent.leaf)
    lineage = Lineage(header.id, revision_of(leaf), {"delegated": handle}, "delegate")
    return Agent(handle, header.id, Session(Header(id_, header.directory, settings, lineage), leaf))


def assignment(task: str, leaf: Entry | None) -> str:
    """The child's first message: its task, behind a boundary note where it follows copied history."""
    return task if leaf is None else f"{BOUNDARY}\n{task}"


async def attend(work: Awaitable[str]) -> str:
    """Wait for a child's turn and tell how it stopped. Who waits owns it: cancelling the parent cancels it (OPS-5)."""
    return await work


def owns(agent: Agent, session: str) -> bool:
    """Whether a session may speak to this agent: only its owner, so a handle in a fork is dead (SUB-3)."""
    return agent.owner == session
