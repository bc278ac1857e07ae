"""Moves of storage and identity: restart, resume, delete, a fork asked for twice, steps at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from forkproof.adapters.durable import Delete, Restart, Resume
from forkproof.adapters.protocol import Acknowledged, Forked, SessionOpened
from forkproof.conformance.moves.outcome import Move, not_done
from forkproof.conformance.observation import StepSeen
from forkproof.conformance.part import BlockedError
from forkproof.conformance.trace.steps import AtOnceStep
from forkproof.conformance.trace.steps_durable import DeleteStep, RestartStep, ResumeStep, RetryStep

if TYPE_CHECKING:
    from forkproof.conformance.player import PartPlayer

__all__ = ["MOVES", "wake"]


async def _restart(player: PartPlayer, step: RestartStep, seen: StepSeen) -> StepSeen:
    answer = await player.ask(Restart(kill=step.restart == "kill"))
    if not isinstance(answer, Acknowledged):
        return not_done(answer, seen)
    part = player.part
    for label in list(player.running):
        # What a turn that was ended with its process answers, if anything, tells nothing.
        task = player.running.pop(label)
        await player.within(asyncio.wait({task}), f"the end of the turn in {label} with its process")
        await asyncio.gather(task, return_exceptions=True)
        turn = part.paths[label][-1]
        for name in (turn, *player.errands.get(turn, ())):
            player.script.end_turn(name)
    part.stored = set(part.sessions)
    return seen


async def wake(player: PartPlayer, label: str) -> None:
    """Open a session that is only stored, so that it can be asked for its next prompt."""
    part = player.part
    if label in part.stored:
        await player.ask(Resume(part.session(label)))
        part.stored.discard(label)


async def _resume(player: PartPlayer, step: ResumeStep, seen: StepSeen) -> StepSeen:
    part, label = player.part, step.resume
    asked = await player.session(label)
    answer = await player.ask(Resume(asked))
    if not isinstance(answer, SessionOpened):
        return not_done(answer, seen)
    part.stored.discard(label)
    part.opened[seen.index] = (asked, answer.session)
    # A person goes on in what was opened, whatever that is.
    part.sessions[label] = answer.session
    return seen


async def _delete(player: PartPlayer, step: DeleteStep, seen: StepSeen) -> StepSeen:
    part, label = player.part, step.delete
    session = await player.session(label)
    markers = player.script.markers
    turns = []
    for turn in step.turns or ():
        if turn not in part.turns:
            raise BlockedError(f"turn {turn} was not played")
        turns.append(part.turns[turn].native or markers.tag(f"{turn}.user"))
    answer = await player.ask(Delete(session, tuple(turns)))
    if not isinstance(answer, Acknowledged):
        return not_done(answer, seen)
    part.paths[label] = [turn for turn in part.paths[label] if turn not in (step.turns or ())]
    return seen


async def _retry(player: PartPlayer, step: RetryStep, seen: StepSeen) -> StepSeen:
    part, label = player.part, step.retry
    asked = part.forks.get(label)
    if asked is None:
        raise BlockedError(f"the fork {label} was never asked for")
    answer = await player.ask(replace(asked, dies=None))
    if not isinstance(answer, Forked):
        return not_done(answer, seen)
    if label in part.sessions:
        part.records[label] = answer.record
    else:
        part.adopt(label, answer)
    return seen


async def _together(player: PartPlayer, step: AtOnceStep, seen: StepSeen) -> StepSeen:
    """All steps at once; each outcome is kept. Together they count as done if any of them came to a clear end."""
    found = await asyncio.gather(*(_one(player, inner, seen.index) for inner in step.together))
    player.part.together.extend(found)
    if any(each.outcome in ("done", "refused", "pending") for each in found):
        return seen
    return replace(seen, outcome=found[0].outcome, reason="; ".join(f"{each.name}: {each.reason}" for each in found))


async def _one(player: PartPlayer, step: Any, index: int) -> StepSeen:
    from forkproof.conformance.moves import move
    from forkproof.conformance.stage import name_of, session_of

    key, name = name_of(step)
    seen = StepSeen(index, key, name, session_of(step, player.trace), "done")
    try:
        return await move(player, step, seen)
    except BlockedError as blocked:
        return replace(seen, outcome="blocked", reason=str(blocked))


MOVES: Mapping[type, Move] = {
    RestartStep: _restart,
    ResumeStep: _resume,
    DeleteStep: _delete,
    RetryStep: _retry,
    AtOnceStep: _together,
}
