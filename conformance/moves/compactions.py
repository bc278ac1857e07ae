"""Moves of compactions: ask for one, wait until it is asked of the model, let it go on, wait for its end."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from forkproof.adapters.protocol import (
    Acknowledged,
    Answer,
    Compact,
    ModelReply,
    Refused,
    Say,
    Stall,
    Unknown,
    Unsupported,
)
from forkproof.conformance.moves.outcome import Move, not_done
from forkproof.conformance.observation import StepSeen
from forkproof.conformance.trace.model import CompactStep

if TYPE_CHECKING:
    from forkproof.conformance.player import PartPlayer

__all__ = ["MOVES", "end_compaction"]


async def _compact(player: PartPlayer, step: CompactStep, seen: StepSeen) -> StepSeen:
    session, name, script = await player.session(step.in_), step.compact, player.script
    said = Say(script.markers.mark(step.model[0].say, f"{name}.summary"))
    held = (Stall(name),) if step.until else ()
    script.begin_summary(name, ModelReply((*held, said)))
    player.compacting[name] = (step.in_, asyncio.ensure_future(player.stage.adapter.perform(Compact(session))))
    if step.until is None or not await _asked(player, name):
        return await end_compaction(player, name, seen)
    return seen


async def _asked(player: PartPlayer, name: str) -> bool:
    """Wait until the model was asked for the summary; False if the compaction ended first."""
    asked = asyncio.ensure_future(player.script.stalled(name))
    try:
        first = asyncio.wait({asked, player.compacting[name][1]}, return_when=asyncio.FIRST_COMPLETED)
        await player.within(first, f"the summary request of compaction {name}")
        return asked.done()
    finally:
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)


async def end_compaction(player: PartPlayer, name: str, seen: StepSeen) -> StepSeen:
    """Wait for the end of a compaction."""
    _, task = player.compacting[name]
    answer: Answer = await player.within(asyncio.shield(task), f"the end of compaction {name}")
    del player.compacting[name]
    player.script.end_summary(name)
    if isinstance(answer, Refused | Unsupported | Unknown):
        return not_done(answer, seen)
    if not any(r.kind == "summary" and r.turn == name for r in player.script.requests):
        return replace(seen, outcome="blocked", reason="the harness asked for no summary")
    if isinstance(answer, Acknowledged):
        if answer.native:
            player.part.compactions[name] = answer.native
        if answer.covers is not None:
            player.part.covered[name] = answer.covers
    return seen


MOVES: Mapping[type, Move] = {CompactStep: _compact}
