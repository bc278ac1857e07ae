"""Usage: how many answers of the model a session caused. Source: clause STA-3."""

from __future__ import annotations

from forkproof.reference.entries import Answered
from forkproof.reference.project import full_path
from forkproof.reference.session import Session

__all__ = ["usage"]


def usage(session: Session) -> int:
    """The answers that were given in this session itself: those of a copied prefix were paid for by its source."""
    own = session.header.id
    return sum(isinstance(e.body, Answered) and e.stamp.session == own for e in full_path(session.leaf))
