"""What the provider keeps: conversations by id, refused where an id is unknown, as the real interfaces do.

A `response` is a state that never changes, so continuing it makes a new one; a `conversation` grows under its one id; a
`thread` moves on with each answer, and each answer is continued at most once, by a request with the same settings.
Sources: design section 4 (server-side state); clauses PRV-1, PRV-2, PRV-6, PRV-7; OpenAI's and Anthropic's own errors.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from forkproof.adapters.exchange import Drop, ModelReply, Say, Stall, Think, ToolUse
from forkproof.adapters.prompt import Message, Part, Prompt, Reasoning, Stored, Text, ToolCall

__all__ = ["ProviderStore", "UnknownStateError"]

_PREFIX = {"response": "resp", "conversation": "conv", "thread": "msg"}

_BOUND = ("thinking", "thinking_budget", "reasoning_effort", "tool_choice")
"""Settings that a thread keeps from its first request to its last."""


class UnknownStateError(Exception):
    """A request continues what the provider does not keep. Message, HTTP status and code are the provider's own."""

    def __init__(self, message: str, status: int, code: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


@dataclass(slots=True)
class _State:
    """What stands under one id. A thread also keeps its instructions, its tools, and the settings that it is bound to.

    `place` is the id that all states of one thread share; `continued` says that a thread has moved on from here.
    """

    kind: str
    place: str
    messages: tuple[Message, ...] = ()
    tools: tuple[str, ...] = ()
    bound: Mapping[str, str] = field(default_factory=dict)
    continued: bool = False


@dataclass(frozen=True, slots=True)
class _Exchange:
    """A request with its answer, on the way to be kept under `id`."""

    id: str
    asked: Prompt
    effective: Prompt
    answer: Message


@dataclass(slots=True)
class ProviderStore:
    """Everything that one provider keeps. `nonce` makes its ids this run's own."""

    nonce: str
    _states: dict[str, _State] = field(default_factory=dict)
    _held: dict[str, list[_Exchange]] = field(default_factory=dict)
    _ids: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def converse(self) -> str:
        """A new, empty conversation, known by this id."""
        id_ = self._id(Stored("conversation"))
        self._states[id_] = _State("conversation", id_)
        return id_

    def effective(self, prompt: Prompt) -> Prompt:
        """The prompt as the model reads it: behind what is kept of it. Raises `UnknownStateError`."""
        stored = prompt.stored
        if stored is None or stored.id is None:
            return prompt
        state = self._states.get(stored.id)
        if state is None or state.kind != stored.kind:
            raise _unknown(stored)
        if stored.kind == "thread" and state.continued:
            raise UnknownStateError(f"{stored.id} was continued already.", 400, "thread_already_continued")
        if stored.kind == "thread" and state.bound != _bound(prompt):
            fields = sorted(name for name, value in _bound(prompt).items() ^ state.bound.items())
            said = f"The request differs from its thread in: {', '.join(dict.fromkeys(fields))}."
            raise UnknownStateError(said, 400, "thread_fingerprint_mismatch")
        return replace(prompt, messages=(*state.messages, *prompt.messages), tools=prompt.tools or state.tools)

    def keep(self, prompt: Prompt, effective: Prompt, reply: ModelReply) -> str:
        """Keep a request with its answer, where it was asked for; the id that the answer tells, else empty.

        An answer that is held is kept once it is released for the last time (`released`), one that breaks off never.
        """
        stored = prompt.stored
        if stored is None or not stored.keep or any(isinstance(part, Drop) for part in reply.parts):
            return ""
        answer = Message("assistant", tuple(_part(part) for part in reply.parts if not isinstance(part, Stall | Drop)))
        exchange = _Exchange(self._id(stored), prompt, effective, answer)
        stalls = [part.name for part in reply.parts if isinstance(part, Stall)]
        if stalls:
            self._held.setdefault(stalls[-1], []).append(exchange)
        else:
            self._commit(exchange, stored)
        return exchange.id

    def released(self, stall: str) -> None:
        """An answer that was held at this place goes on to its end."""
        for exchange in self._held.pop(stall, []):
            if exchange.asked.stored is not None:
                self._commit(exchange, exchange.asked.stored)

    def place(self, stored: Stored | None, id_: str) -> str:
        """Where an exchange was written: its own id, or what all answers of its thread share."""
        before = self._states.get(stored.id) if stored is not None and stored.id is not None else None
        return before.place if before is not None and before.kind == "thread" and id_ else id_

    def _commit(self, exchange: _Exchange, stored: Stored) -> None:
        """The state after an exchange.

        Instructions of a response or a conversation are not kept: they come with every request. What a conversation
        gained since the request began stands before it.
        """
        before = self._states.get(stored.id) if stored.id is not None else None
        if stored.kind == "thread":
            said, tools = exchange.effective.messages, exchange.effective.tools
            if before is not None:
                before.continued = True
            place = exchange.id if before is None else before.place
            bound = _bound(exchange.asked)
        else:
            kept = before.messages if before is not None else ()
            said, tools = (*kept, *(m for m in exchange.asked.messages if m.role != "system")), ()
            place, bound = exchange.id, {}
        self._states[exchange.id] = _State(stored.kind, place, (*said, exchange.answer), tools, bound)

    def _id(self, stored: Stored) -> str:
        if stored.kind == "conversation" and stored.id is not None:
            return stored.id
        return f"{_PREFIX[stored.kind]}_{self.nonce}{next(self._ids):06}"


def _unknown(stored: Stored) -> UnknownStateError:
    match stored.kind:
        case "response":
            said = f"Previous response with id '{stored.id}' not found."
            return UnknownStateError(said, 400, "previous_response_not_found")
        case "conversation":
            return UnknownStateError(f"Conversation with id '{stored.id}' not found.", 404, "")
        case "thread":
            return UnknownStateError(f"The thread of {stored.id} was not found.", 404, "thread_not_found")


def _bound(prompt: Prompt) -> dict[str, str]:
    return {"model": prompt.model} | {name: prompt.settings[name] for name in _BOUND if name in prompt.settings}


def _part(part: Say | Think | ToolUse) -> Part:
    match part:
        case Say(text):
            return Text(text)
        case Think():
            return Reasoning(part.text, part.opaque)
        case ToolUse():
            return ToolCall(part.id, part.tool, part.arguments)
