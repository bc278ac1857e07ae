"""Moves that make a new session from another's history."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from forkproof.adapters.protocol import Fork, Forked
from forkproof.conformance.moves.outcome import Move, not_done
from forkproof.conformance.observation import StepSeen
from forkproof.conformance.trace.model import ForkStep
from forkproof.conformance.trace.settings import chosen

if TYPE_CHECKING:
    from forkproof.conformance.player import PartPlayer

__all__ = ["MOVES"]

# How long a fork of a busy source may take before it counts as waiting, where the harness declares that it waits.
PENDING_AFTER = 2.0


async def _fork(player: PartPlayer, step: ForkStep, seen: StepSeen) -> StepSeen:
    known = isinstance(step.in_, str)
    source = await player.session(step.in_) if isinstance(step.in_, str) else step.in_.unknown
    label = step.in_ if isinstance(step.in_, str) else "main"
    part = player.part
    directory = part.directories[label]
    if step.workspace == "isolated":
        directory = player.stage.world.reserve(f"{part.name}-{step.fork}")
        if step.copying == "blocked":
            player.stage.world.block(directory)
    operation = part.forks[step.fork] = Fork(
        source,
        part.cut(step, label),
        step.workspace,
        directory,
        exists=known,
        settings=chosen(step.settings),
        request=part.request(step.fork),
        dies=step.dies,
    )
    if step.dies:
        # Nobody hears what came of it: a later `retry` may find the child there.
        part.prepare_child(step, label, directory)
    task = asyncio.ensure_future(player.ask(operation))
    if player.stage.description.policies.get("busy_source") == "wait" and label in player.running:
        done, _ = await asyncio.wait({task}, timeout=PENDING_AFTER)
        if not done:
            player.waiting[step.fork] = task
            part.prepare_child(step, label, directory)
            return replace(seen, outcome="pending", reason="the source is busy")
    answer = await task
    if isinstance(answer, Forked):
        part.prepare_child(step, label, directory)
        part.adopt(step.fork, answer)
        return seen
    return not_done(answer, seen)


MOVES: Mapping[type, Move] = {ForkStep: _fork}
