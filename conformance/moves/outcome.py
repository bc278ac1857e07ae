"""From an adapter's answer to what is written down of a step."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from forkproof.adapters.protocol import Answer, Refused, TurnEnded, Unknown, Unsupported
from forkproof.conformance.observation import StepSeen

if TYPE_CHECKING:
    from forkproof.conformance.player import PartPlayer

__all__ = ["Move", "ended", "not_done"]

Move: TypeAlias = Callable[["PartPlayer", Any, StepSeen], Awaitable[StepSeen]]


def ended(answer: Answer, seen: StepSeen) -> StepSeen:
    """A turn's end, or why there was none."""
    if isinstance(answer, TurnEnded):
        return replace(seen, stop=answer.stop, detail=answer.detail)
    return not_done(answer, seen)


def not_done(answer: Answer, seen: StepSeen) -> StepSeen:
    """A step that was refused, is not supported, or whose answer was lost."""
    match answer:
        case Refused(reason, message):
            return replace(seen, outcome="refused", reason=reason, detail=message)
        case Unsupported(what):
            return replace(seen, outcome="unsupported", reason=what)
        case Unknown(why):
            return replace(seen, outcome="unknown", reason=why)
        case _:
            return replace(seen, outcome="unknown", reason=f"an answer of another kind: {answer}")
