"""Moves of scopes, child agents and wake-ups, and the reading of side state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from forkproof.adapters.protocol import Acknowledged, ModelReply, Say
from forkproof.adapters.side import Advance, Delegate, Fold, ReadState, ScopeOpened, StateRead
from forkproof.conformance.moves.outcome import Move, not_done
from forkproof.conformance.observation import StepSeen
from forkproof.conformance.part import BlockedError
from forkproof.conformance.side import Errand, errands
from forkproof.conformance.stage import replies
from forkproof.conformance.trace.model import TurnStep
from forkproof.conformance.trace.names import calls_of
from forkproof.conformance.trace.steps_side import DelegateStep, DueStep, FoldStep

if TYPE_CHECKING:
    from forkproof.conformance.player import PartPlayer

__all__ = ["MOVES", "begin_errands", "read_state"]


async def _delegate(player: PartPlayer, step: DelegateStep, seen: StepSeen) -> StepSeen:
    answer = await player.ask(Delegate(await player.session(step.in_)))
    if not isinstance(answer, ScopeOpened):
        return not_done(answer, seen)
    part = player.part
    part.sessions[step.delegate] = answer.scope
    part.directories[step.delegate] = part.directories[step.in_]
    part.paths[step.delegate] = []
    return seen


async def _fold(player: PartPlayer, step: FoldStep, seen: StepSeen) -> StepSeen:
    answer = await player.ask(Fold(await player.session(step.fold)))
    return seen if isinstance(answer, Acknowledged) else not_done(answer, seen)


async def _due(player: PartPlayer, step: DueStep, seen: StepSeen) -> StepSeen:
    if f"{step.due}.call" not in player.script.produced:
        raise BlockedError(f"the wake-up {step.due} was never set")
    turn, after = _setting(player, step.due)
    errand = next(e for e in errands(turn, player.script.markers, later=True) if e.name == step.due)
    player.script.begin_turn(errand.name, _replies(player, errand))
    player.script.produced.discard(f"{errand.name}.user")  # it is said only where the harness says it
    answer = await player.ask(Advance(after))
    player.script.end_turn(errand.name)
    if any(request.turn == errand.name for request in player.script.requests):
        player.script.produced.add(f"{errand.name}.user")
    return seen if isinstance(answer, Acknowledged) else not_done(answer, seen)


def _setting(player: PartPlayer, name: str) -> tuple[TurnStep, int]:
    for step in player.trace.steps:
        if isinstance(step, TurnStep):
            for _, call in calls_of(step):
                if call.call == name and call.schedule is not None:
                    return step, call.schedule.after
    raise BlockedError(f"no call {name} sets a wake-up")


def begin_errands(player: PartPlayer, step: Any) -> tuple[str, ...]:
    """From now on requests of the child agents that a turn's calls start are expected; returns their names."""
    names = []
    for errand in errands(step, player.script.markers, later=False):
        player.script.begin_turn(errand.name, _replies(player, errand))
        names.append(errand.name)
    return tuple(names)


def _replies(player: PartPlayer, errand: Errand) -> tuple[ModelReply, ...]:
    *before, last = replies(errand.name, errand.model, player.script.markers)
    if last.parts and isinstance(last.parts[-1], Say) and errand.closing:
        closed = replace(last.parts[-1], text=last.parts[-1].text + errand.closing)
        last = replace(last, parts=(*last.parts[:-1], closed))
    return (*before, last)


async def read_state(player: PartPlayer, index: int, label: str) -> Mapping[str, StateRead]:
    """What the harness tells of side state after this step, by session, as far as the step looks at it."""
    wanted = [e for entry in player.trace.steps[index].expect for e in entry.values()]
    sessions: list[str] = []
    if any(e.todo is not None or e.schedules is not None for e in wanted):
        sessions = [label]
    if any(e.usage is not None or e.processes is not None for e in wanted):
        sessions = list(player.part.sessions)
    found = {}
    for session in sessions:
        if session in player.part.sessions:
            answer = await player.ask(ReadState(player.part.sessions[session]))
            if isinstance(answer, StateRead):
                found[session] = answer
    return found


MOVES: Mapping[type, Move] = {DelegateStep: _delegate, FoldStep: _fold, DueStep: _due}
