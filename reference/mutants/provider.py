"""Mutants that confuse what a provider keeps, what is bound to it, or what is advertised. Clauses PRV-1 to 8, ENV-8."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from forkproof.reference.entries import Answered, Entry
from forkproof.reference.mutants.mutant import Mutant
from forkproof.reference.prompt import Blob, Message, Part, Reasoning, Text
from forkproof.reference.provider import CacheKey, Continuation, Keeping, Kept, continuation, thinking
from forkproof.reference.rules import Rules
from forkproof.reference.session import Header

__all__ = ["MUTANTS"]

Messages: TypeAlias = tuple[Message, ...]
KeptStates: TypeAlias = Mapping[str, Kept]
OfRules: TypeAlias = Callable[[Rules], Rules]


# --- what the provider keeps -----------------------------------------------------------------------------------------


def _continuing(rule: Callable[[Messages, KeptStates, Keeping, str], Continuation]) -> OfRules:
    return lambda rules: replace(rules, continuation=rule)


def _newest_of_all(messages: Messages, kept: KeptStates, kind: Keeping, session: str) -> Continuation:
    """A session that has nothing of its own yet continues the newest state that there is."""
    if kept and not any(state.session == session for state in kept.values()):
        return Continuation(list(kept)[-1], messages[-1:])
    return continuation(messages, kept, kind, session)


def _anyones_conversation(messages: Messages, kept: KeptStates, kind: Keeping, session: str) -> Continuation:
    """Whose conversation it is does not count, as if it were a state that never changes."""
    own = {id_: replace(state, session=session) for id_, state in kept.items()}
    return continuation(messages, own, kind, session)


def _only_what_is_new(messages: Messages, kept: KeptStates, kind: Keeping, session: str) -> Continuation:
    """The provider is taken to have the prefix of a fork, whatever is continued."""
    found = continuation(messages, kept, kind, session)
    anew = found.id is None and kept and not any(state.session == session for state in kept.values())
    return Continuation(None, messages[-1:]) if anew else found


def _everything_again(messages: Messages, kept: KeptStates, kind: Keeping, session: str) -> Continuation:
    """What is kept is continued, and yet the whole context is sent along."""
    return Continuation(continuation(messages, kept, kind, session).id, messages)


def _own_whatever_changed(messages: Messages, kept: KeptStates, kind: Keeping, session: str) -> Continuation:
    """A session goes on with its own state, also when its context is another one since."""
    found = continuation(messages, kept, kind, session)
    own = [id_ for id_, state in kept.items() if state.session == session and state.kind == kind]
    return Continuation(own[-1], messages[-1:]) if found.id is None and own else found


def _one_id_a_session(messages: Messages, kept: KeptStates, kind: Keeping, session: str) -> Continuation:
    """A session remembers one id, its newest, whatever branch it stands on."""
    own = {id_: state for id_, state in kept.items() if state.session == session and state.kind == kind}
    if not own:
        return continuation(messages, kept, kind, session)
    newest, state = list(own.items())[-1]
    known = len(state.messages) if messages[: len(state.messages)] == state.messages else len(messages) - 1
    return Continuation(newest, messages[known:])


def _made_up_ids(messages: Messages, kept: KeptStates, kind: Keeping, session: str) -> Continuation:
    """An inherited state goes by an id of the harness's own making."""
    found = continuation(messages, kept, kind, session)
    foreign = found.id is not None and kept[found.id].session != session
    return found._replace(id=f"{found.id}-of-{session}") if foreign else found


def _identity_as_cache_key(header: Header, choice: CacheKey) -> str:
    del choice
    return header.id


# --- opaque thinking -------------------------------------------------------------------------------------------------


def _thinking(change: Callable[[Sequence[Entry], str], Sequence[Entry]]) -> OfRules:
    return lambda rules: replace(rules, thinking=change)


def _of_parts(change: Callable[[tuple[Part, ...]], tuple[Part, ...]]) -> OfRules:
    """Change the parts of answers that hold thinking, as this model may read them."""

    def changed(entry: Entry) -> Entry:
        message = entry.message
        if type(entry.body) is not Answered or message is None:
            return entry
        return replace(entry, message=Message(message.role, change(message.parts)))

    return _thinking(lambda entries, model: [changed(entry) for entry in thinking(entries, model)])


