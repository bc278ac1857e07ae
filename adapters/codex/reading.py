"""What Codex shows of its threads: the history of one, its turns as cut points, and the list of all."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, TypeAlias

from forkproof.adapters.codex.answers import at, optional, text
from forkproof.adapters.codex.desk import Desk
from forkproof.adapters.jsonrpc import RpcError
from forkproof.adapters.prompt import Message, Reasoning, Text, ToolCall, ToolResult
from forkproof.adapters.protocol import Answer, Unsupported
from forkproof.adapters.readings import CutPoint, CutPointsRead, HistoryRead, SessionLine, SessionsRead
from forkproof.adapters.tree import ListSessions, ReadCutPoints, ReadHistory

__all__ = ["HANDLERS", "messages"]

_Handler: TypeAlias = Callable[[Desk, Any], Awaitable[Answer]]


async def _history(desk: Desk, asked: ReadHistory) -> Answer:
    items = [item for turn in await desk.server.turns(asked.session) for item in turn.items]
    kinds = [item.get("type") for item in items]
    if ("commandExecution", "commandExecution") in itertools.pairwise(kinds):
        return Unsupported(
            "a history with two commands in a row: Codex shows each with its output, in the order in which they ended, "
            "and not which of them were asked for together"
        )
    return HistoryRead(tuple(message for item in items for message in messages(item)))


async def _points(desk: Desk, asked: ReadCutPoints) -> Answer:
    """Codex cuts at turns, and lists them; one that no user message began, as a compaction, shows no text."""
    turns = await desk.server.turns(asked.session)
    return CutPointsRead(tuple(CutPoint(turn.id, "\n".join(turn.users)) for turn in turns if turn.users))


async def _sessions(desk: Desk, asked: ListSessions) -> Answer:
    del asked
    listed = [thread for thread in await desk.server.threads() if text(thread, "id") not in desk.earlier]
    lines = tuple([await _line(desk, thread) for thread in listed])
    return SessionsRead(tuple(line.session for line in lines), lines)


async def _line(desk: Desk, thread: Any) -> SessionLine:
    """The list gives no source for any thread, `thread/read` of each does (docs/codex.md, "Lineage")."""
    name = text(thread, "id")
    title = optional(at(thread, "name")) or optional(at(thread, "preview"))
    try:
        read = await desk.server.ask("thread/read", {"threadId": name, "includeTurns": False})
    except RpcError:
        return SessionLine(name, title)
    return SessionLine(name, title, optional(at(read, "thread", "forkedFromId")) or "")


def messages(item: Mapping[str, Any]) -> Iterator[Message]:
    """One item of a turn in the canonical form; items that say nothing, such as a compaction's, give none."""
    match item:
        case {"type": "userMessage", "content": [*parts]}:
            texts = [part["text"] for part in parts if isinstance(part, Mapping) and isinstance(part.get("text"), str)]
            yield Message("user", tuple(map(Text, texts)))
        case {"type": "agentMessage", "text": str(words)}:
            yield Message("assistant", (Text(words),))
        case {"type": "reasoning"}:
            words = "\n".join((*item.get("summary", ()), *item.get("content", ())))
            if words:
                yield Message("assistant", (Reasoning(words),))
        case {"type": "commandExecution", "id": str(call), "command": str(command)}:
            yield Message("assistant", (ToolCall(call, "exec_command", {"cmd": command}),))
            if item.get("status") != "inProgress":
                yield Message("tool", (ToolResult(call, item.get("aggregatedOutput") or ""),))


HANDLERS: Mapping[type, _Handler] = {ReadHistory: _history, ReadCutPoints: _points, ListSessions: _sessions}
"""The handler of each kind of reading."""
