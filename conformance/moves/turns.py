"""Moves of turns: begin, await, cancel, release a waiting command, compact, and look."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from forkproof.adapters.protocol import (
    Answer,
    Cancel,
    Refused,
    Unknown,
    Unsupported,
)
from forkproof.conformance.moves.authority import asked
from forkproof.conformance.moves.busy import end_queued
from forkproof.conformance.moves.compactions import end_compaction
from forkproof.conformance.moves.delegation import begin_errands
from forkproof.conformance.moves.outcome import Move, ended, not_done
from forkproof.conformance.observation import StepSeen
from forkproof.conformance.part import BlockedError
from forkproof.conformance.stage import attached, replies
from forkproof.conformance.trace.model import AwaitStep, CancelStep, CheckStep, ReleaseStep, TurnStep

if TYPE_CHECKING:
    from forkproof.conformance.player import PartPlayer

__all__ = ["MOVES"]


async def _turn(player: PartPlayer, step: TurnStep, seen: StepSeen) -> StepSeen:
    await player.session(step.in_)
    if step.in_ in player.running:
        raise BlockedError(f"a turn still runs in {step.in_}")
    held = (step.until or "").partition(".asked")
    player.person.prepare(step.answers or {}, held[0] if held[1] else None)
    player.errands[step.turn] = begin_errands(player, step)
    player.roles[step.turn] = step.role or ""
    markers = player.script.markers
    answers = replies(step.turn, step.model, markers)
    player.begin_turn(step.turn, step.in_, step.user, answers, attached(step, markers))
    if step.until is None:
        return ended(await player.end_turn(step.in_), seen)
    call, _, what = step.until.partition(".")
    wait = _started if what == "started" else asked
    if await wait(player, call, player.running[step.in_]):
        return seen
    over = ended(await player.end_turn(step.in_), seen)
    missed = "call {} had started" if what == "started" else "the person was asked about call {}"
    return replace(over, outcome="blocked", reason=f"the turn ended before {missed.format(call)}")


async def _started(player: PartPlayer, call: str, turn: asyncio.Task[Answer]) -> bool:
    """Wait until a call's command has started, or the stream has come to its stall; False if the turn ended first."""
    script = player.script
    held = script.stalled(call) if script.holds(call) else player.stage.world.started(script.markers.call_id(call))
    started = asyncio.ensure_future(held)
    try:
        first = asyncio.wait({started, turn}, return_when=asyncio.FIRST_COMPLETED)
        await player.within(first, f"the start of the command of call {call}")
        return started.done()
    finally:
        started.cancel()
        await asyncio.gather(started, return_exceptions=True)


async def _await(player: PartPlayer, step: AwaitStep, seen: StepSeen) -> StepSeen:
    if step.await_ in player.queued:
        return await end_queued(player, step.await_, seen)
    if step.await_ in player.compacting:
        return await end_compaction(player, step.await_, seen)
    if seen.session not in player.running or player.current.get(seen.session) != step.await_:
        raise BlockedError(f"{step.await_} is not running")
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
    player.script.stall(step.release).set()
    return seen


async def _check(player: PartPlayer, step: CheckStep, seen: StepSeen) -> StepSeen:
    if all(step.check not in names for names in player.errands.values()):
        await player.session(step.check)
    return seen


MOVES: Mapping[type, Move] = {
    TurnStep: _turn,
    AwaitStep: _await,
    CancelStep: _cancel,
    ReleaseStep: _release,
    CheckStep: _check,
}
