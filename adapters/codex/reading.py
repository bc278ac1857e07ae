"""What Codex shows of its threads: the history of one, its turns as cut points, and the list of all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from forkproof.adapters.codex.answers import at, optional, text
from forkproof.adapters.codex.desk import Desk
from forkproof.adapters.jsonrpc import RpcError
from forkproof.adapters.prompt import Message, Reasoning, Text, ToolCall, ToolResult
from forkproof.adapters.protocol import Answer
from forkproof.adapters.readings import CutPoint, CutPointsRead, HistoryRead, SessionLine, SessionsRead
from forkproof.adapters.tree import ListSessions, ReadCutPoints, ReadHistory

__all__ = ["HANDLERS", "messages"]

_Handler: TypeAlias = Callable[[Desk, Any], Awaitable[Answer]]


async def _history(desk: Desk, asked: ReadHistory) -> Answer:
    turns = await desk.server.turns(asked.session)
    return HistoryRead(tuple(message for turn in turns for message in messages(turn.items)))


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


def messages(items: Iterable[Mapping[str, Any]]) -> Iterator[Message]:
    """The items of a turn in the canonical form; those that say nothing, such as a compaction's, give none.

    Codex shows a command with its output as one item. Commands of which each began before the last one had ended were
    asked for together: their calls come first, then their outputs, both in the order of the items.
    """
    outputs: list[Message] = []
    ended = 0
    for item in items:
        if item.get("type") != "commandExecution" or (outputs and int(item.get("startedAtMs") or 0) > ended):
            yield from outputs
            outputs, ended = [], 0
        match item:
            case {"type": "commandExecution", "id": str(call), "command": str(command)}:
                yield Message("assistant", (ToolCall(call, "exec_command", {"cmd": command}),))
                if item.get("status") != "inProgress":
                    outputs.append(Message("tool", (ToolResult(call, item.get("aggregatedOutput") or ""),)))
                    ended = max(ended, int(item.get("completedAtMs") or 0))
            case _:
                yield from _said(item)
    yield from outputs


def _said(item: Mapping[str, Any]) -> Iterator[Message]:
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


HANDLERS: Mapping[type, _Handler] = {ReadHistory: _history, ReadCutPoints: _points, ListSessions: _sessions}
"""The handler of each kind of reading."""
