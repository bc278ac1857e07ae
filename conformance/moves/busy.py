"""Moves that speak to a session while it is busy: steer a turn, queue a message, and what waits for its end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from forkproof.adapters.protocol import Acknowledged, AwaitQueued, Queue, Steer, TurnEnded
from forkproof.conformance.moves.outcome import Move, ended, not_done
from forkproof.conformance.observation import StepSeen, TurnSeen
from forkproof.conformance.part import BlockedError
from forkproof.conformance.stage import replies
from forkproof.conformance.trace.model import QueueStep, SteerStep

if TYPE_CHECKING:
    from forkproof.conformance.player import PartPlayer

__all__ = ["MOVES", "end_queued"]


async def _steer(player: PartPlayer, step: SteerStep, seen: StepSeen) -> StepSeen:
    session = await player.session(step.in_)
    if step.in_ not in player.current:
        raise BlockedError(f"no turn runs in {step.in_}")
    turn = player.current[step.in_]
    player.script.begin_steering(step.steer, turn)
    answer = await player.ask(Steer(session, player.script.markers.mark(step.user, f"{step.steer}.user")))
    if isinstance(answer, Acknowledged):
        return seen
    player.script.end_steering(step.steer)
    return not_done(answer, seen)


async def _queue(player: PartPlayer, step: QueueStep, seen: StepSeen) -> StepSeen:
    session = await player.session(step.in_)
    if step.in_ not in player.running and step.in_ not in player.compacting_in():
        raise BlockedError(f"nothing runs in {step.in_}")
    player.script.begin_turn(step.queue, replies(step.queue, step.model, player.script.markers))
    answer = await player.ask(Queue(session, player.script.markers.mark(step.user, f"{step.queue}.user")))
    if not isinstance(answer, Acknowledged):
        player.script.end_turn(step.queue)
        player.script.produced.discard(f"{step.queue}.user")
        return not_done(answer, seen)
    player.part.turns[step.queue] = TurnSeen(step.in_)
    player.queued[step.queue] = answer.native
    return seen


async def end_queued(player: PartPlayer, turn: str, seen: StepSeen) -> StepSeen:
    """Wait for the end of the turn that a queued message became."""
    label = player.part.turns[turn].session
    player.part.paths[label].append(turn)
    answer = await player.ask(AwaitQueued(player.part.session(label), player.queued.pop(turn)))
    player.script.end_turn(turn)
    if isinstance(answer, TurnEnded):
        player.part.turns[turn] = TurnSeen(label, answer.native, answer.stop)
    return ended(answer, seen)


MOVES: Mapping[type, Move] = {SteerStep: _steer, QueueStep: _queue}
