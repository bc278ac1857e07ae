"""What the provider keeps: conversations by id, refused where the id is unknown, as the real interfaces do.

A `response` is a state that never changes, so continuing it makes a new one; a `conversation` grows under its one id.
Source: design section 4 (server-side state); clauses PRV-1, PRV-2, PRV-6, PRV-7. It serves in-process harnesses now; a
codec that fills `Prompt.stored` makes it serve real ones.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace

from forkproof.adapters.exchange import Drop, ModelReply, Say, Stall, Think, ToolUse
from forkproof.adapters.prompt import Message, Part, Prompt, Reasoning, Stored, Text, ToolCall

__all__ = ["ProviderStore", "UnknownStateError"]

_PREFIX = {"response": "resp", "conversation": "conv"}


class UnknownStateError(Exception):
    """A request continues what the provider does not keep. The message is the provider's own."""


@dataclass(slots=True)
class ProviderStore:
    """Everything that one provider keeps. `nonce` makes its ids this run's own."""

    nonce: str
    _states: dict[str, tuple[Message, ...]] = field(default_factory=dict)
    _ids: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def effective(self, prompt: Prompt) -> Prompt:
        """The prompt as the model reads it: behind what is kept of it. Raises `UnknownStateError`."""
        stored = prompt.stored
        if stored is None or stored.id is None:
            return prompt
        if stored.id not in self._states or not stored.id.startswith(f"{_PREFIX[stored.kind]}_"):
            raise UnknownStateError(f"{stored.kind.title()} with id '{stored.id}' not found.")
        return replace(prompt, messages=(*self._states[stored.id], *prompt.messages))

    def keep(self, prompt: Prompt, effective: Prompt, reply: ModelReply) -> str:
        """Keep a request with its answer, where it was asked for; the id under which it stands, else empty.

        Instructions are not kept: they come with every request. An answer that may break off is not kept either.
        """
        stored = prompt.stored
        if stored is None or any(isinstance(part, Stall | Drop) for part in reply.parts):
            return ""
        id_ = self._id(stored)
        said = (message for message in effective.messages if message.role != "system")
        self._states[id_] = (*said, Message("assistant", tuple(map(_part, _solid(reply)))))
        return id_

    def _id(self, stored: Stored) -> str:
        if stored.kind == "conversation" and stored.id is not None:
            return stored.id
        return f"{_PREFIX[stored.kind]}_{self.nonce}{next(self._ids):06}"


def _solid(reply: ModelReply) -> list[Say | Think | ToolUse]:
    return [part for part in reply.parts if not isinstance(part, Stall | Drop)]


def _part(part: Say | Think | ToolUse) -> Part:
    match part:
        case Say(text):
            return Text(text)
        case Think():
            return Reasoning(part.text, part.opaque)
        case ToolUse():
            return ToolCall(part.id, part.tool, part.arguments)
