"""Approvals: questions to the person, and what the answers allow. Source: clauses AUT-1, AUT-4, AUT-5, TOOL-5.

An answer `once` is for its one call. One for the session is for all later calls of the tool in that session, and in no
other. One given for always is for every session, as the person said. A question belongs to the session that asks.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeAlias

from forkproof.reference.model import Call

__all__ = ["Approvals", "Decision", "Given", "Person", "Question", "answered", "hear", "nobody"]

Decision: TypeAlias = Literal["allow_once", "allow_for_session", "allow_always", "reject"]


@dataclass(frozen=True, slots=True)
class Question:
    """May this call run in this session? `session` is the id that the person is told, `call` the id on the wire."""

    session: str
    call: str
    tool: str


@dataclass(frozen=True, slots=True)
class Given:
    """An answer that the person gave: for which session, about which call of which tool."""

    session: str
    call: str
    tool: str
    decision: Decision


class Person(Protocol):
    """Whoever answers."""

    async def __call__(self, question: Question) -> Decision:
        """Answer one question; cancelled with the turn that asks."""
        ...


async def nobody(question: Question) -> Decision:
    """Nobody is there to answer, so nothing is allowed."""
    del question
    return "reject"


def answered(given: Sequence[Given], session: str, tool: str) -> Decision | None:
    """The earlier answer that holds for a call of this tool in this session, so that nobody is asked; None without one.

    A message that was copied carries no answer with it (seed 000; AUT-1, AUT-5).
    """
    for each in given:
        if each.tool != tool:
            continue
        if each.decision == "allow_always" or (each.decision == "allow_for_session" and each.session == session):
            return each.decision
    return None


def hear(answer: Awaitable[Decision]) -> Awaitable[Decision]:
    """How an answer is waited for: with the turn that asked, so that its end withdraws the question (clause CUT-8)."""
    return answer


class Approvals:
    """All answers that the person gave, oldest first in `given`."""

    def __init__(self, person: Person = nobody) -> None:
        self.given: list[Given] = []
        self.person = person

    def grants(self, session: str) -> tuple[str, ...]:
        """The calls at which approvals for this whole session were given."""
        if not self.given:
            return ()
        return tuple(e.call for e in self.given if e.session == session and e.decision == "allow_for_session")

    def carry(self, source: str, child: str, calls: tuple[str, ...]) -> None:
        """Let the answers for the source that were given at these calls hold for the child too."""
        if calls:
            self.given += [replace(e, session=child) for e in self.given if e.session == source and e.call in calls]

    async def ask(self, session: str, told: str, call: Call) -> Decision:
        """Ask the person whether a call of `session` may run. `told` is the session that the question names."""
        decision = await self.person(Question(told, call.id, call.tool))
        self.given.append(Given(session, call.id, call.tool, decision))
        return decision
