"""Reading the app-server's answers: what they state, and what an error means.

Codex gives nearly every error the code -32600, so the words decide (docs/codex.md, "Errors"). An internal error does
not say that nothing was done, so it is `Unknown`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from forkproof.adapters.errors import Garbage
from forkproof.adapters.protocol import Refused, Unknown

__all__ = ["StoredTurn", "ThreadState", "at", "optional", "refusal", "stored_turn", "text", "thread_state"]

Reason: TypeAlias = Literal["busy", "unknown-cut", "unknown-session", "other"]

# The first phrase that the message holds decides.
_REASONS: tuple[tuple[str, Reason], ...] = (
    ("identifies an in-progress turn", "busy"),
    ("turn not found", "unknown-cut"),
    ("was not found in the source thread", "unknown-cut"),
    ("no rollout found for thread id", "unknown-session"),
    ("thread not found", "unknown-session"),
    ("thread not loaded", "unknown-session"),
    ("invalid session id", "unknown-session"),
)
_INTERNAL_ERROR = -32603


def refusal(code: int, message: str) -> Refused | Unknown:
    """What an error answer means for the operation that got it."""
    if code == _INTERNAL_ERROR:
        return Unknown(f"the app-server reported an internal error: {message}")
    return Refused(next((reason for phrase, reason in _REASONS if phrase in message), "other"), message)


def at(answer: Any, *path: str) -> Any:
    """The value at this place of an answer; None where nothing is. Raises `Garbage` where an object should stand."""
    value = answer
    for index, key in enumerate(path):
        if not isinstance(value, Mapping):
            place = ".".join(path[:index]) or "the answer"
            raise Garbage(
                f"the app-server sent {type(value).__name__} where {place} should be an object",
                "this release may speak another protocol; docs/codex.md names the releases that were driven",
            )
        value = value.get(key)
    return value


def text(answer: Any, *path: str) -> str:
    """The non-empty string at this place of an answer. Raises `Garbage`."""
    value = at(answer, *path)
    if not isinstance(value, str) or not value:
        raise Garbage(
            f"the app-server's answer has no text at {'.'.join(path)}",
            "this release may speak another protocol; docs/codex.md names the releases that were driven",
        )
    return value


@dataclass(frozen=True, slots=True)
class ThreadState:
    """What the answer to `thread/start` or `thread/fork` states about the new thread; None where it states nothing.

    `forked_from` is the source of a fork, `parent` the thread that delegated to this one. `settings` has a value for
    model, effort, sandbox and approval-policy, each None where the answer says null.
    """

    id: str
    directory: str | None
    forked_from: str | None
    parent: str | None
    settings: Mapping[str, str | None]


def thread_state(answer: Any) -> ThreadState:
    """The stated facts of a new thread. Raises `Garbage` if the answer names no thread."""
    return ThreadState(
        id=text(answer, "thread", "id"),
        directory=optional(at(answer, "cwd")),
        forked_from=optional(at(answer, "thread", "forkedFromId")),
        parent=optional(at(answer, "thread", "parentThreadId")),
        settings={
            "model": optional(at(answer, "model")),
            "effort": optional(at(answer, "reasoningEffort")),
            "sandbox": _kind(at(answer, "sandbox")),
            "approval-policy": _kind(at(answer, "approvalPolicy")),
        },
    )


def optional(value: Any) -> str | None:
    """The text, or None where there is none."""
    return value if isinstance(value, str) and value else None


def _kind(value: Any) -> str | None:
    """A choice that is a bare name, or an object: its `type`, or the one key that names it (`{"granular": {...}}`)."""
    if isinstance(value, Mapping):
        return optional(value.get("type")) or next(iter(value), None)
    return optional(value)


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A turn as `thread/turns/list` shows it.

    `status` is Codex's (inProgress, completed, interrupted, failed), `users` are the texts of its user messages,
    `compacted` says whether it compacted the history, and `items` are all its items as they were listed.
    """

    id: str
    status: str = "completed"
    users: tuple[str, ...] = ()
    compacted: bool = False
    items: tuple[Mapping[str, Any], ...] = field(default=(), compare=False)


def stored_turn(value: Any) -> StoredTurn:
    """One entry of the listing. Raises `Garbage` if it has no id."""
    items = [item for item in at(value, "items") or () if isinstance(item, Mapping)]
    return StoredTurn(
        id=text(value, "id"),
        status=text(value, "status"),
        users=tuple(_words(item) for item in items if item.get("type") == "userMessage"),
        compacted=any(item.get("type") == "contextCompaction" for item in items),
        items=tuple(items),
    )


def _words(item: Mapping[str, Any]) -> str:
    parts = item.get("content") or ()
    return "\n".join(part["text"] for part in parts if isinstance(part, Mapping) and isinstance(part.get("text"), str))
