"""What the model gave so far: its thinking with the opaque forms, and its calls by the id that each has on the wire.

With it an item is known again in a later prompt although it bears no marker (opaque thinking), and although its id is
not its own (call ids that a provider used twice). Sources: clauses PRV-4, PRV-5, TOOL-5.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from forkproof.adapters.exchange import ModelReply, Say, Think, ToolUse
from forkproof.adapters.model.markers import Markers
from forkproof.adapters.prompt import Prompt, Reasoning, ToolCall

__all__ = ["Given", "Thought"]


@dataclass(frozen=True, slots=True)
class Thought:
    """Thinking that the model gave: to whom it was given, and the item that came right behind it in the same answer.

    `maker` is the model that was asked; `dependent` is empty where the answer ended with the thinking.
    """

    given: Think
    maker: str
    dependent: str


@dataclass(slots=True)
class Given:
    """Everything that the model gave in one part of a trace."""

    thoughts: dict[str, Thought] = field(default_factory=dict)
    calls: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Wire id -> the calls that bear it, in order, each with its arguments."""

    def add(self, reply: ModelReply, prompt: Prompt, markers: Markers) -> None:
        """The model gives this answer to this request."""
        for index, part in enumerate(reply.parts):
            match part:
                case Think():
                    behind = next((d for d in (_item(p, markers) for p in reply.parts[index + 1 :]) if d), "")
                    self.thoughts.setdefault(part.name, Thought(part, prompt.model, behind))
                case ToolUse():
                    self.calls.setdefault(part.id, {}).setdefault(part.name, part.arguments)
                case _:
                    pass

    def call_name(self, call: ToolCall, gone: Iterable[str]) -> str | None:
        """Whose call this is where several bear its id: by marker, arguments, or the first not `gone` by; else None."""
        bearers = self.calls.get(call.id, {})
        if len(bearers) < 2:  # noqa: PLR2004  # an id of one call tells it by itself
            return None
        marked = next((name for name in bearers if re.search(rf"\b{name}[. ]start\b", str(call.arguments))), None)
        if marked is not None:
            return marked
        left = [name for name in bearers if name not in set(gone)] or list(bearers)
        return next((name for name in left if _same(bearers[name], call.arguments)), left[0])

    def shared(self, call_id: str) -> Mapping[str, Any]:
        """The calls that bear this id, if there are several."""
        bearers = self.calls.get(call_id, {})
        return bearers if len(bearers) > 1 else {}

    def thought(self, part: Reasoning, markers: Markers) -> tuple[str, str | None] | None:
        """Which thinking this is and whether it is `intact` or `altered`; None for thinking that is not the trace's.

        Thinking without an opaque form has no such state. What bears an opaque form that was never given is `unknown`.
        """
        by_opaque = next((n for n, t in self.thoughts.items() if part.opaque and t.given.opaque == part.opaque), None)
        marked = next((n for n in markers.find(part.content) if n in self.thoughts), None)
        name = by_opaque or marked
        if name is None:
            return ("unknown.think", "altered") if part.opaque else None
        given = self.thoughts[name].given
        if given.form == "plain":
            return name, None
        whole = part.opaque == given.opaque and (part.content == given.text or given.form == "encrypted")
        return name, "intact" if whole else "altered"


def _item(part: object, markers: Markers) -> str:
    """The item that a part of an answer brings, if thinking can stand before it."""
    match part:
        case Say(text):
            return next(iter(markers.find(text)), "")
        case ToolUse(_, name):
            return f"{name}.call"
        case _:
            return ""


def _same(given: Any, sent: Any) -> bool:
    """Whether a native call holds every text of the abstract one's arguments."""
    return all(text in str(sent) for text in _texts(given))


def _texts(value: Any) -> list[str]:
    match value:
        case str():
            return [value]
        case Mapping():
            return [text for pair in value.items() for each in pair for text in _texts(each)]
        case _:
            return []
