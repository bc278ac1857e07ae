"""What the reference says to a model, word for word: one place for every text that no person and no model wrote."""

from __future__ import annotations

from typing import Final

from forkproof.reference.prompt import Blob, Message, Reasoning, Text, ToolCall, ToolResult

__all__ = [
    "SUMMARIZE",
    "UNKNOWN_RESULT",
    "hook_statement",
    "marker",
    "message_of_answer",
    "message_of_branch",
    "message_of_folded",
    "message_of_result",
    "message_of_summary",
    "message_of_user",
    "place_statement",
]

UNKNOWN_RESULT: Final = "[interrupted] No result was recorded for this call. Whether it ran, and how far, is unknown."
"""Stands in for a result that is not there: it claims neither success nor failure (clauses TOOL-2, TOOL-3)."""

SUMMARIZE: Final = Message("user", (Text("Summarize the conversation so far for whoever continues it."),))
"""The instruction that asks the model for a summary."""

_CANCELLED: Final = "The turn above was interrupted before it was complete."
_FORKED: Final = (
    "This conversation was forked in the middle of the turn above. It is interrupted here; how it goes on elsewhere is "
    "not known."
)

_MARKERS: Final = {
    stop: Message("user", (Text(f"<turn_interrupted>{text}</turn_interrupted>"),))
    for stop, text in (("cancelled", _CANCELLED), ("forked", _FORKED))
}


def marker(stop: str) -> Message | None:
    """How the model can tell that a turn was interrupted; None if it ended by itself (clauses TOOL-3, TOOL-4)."""
    return _MARKERS.get(stop)


def message_of_user(text: str, attachments: tuple[Blob, ...] = ()) -> Message:
    """The person's words, as they are, and what was attached to them."""
    return Message("user", (Text(text), *attachments))


def message_of_answer(parts: tuple[Text | Reasoning | ToolCall, ...]) -> Message:
    """One answer of the model, as it gave it."""
    return Message("assistant", parts)


def message_of_folded(text: str, author: str) -> Message:
    """What was said in a scope: the agent's own words as they are, those of another role under its name (FLD-2)."""
    return Message("user", (Text(f"[{author}] {text}"),)) if author else Message("assistant", (Text(text),))


def message_of_result(call: str, output: str) -> Message:
    """What came of one call."""
    return Message("tool", (ToolResult(call, output),))


def message_of_summary(summary: str, session: str, first: str, last: str) -> Message:
    """A summary under a heading that names the conversation and the range that it covers (clause CMP-8)."""
    return Message("user", (Text(f"Summary of conversation {session}, entries {first} to {last}:\n{summary}"),))


def message_of_branch(summary: str, session: str, left: str) -> Message:
    """A summary of a branch, under a heading that tells it from what was said on this one (clauses NAV-4, NAV-5)."""
    return Message("user", (Text(f"Summary of a branch of conversation {session}, left at entry {left}:\n{summary}"),))


def hook_statement(text: str) -> Message:
    """What a start hook of the person says to the model."""
    return Message("system", (Text(text),))


def place_statement(directory: str) -> Message:
    """The statement of the working directory that stands before every prompt (clause ENV-4)."""
    return Message("system", (Text(f"You are an agent with tools. The working directory is {directory}"),))