def _without_signature(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    return tuple(replace(part, opaque="") if isinstance(part, Reasoning) else part for part in parts)


def _trimmed(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    return tuple(replace(part, content=part.content[:12]) if isinstance(part, Reasoning) else part for part in parts)


def _behind_its_dependents(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    return tuple(sorted(parts, key=lambda part: isinstance(part, Reasoning)))


def _without_dependents(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    held = tuple(part for part in parts if isinstance(part, Reasoning))
    return held or parts


def _answers_too(entries: Sequence[Entry], model: str) -> list[Entry]:
    """With the thinking of another model all of its answer is left out."""
    return [entry for entry in entries if not _made_by_another(entry, model)]


def _made_by_another(entry: Entry, model: str) -> bool:
    body = entry.body
    return type(body) is Answered and body.maker != model and any(isinstance(part, Reasoning) for part in body.parts)


# --- attachments -----------------------------------------------------------------------------------------------------


def _shown(lost: Callable[[Entry, Sequence[Entry], Entry], bool], of: Callable[[Blob], tuple[Part, ...]]) -> OfRules:
    """Show the attachments of `lost` entries otherwise: an entry, the context and the leaf tell which."""

    def changed(rules: Rules) -> Rules:
        def shown(entries: Sequence[Entry], leaf: Entry | None) -> Sequence[Entry]:
            found = rules.shown(entries, leaf)
            if leaf is None:
                return found
            return [_with_parts(entry, of) if lost(entry, found, leaf) else entry for entry in found]

        return replace(rules, shown=shown)

    return changed


def _with_parts(entry: Entry, of: Callable[[Blob], tuple[Part, ...]]) -> Entry:
    message = entry.message
    if message is None or not any(isinstance(part, Blob) for part in message.parts):
        return entry
    parts = [of(part) if isinstance(part, Blob) else (part,) for part in message.parts]
    return replace(entry, message=Message(message.role, tuple(part for each in parts for part in each)))


def _inherited(entry: Entry, entries: Sequence[Entry], leaf: Entry) -> bool:
    del entries
    return entry.stamp.session != leaf.stamp.session


def _earlier(entry: Entry, entries: Sequence[Entry], leaf: Entry) -> bool:
    """A message that is not of the turn that runs."""
    del entries
    return entry.turn != leaf.turn


MUTANTS: Final = (
    Mutant(
        "newest-remote-state-continued",
        "PRV-1",
        "provider-identity",
        "A fork continues the newest state that the provider keeps, from behind its cut.",
        rules=_continuing(_newest_of_all),
    ),
    Mutant(
        "source-conversation-written",
        "PRV-1",
        "provider-identity",
        "A fork at the head writes into the remote conversation of its source.",
        rules=_continuing(_anyones_conversation),
    ),
    Mutant(
        "one-remote-id-a-session",
        "PRV-1",
        "provider-identity",
        "A session that moves to another branch goes on with the remote state of the one it left.",
        rules=_continuing(_one_id_a_session),
    ),
    Mutant(
        "prefix-taken-as-kept",
        "PRV-2",
        "empty-fork",
        "A fork sends only what is new and continues nothing, so that the model reads no prefix.",
        rules=_continuing(_only_what_is_new),
    ),
    Mutant(
        "prefix-sent-beside-kept",
        "PRV-2",
        "provider-identity",
        "Each request continues what the provider keeps and carries the whole context once more.",
        rules=_continuing(_everything_again),
    ),
    Mutant(
        "compaction-on-paper-only",
        "PRV-6",
        "provider-identity",
        "After a compaction the remote conversation goes on with everything that was summarized.",
        rules=_continuing(_own_whatever_changed),
    ),
    Mutant(
        "made-up-remote-ids",
        "PRV-7",
        "id-remap",
        "A fork names inherited remote states by ids that it made up itself.",
        rules=_continuing(_made_up_ids),
    ),
    Mutant(
        "first-cut-point-not-offered",
        "PRV-8",
        "view-context-divergence",
        "The first message is no cut point in the list that is offered, although a fork there works.",
        rules=lambda rules: replace(rules, points=lambda session: rules.points(session)[1:]),
    ),
    Mutant(
        "last-answer-not-replayed",
        "PRV-8",
        "view-context-divergence",
        "A person is shown the history of a session without its last message, which the model gets.",
        rules=lambda rules: replace(rules, history=lambda *asked: rules.history(*asked)[:-1]),
    ),
    Mutant(
        "session-id-as-cache-key",
        "PRV-3",
        "cache-affinity",
        "The cache key is the session's id, so that each fork loses the cache of its prefix.",
        rules=lambda rules: replace(rules, cache_key=_identity_as_cache_key),
    ),
    Mutant(
        "no-cache-key",
        "PRV-3",
        "cache-affinity",
        "No cache key is sent, although a shared one is declared.",
        semantics=lambda semantics: replace(semantics, cache_key="none"),
    ),
    Mutant(
        "signature-lost",
        "PRV-4",
        "thinking-signature",
        "Thinking is sent back without its signature, as if it were plain.",
        rules=_of_parts(_without_signature),
    ),
    Mutant(
        "signed-thinking-trimmed",
        "PRV-4",
        "thinking-signature",
        "Signed thinking is shortened and keeps the signature of the whole.",
        rules=_of_parts(_trimmed),
    ),
    Mutant(
        "thinking-to-any-model",
        "PRV-4",
        "thinking-signature",
        "Opaque thinking is sent to whatever model the session has now.",
        rules=_thinking(lambda entries, _: entries),
    ),
    Mutant(
        "reasoning-behind-its-call",
        "PRV-5",
        "encrypted-reasoning",
        "Reasoning is sent back behind the call or text that depends on it.",
        rules=_of_parts(_behind_its_dependents),
    ),
    Mutant(
        "reasoning-without-dependents",
        "PRV-5",
        "encrypted-reasoning",
        "Reasoning is kept, and the call or text that depends on it is left out.",
        rules=_of_parts(_without_dependents),
    ),
    Mutant(
        "answers-lost-with-reasoning",
        "PRV-5",
        "encrypted-reasoning",
        "For another model whole answers are left out with the reasoning that they hold.",
        rules=_thinking(_answers_too),
    ),
    Mutant(
        "attachments-as-placeholders",
        "ENV-8",
        "attachments-lost",
        "In a fork the files of inherited messages are only named, without their content.",
        rules=_shown(_inherited, lambda blob: (Text(f"[{blob.name}]"),)),
    ),
    Mutant(
        "attachments-sent-once",
        "ENV-8",
        "attachments-lost",
        "A file is sent with its own message's turn only, and is gone in later requests.",
        rules=_shown(_earlier, lambda _: ()),
    ),
)
