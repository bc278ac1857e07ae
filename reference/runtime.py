"""The runtime: what sessions run on, and the only place where a session's leaf moves."""

from __future__ import annotations

from dataclasses import dataclass

from forkproof.reference.clock import Clock
from forkproof.reference.entries import Body, Checkpoint, Entry, Stamp, append
from forkproof.reference.ids import Ids
from forkproof.reference.machine import Machine
from forkproof.reference.model import Model
from forkproof.reference.project import prompt_of
from forkproof.reference.prompt import Prompt
from forkproof.reference.rules import Rules
from forkproof.reference.semantics import Semantics
from forkproof.reference.session import Session

__all__ = ["Runtime"]


@dataclass(frozen=True, slots=True)
class Runtime:
    """Everything that a harness was given."""

    model: Model
    machine: Machine
    semantics: Semantics
    rules: Rules
    ids: Ids
    clock: Clock

    def append(self, session: Session, turn: str, body: Body, at: int | None = None) -> Entry:
        """Record something behind the session's leaf, now or at the given time in whole seconds."""
        ids = self.ids
        id_ = ids.compaction() if isinstance(body, Checkpoint) else ids.entry()
        stamp = Stamp(id_, session.header.id, turn, self.clock.now() if at is None else at)
        session.leaf = append(session.leaf, body, stamp)
        return session.leaf

    def prompt(self, session: Session) -> Prompt:
        """The session's next request, as of now."""
        return prompt_of(session.header, self.rules.active(session.leaf), self.rules.pair)
