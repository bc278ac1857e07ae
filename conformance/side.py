"""What a trace says statically of side state: the calls of its tools, and the turns that such calls bring.

A child agent, a message to one and a wake-up each bring a turn of their own, which goes by the name of the call. The
words that end a child's turn carry the end marker of the call: so the call's result shows as done only where these
words were delivered, whatever the harness itself says of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from forkproof.adapters.model.markers import Markers
from forkproof.adapters.protocol import ToolUse
from forkproof.conformance.trace.names import calls_of
from forkproof.conformance.trace.tools import AgentMessage, AgentTask, CallStep, ModelStep, WakeUp

__all__ = ["SIDE_TOOLS", "Errand", "errands", "side_use"]

SIDE_TOOLS = frozenset({"agent", "tell", "todo", "memory", "schedule"})
"""The tools whose arguments hold texts, and no more than texts, for the harness."""


class Errand(NamedTuple):
    """A turn that a call brings. `closing` is what its last words carry besides their own marker."""

    name: str
    model: tuple[ModelStep, ...]
    closing: str


def errands(turn: Any, markers: Markers, *, later: bool) -> Iterator[Errand]:
    """The turns that the calls of a turn bring: those of child agents, or `later` those of wake-ups."""
    for _, call in calls_of(turn):
        errand = call.errand
        if errand is not None and isinstance(errand, WakeUp) is later:
            closing = "" if later else f" {markers.tag(f'{call.call}.end')}"
            yield Errand(call.call, errand.model, closing)


def side_use(call: CallStep, markers: Markers) -> ToolUse:
    """The call of a side tool on the wire. Each text is marked, so that it is found wherever a harness puts it."""
    name = call.call
    returns = not isinstance(call.errand, AgentTask | AgentMessage)
    return ToolUse(
        id=markers.call_id(name),
        name=name,
        tool=call.tool,
        arguments=_arguments(call, markers),
        start=markers.tag(f"{name}.start"),
        end=markers.tag(f"{name}.end") if returns else "",
    )


def _arguments(call: CallStep, markers: Markers) -> Any:
    user = f"{call.call}.user"
    match call.errand:
        case AgentTask(task=task, context=context):
            return {"task": markers.mark(task, user), "context": context}
        case AgentMessage(agent=agent, message=message):
            return {"agent": markers.call_id(agent), "text": markers.mark(message, user)}
        case WakeUp(after=after, message=message):
            return {"after": after, "text": markers.mark(message, user)}
        case _:
            return _noted(call, markers)


def _noted(call: CallStep, markers: Markers) -> Any:
    texts: Iterable[str] = call.todo or (call.memory or "",)
    marked = [markers.mark(text, f"{call.call}.{call.tool}") for text in texts]
    return {"items": marked} if call.tool == "todo" else marked[0]
