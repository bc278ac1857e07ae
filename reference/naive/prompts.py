"""From a session's items to the prompt that the model gets. Source: clauses TOOL-1 to TOOL-5, CMP-8, ENV-4."""

from __future__ import annotations

from typing import Final

from forkproof.reference.naive.items import Item, context
from forkproof.reference.prompt import Message, Prompt, Text, ToolCall, ToolResult

__all__ = ["FOR_A_SUMMARY", "STOPPED", "TOOLS", "UNKNOWN", "prompt", "summary_prompt"]

TOOLS: Final = ("count", "edit", "read", "run", "wait", "write")
UNKNOWN: Final = "(nobody knows what came of this call)"
STOPPED: Final = {
    "cancelled": "(the turn above was stopped)",
    "forked": "(the turn above ran on in the conversation that this one was forked from)",
}
FOR_A_SUMMARY: Final = "(sum up the above)"


def prompt(session: str, directory: str, settings: dict[str, str], items: list[Item]) -> Prompt:
    """The request that a session with these items makes."""
    return _prompt(session, directory, settings, context(items))


def summary_prompt(session: str, directory: str, settings: dict[str, str], covered: list[Item]) -> Prompt:
    """The request for a summary of these items; no tools are offered."""
    plain = _prompt(session, directory, settings, covered)
    asking = Message("user", (Text(FOR_A_SUMMARY),))
    return Prompt((*plain.messages, asking), (), plain.model, {**plain.settings, "purpose": "summary"}, session)


def _prompt(session: str, directory: str, settings: dict[str, str], shown: list[Item]) -> Prompt:
    messages = [Message("system", (Text(f"Tools run in {directory}"),))]
    for index, item in enumerate(shown):
        match item.kind:
            case "user":
                messages.append(Message("user", (Text(item.text),)))
            case "answer":
                messages.append(Message("assistant", item.parts))
                messages.extend(_results(item, shown[index + 1 :]))
            case "end" if item.text in STOPPED:
                messages.append(Message("user", (Text(STOPPED[item.text]),)))
            case "summary":
                session_, first, last = item.covers
                text = f"(summary of {session_} from {first} to {last})\n{item.text}"
                messages.append(Message("user", (Text(text),)))
    sent = {name: settings[name] for name in ("effort",) if name in settings}
    return Prompt(tuple(messages), TOOLS, settings.get("model", ""), sent, session)


def _results(answer: Item, later: list[Item]) -> list[Message]:
    """One result for each call of the answer, from what follows it before anything else does."""
    found = []
    for item in later:
        if item.kind != "result":
            break
        found.append(item)
    messages = []
    for part in answer.parts:
        if isinstance(part, ToolCall):
            mine = [item for item in found if item.call == part.id]
            text = mine[0].text if mine else UNKNOWN
            messages.append(Message("tool", (ToolResult(part.id, text),)))
    return messages
