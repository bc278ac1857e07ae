"""Moves in a session's tree: go back to an entry, rewind, clone, label, edit the context."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from forkproof.adapters.protocol import Acknowledged, Forked, ModelReply, Say
from forkproof.adapters.readings import Moved
from forkproof.adapters.tree import Branch, Clone, EditContext, Rewind, SetLabel
from forkproof.conformance.moves.outcome import Move, not_done
from forkproof.conformance.moves.reading import reference
from forkproof.conformance.observation import StepSeen
from forkproof.conformance.part import BlockedError
from forkproof.conformance.paths import moved, rewound
from forkproof.conformance.provenance import Lineage
from forkproof.conformance.trace.steps_tree import BranchStep, CloneStep, EditContextStep, LabelStep, RewindStep

if TYPE_CHECKING:
    from forkproof.conformance.player import PartPlayer

__all__ = ["MOVES"]


async def _branch(player: PartPlayer, step: BranchStep, seen: StepSeen) -> StepSeen:
    session, part, script = await player.session(step.in_), player.part, player.script
    to = await reference(player, step.in_, step.to)
    name = step.branch
    if step.summary is not None:
        script.begin_summary(name, ModelReply((Say(script.markers.mark(step.summary[0].say, f"{name}.summary")),)))
    try:
        answer = await player.ask(Branch(session, to, step.summary is not None))
    finally:
        script.end_summary(name)
    if not isinstance(answer, Moved):
        return not_done(answer, seen)
    part.move(step.in_, name, moved(step.to, part.marks, Lineage.of(player.trace).turn_of_call))
    if step.summary is not None and not any(r.kind == "summary" and r.turn == name for r in script.requests):
        return replace(seen, outcome="blocked", reason="the harness asked for no summary")
    return replace(seen, editor=answer.editor)


async def _rewind(player: PartPlayer, step: RewindStep, seen: StepSeen) -> StepSeen:
    session, part = await player.session(step.in_), player.part
    path, turn = part.paths[step.in_], part.turns.get(step.before)
    if turn is None or step.before not in path:
        raise BlockedError(f"turn {step.before} is not on the path of {step.in_}")
    turns = len(path) - path.index(step.before)
    marker = player.script.markers.tag(f"{step.before}.user")
    answer = await player.ask(Rewind(session, turns, marker, turn.native))
    if not isinstance(answer, Moved):
        return not_done(answer, seen)
    part.move(step.in_, step.rewind, rewound(step.before, part.marks))
    return replace(seen, editor=answer.editor)


async def _clone(player: PartPlayer, step: CloneStep, seen: StepSeen) -> StepSeen:
    session, part = await player.session(step.in_), player.part
    directory = part.directories[step.in_]
    answer = await player.ask(Clone(session, directory))
    if not isinstance(answer, Forked):
        return not_done(answer, seen)
    part.paths[step.clone] = list(part.paths[step.in_])
    part.directories[step.clone] = directory
    part.adopt(step.clone, answer)
    return seen


async def _label(player: PartPlayer, step: LabelStep, seen: StepSeen) -> StepSeen:
    session = await player.session(step.in_)
    entry = await reference(player, step.in_, step.of)
    # A marked label would show as an item in a prompt, where it must never be.
    text = None if step.text is None else player.script.markers.mark(step.text, f"{step.label}.label")
    answer = await player.ask(SetLabel(session, entry, text))
    return seen if isinstance(answer, Acknowledged) else not_done(answer, seen)


async def _edit_context(player: PartPlayer, step: EditContextStep, seen: StepSeen) -> StepSeen:
    session, name = await player.session(step.in_), f"{step.edit_context}.edit"
    entry = await reference(player, step.in_, step.of)
    answer = await player.ask(EditContext(session, entry, player.script.markers.mark(step.show, name)))
    if not isinstance(answer, Acknowledged):
        return not_done(answer, seen)
    player.script.produced.add(name)
    return seen


MOVES: Mapping[type, Move] = {
    BranchStep: _branch,
    RewindStep: _rewind,
    CloneStep: _clone,
    LabelStep: _label,
    EditContextStep: _edit_context,
}
