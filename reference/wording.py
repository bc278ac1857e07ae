"""What the reference says to a model, word for word: one place for every text that no person and no model wrote."""

from __future__ import annotations

from typing import Final

from forkproof.reference.prompt import Message, Text, ToolCall, ToolResult

__all__ = [
    "SUMMARIZE",
    "UNKNOWN_RESULT",
    "marker",
    "message_of_answer",
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


def message_of_user(text: str) -> Message:
    """The person's words, as they are."""
    return Message("user", (Text(text),))


def message_of_answer(parts: tuple[Text | ToolCall, ...]) -> Message:
    """One answer of the model, as it gave it."""
    return Message("assistant", parts)


def message_of_result(call: str, output: str) -> Message:
    """What came of one call."""
    return Message("tool", (ToolResult(call, output),))


def message_of_summary(summary: str, session: str, first: str, last: str) -> Message:
    """A summary under a heading that names the conversation and the range that it covers (clause CMP-8)."""
    return Message("user", (Text(f"Summary of conversation {session}, entries {first} to {last}:\n{summary}"),))


def place_statement(directory: str) -> Message:
    """The statement of the working directory that stands before every prompt (clause ENV-4)."""
    return Message("system", (Text(f"You are an agent with tools. The working directory is {directory}"),))
