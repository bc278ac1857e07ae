"""Moves of turns: begin, await, cancel, release a waiting command, compact, and look."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from forkproof.adapters.protocol import (
    Acknowledged,
    Answer,
    Cancel,
    Compact,
    ModelReply,
    Refused,
    Say,
    Unknown,
    Unsupported,
)
from forkproof.conformance.moves.outcome import Move, ended, not_done
from forkproof.conformance.observation import StepSeen
from forkproof.conformance.part import BlockedError
from forkproof.conformance.stage import replies
from forkproof.conformance.trace.model import AwaitStep, CancelStep, CheckStep, CompactStep, ReleaseStep, TurnStep

if TYPE_CHECKING:
    from forkproof.conformance.player import PartPlayer

__all__ = ["MOVES"]


async def _turn(player: PartPlayer, step: TurnStep, seen: StepSeen) -> StepSeen:
    await player.session(step.in_)
    if step.in_ in player.running:
        raise BlockedError(f"a turn still runs in {step.in_}")
    player.begin_turn(step.turn, step.in_, step.user, replies(step.turn, step.model, player.script.markers))
    if step.until is None:
        return ended(await player.end_turn(step.in_), seen)
    call = step.until.removesuffix(".started")
    if await _started(player, call, player.running[step.in_]):
        return seen
    over = ended(await player.end_turn(step.in_), seen)
    return replace(over, outcome="blocked", reason=f"the turn ended before call {call} had started")


async def _started(player: PartPlayer, call: str, turn: asyncio.Task[Answer]) -> bool:
    """Wait for the start of a call's command; False if the turn ended first."""
    started = asyncio.ensure_future(player.stage.world.started(player.script.markers.call_id(call)))
    try:
        first = asyncio.wait({started, turn}, return_when=asyncio.FIRST_COMPLETED)
        await player.within(first, f"the start of the command of call {call}")
        return started.done()
    finally:
        started.cancel()
        await asyncio.gather(started, return_exceptions=True)


async def _await(player: PartPlayer, step: AwaitStep, seen: StepSeen) -> StepSeen:
    if seen.session not in player.running:
        raise BlockedError(f"turn {step.await_} is not running")
    return ended(await player.end_turn(seen.session), seen)


async def _cancel(player: PartPlayer, step: CancelStep, seen: StepSeen) -> StepSeen:
    session = await player.session(step.cancel)
    if step.cancel not in player.running:
        raise BlockedError(f"no turn runs in {step.cancel}")
    answer = await player.ask(Cancel(session))
    if isinstance(answer, Refused | Unsupported | Unknown):
        return not_done(answer, seen)
    return ended(await player.end_turn(step.cancel), seen)


async def _release(player: PartPlayer, step: ReleaseStep, seen: StepSeen) -> StepSeen:
    player.stage.world.release(player.script.markers.call_id(step.release))
    return seen


async def _compact(player: PartPlayer, step: CompactStep, seen: StepSeen) -> StepSeen:
    session, name, script = await player.session(step.in_), step.compact, player.script
    script.begin_summary(name, ModelReply((Say(script.markers.mark(step.model[0].say, f"{name}.summary")),)))
    try:
        answer = await player.ask(Compact(session))
    finally:
        script.end_summary(name)
    if isinstance(answer, Refused | Unsupported | Unknown):
        return not_done(answer, seen)
    if not any(r.kind == "summary" and r.turn == name for r in script.requests):
        return replace(seen, outcome="blocked", reason="the harness asked for no summary")
    if isinstance(answer, Acknowledged) and answer.native:
        player.part.compactions[name] = answer.native
    return seen


async def _check(player: PartPlayer, step: CheckStep, seen: StepSeen) -> StepSeen:
    await player.session(step.check)
    return seen


MOVES: Mapping[type, Move] = {
    TurnStep: _turn,
    AwaitStep: _await,
    CancelStep: _cancel,
    ReleaseStep: _release,
    CompactStep: _compact,
    CheckStep: _check,
}
