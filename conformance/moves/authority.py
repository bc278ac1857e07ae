"""Moves of a person who sets a session up, or answers a question that was left open."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from forkproof.adapters.protocol import Acknowledged, Configure
from forkproof.conformance.moves.outcome import Move, not_done
from forkproof.conformance.observation import StepSeen
from forkproof.conformance.part import BlockedError
from forkproof.conformance.trace.settings import chosen
from forkproof.conformance.trace.steps_authority import ApproveStep, DenyStep, SetStep, decision

if TYPE_CHECKING:
    from forkproof.adapters.protocol import Answer
    from forkproof.conformance.player import PartPlayer

__all__ = ["MOVES", "asked"]


async def asked(player: PartPlayer, call: str, turn: asyncio.Task[Answer]) -> bool:
    """Wait until the person is asked about a call; False if the turn ended first."""
    question = asyncio.ensure_future(player.person.questioned(call))
    try:
        first = asyncio.wait({question, turn}, return_when=asyncio.FIRST_COMPLETED)
        await player.within(first, f"a question about call {call}")
        return question.done()
    finally:
        question.cancel()
        await asyncio.gather(question, return_exceptions=True)


async def _set(player: PartPlayer, step: SetStep, seen: StepSeen) -> StepSeen:
    answer = await player.ask(Configure(await player.session(step.set_), chosen(step)))
    return seen if isinstance(answer, Acknowledged) else not_done(answer, seen)


async def _answer(player: PartPlayer, step: ApproveStep | DenyStep, seen: StepSeen) -> StepSeen:
    call = step.deny if isinstance(step, DenyStep) else step.approve
    if not player.person.answer(call, decision(step)):
        raise BlockedError(f"no question about call {call} is open")
    return seen


MOVES: Mapping[type, Move] = {SetStep: _set, ApproveStep: _answer, DenyStep: _answer}
