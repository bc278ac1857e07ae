"""Provider-bound content: what of a history may go to whom, and what the provider has of it already.

Source: clauses PRV-1 to PRV-7; seed 000 (identity in the provider is no part of a conversation).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

from forkproof.reference.entries import Answered, Entry
from forkproof.reference.prompt import Message, Reasoning
from forkproof.reference.session import Header

__all__ = ["CacheKey", "Continuation", "Keeping", "Kept", "cache_key", "continuation", "thinking"]

Keeping: TypeAlias = Literal["response", "conversation"]
"""How the provider keeps conversations; see `prompt.Stored`."""

CacheKey: TypeAlias = Literal["shared", "own", "none"]
"""Which cache key a session sends: its family's, one of its own, or none (clause PRV-3)."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What the provider keeps under an id, as far as this harness knows, and the session that wrote it."""

    kind: Keeping
    session: str
    messages: tuple[Message, ...]


class Continuation(NamedTuple):
    """The id of the kept state that a request continues, None to begin anew, and the messages that it still carries."""

    id: str | None
    rest: tuple[Message, ...]


def continuation(messages: tuple[Message, ...], kept: Mapping[str, Kept], kind: Keeping, session: str) -> Continuation:
    """How to say `messages`, the whole context of a session, to a provider that keeps some of it.

    A kept state serves only if it is, message for message, the beginning of the context: so after a cut, a compaction
    or an edit the request begins anew, with everything (PRV-2, PRV-6). A response never changes, and whoever has its
    beginning may continue it; a conversation grows, and belongs to the session that began it (PRV-1).
    """
    usable = (
        (len(state.messages), id_)
        for id_, state in kept.items()
        if state.kind == kind
        and (kind == "response" or state.session == session)
        and messages[: len(state.messages)] == state.messages
    )
    length, id_ = max(usable, default=(0, None))
    return Continuation(id_, messages[length:])


def thinking(entries: Sequence[Entry], model: str) -> Sequence[Entry]:
    """The entries as this model may read them: opaque thinking of another is left out, its own stays byte for byte.

    What was said and called stands, so that nothing that depended on the thinking is lost (PRV-4, PRV-5).
    """
    return [_without_thinking(entry) if _foreign(entry, model) else entry for entry in entries]


def _foreign(entry: Entry, model: str) -> bool:
    body = entry.body
    return type(body) is Answered and body.maker != model and any(type(part) is Reasoning for part in body.parts)


def _without_thinking(entry: Entry) -> Entry:
    message = entry.message
    if message is None:
        return entry
    parts = tuple(part for part in message.parts if not (isinstance(part, Reasoning) and part.opaque))
    return replace(entry, message=Message(message.role, parts) if parts else None)


def cache_key(header: Header, choice: CacheKey) -> str | None:
    """The key by which a session's requests share the provider's prompt cache; never its identity (PRV-3)."""
    match choice:
        case "shared":
            return f"family-{header.family or header.id}"
        case "own":
            return f"family-{header.id}"
        case "none":
            return None
