"""Moves of files: the person changes some, or asks the harness to put some back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from forkproof.adapters.side import FilesPutBack, PutBack
from forkproof.conformance.moves.outcome import Move, not_done
from forkproof.conformance.observation import StepSeen
from forkproof.conformance.part import BlockedError
from forkproof.conformance.trace.steps_side import RestoreStep, UserEditsStep

if TYPE_CHECKING:
    from forkproof.conformance.player import PartPlayer

__all__ = ["MOVES"]


async def _user_edits(player: PartPlayer, step: UserEditsStep, seen: StepSeen) -> StepSeen:
    await player.session(step.in_)
    player.stage.world.write(player.part.directories[step.in_], step.write)
    return seen


async def _restore(player: PartPlayer, step: RestoreStep, seen: StepSeen) -> StepSeen:
    session = await player.session(step.in_)
    turn = player.part.turns.get(step.before)
    if turn is None:
        raise BlockedError(f"turn {step.before} was not played")
    marker = player.script.markers.tag(f"{step.before}.user")
    answer = await player.ask(PutBack(session, marker, turn.native))
    return replace(seen, put_back=answer) if isinstance(answer, FilesPutBack) else not_done(answer, seen)


MOVES: Mapping[type, Move] = {UserEditsStep: _user_edits, RestoreStep: _restore}
