"""From a session's items to the prompt that the model gets. Source: clauses TOOL-1 to TOOL-5, CMP-8, ENV-4."""

from __future__ import annotations

from typing import Final

from forkproof.reference.naive.choosing import in_force
from forkproof.reference.naive.items import Item, context, speaks
from forkproof.reference.naive.session import Session
from forkproof.reference.prompt import Message, Prompt, Text, ToolCall, ToolResult

__all__ = ["FOR_A_SUMMARY", "STOPPED", "UNKNOWN", "prompt", "summary_prompt"]

UNKNOWN: Final = "(nobody knows what came of this call)"
STOPPED: Final = {
    "cancelled": "(the turn above was stopped)",
    "forked": "(the turn above ran on in the conversation that this one was forked from)",
}
FOR_A_SUMMARY: Final = "(sum up the above)"


def prompt(session: Session, tools: tuple[str, ...]) -> Prompt:
    """The request that a session makes where it stands."""
    return _prompt(session, context(session.path), tools)


def summary_prompt(session: Session, covered: list[Item]) -> Prompt:
    """The request for a summary of these items; no tools are offered."""
    plain = _prompt(session, covered, ())
    asking = Message("user", (Text(FOR_A_SUMMARY),))
    return Prompt((*plain.messages, asking), (), plain.model, {**plain.settings, "purpose": "summary"}, session.id)


def _prompt(session: Session, shown: list[Item], tools: tuple[str, ...]) -> Prompt:
    messages = [Message("system", (Text(f"Tools run in {session.directory}"),))]
    for index, item in enumerate(shown):
        if item.kind == "answer":
            calls = tuple(part for part in item.parts if isinstance(part, ToolCall))
            parts: tuple[Text | ToolCall, ...] = item.parts if item.words is None else (Text(item.words), *calls)
            messages.append(Message("assistant", parts))
            messages.extend(_results(item, shown[index + 1 :]))
        elif item.kind != "result" and speaks(item):
            text = _told(item) if item.words is None else item.words
            messages.append(Message("user", (Text(text),)))
    settings = in_force(session, session.path)
    sent = {name: settings[name] for name in ("effort",) if name in settings}
    return Prompt(tuple(messages), tools, settings.get("model", ""), sent, session.id)


def _told(item: Item) -> str:
    """What an item that is no answer says in a message."""
    session, first, last = item.covers
    match item.kind:
        case "end":
            return STOPPED[item.text]
        case "summary":
            return f"(summary of {session} from {first} to {last})\n{item.text}"
        case "left":
            return f"(summary of what was left in {session} at {last})\n{item.text}"
        case _:
            return item.text


def _results(answer: Item, later: list[Item]) -> list[Message]:
    """One result for each call of the answer, from what follows it before anything else is said."""
    found = []
    for item in later:
        if item.kind == "result":
            found.append(item)
        else:
            break
    messages = []
    for part in answer.parts:
        if isinstance(part, ToolCall):
            mine = [item for item in found if item.call == part.id]
            text = UNKNOWN if not mine else mine[0].text if mine[0].words is None else mine[0].words
            messages.append(Message("tool", (ToolResult(part.id, text),)))
    return messages
