"""Moves: what the player does for each kind of step. One table; each module gives the moves of one noun.

A move performs a step on the player's stage and returns what it saw of it. It raises `BlockedError` when the step can't
be tried, since something that it needs did not happen.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from forkproof.conformance.moves import authority, busy, compactions, delegation, durable, files, forks, tree, turns

if TYPE_CHECKING:
    from forkproof.conformance.moves.outcome import Move
    from forkproof.conformance.observation import StepSeen
    from forkproof.conformance.player import PartPlayer

__all__ = ["MOVES", "move"]

MOVES: Mapping[type, Move] = {
    **turns.MOVES,
    **busy.MOVES,
    **compactions.MOVES,
    **forks.MOVES,
    **durable.MOVES,
    **tree.MOVES,
    **delegation.MOVES,
    **files.MOVES,
    **authority.MOVES,
}
"""The move of each kind of step in the language."""


async def move(player: PartPlayer, step: Any, seen: StepSeen) -> StepSeen:
    """Perform one step; `seen` is what is known of it before."""
    return await MOVES[type(step)](player, step, seen)
