"""What a failure that pi states means: it gives words only, and no code. Source: docs/pi.md, "Errors"."""

from __future__ import annotations

from typing import Literal, TypeAlias

from forkproof.adapters.protocol import Refused

__all__ = ["refusal"]

Reason: TypeAlias = Literal["busy", "unknown-cut", "unknown-session", "other"]

# The first phrase that the message holds decides.
_REASONS: tuple[tuple[str, Reason], ...] = (
    ("already processing", "busy"),
    ("Wait for the current", "busy"),
    ("while compaction is in progress", "busy"),
    ("Invalid entry ID", "unknown-cut"),
    ("not found", "unknown-cut"),
    ("No session found", "unknown-session"),
)


def refusal(words: str) -> Refused:
    """A definite no, with pi's words."""
    return Refused(next((reason for phrase, reason in _REASONS if phrase in words), "other"), words)
