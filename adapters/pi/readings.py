"""What pi shows of its sessions: entries, tree, messages and cut points over RPC, the list through the bridge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forkproof.adapters.errors import Garbage
from forkproof.adapters.pi import messages
from forkproof.adapters.pi.process import PiProcess
from forkproof.adapters.protocol import Answer
from forkproof.adapters.readings import (
    CutPoint,
    CutPointsRead,
    EntriesRead,
    HistoryRead,
    SessionLine,
    SessionsRead,
    TreeRead,
)
from forkproof.adapters.tree import ReadCutPoints, ReadEntries, ReadHistory, ReadTree

__all__ = ["read", "sessions"]


async def read(process: PiProcess, asked: ReadEntries | ReadTree | ReadHistory | ReadCutPoints) -> Answer:
    """Read the session that this process has open. Raises `Rejected` where pi states a failure, and `Garbage`."""
    match asked:
        case ReadEntries(_, since):
            told = await process.ask("get_entries") if since is None else await process.ask("get_entries", since=since)
            leaf = told.get("leafId")
            return EntriesRead(tuple(map(messages.entry, _list(told, "entries"))), leaf)
        case ReadTree():
            told = await process.ask("get_tree")
            return TreeRead(tuple(messages.nodes(_list(told, "tree"))))
        case ReadHistory():
            told = await process.ask("get_messages")
            shown = (messages.message(each) for each in _list(told, "messages"))
            return HistoryRead(tuple(each for each in shown if each is not None))
        case ReadCutPoints():
            told = await process.ask("get_fork_messages")
            points = _list(told, "messages")
            return CutPointsRead(tuple(CutPoint(str(p.get("entryId")), str(p.get("text"))) for p in points))


def sessions(told: Any) -> SessionsRead:
    """What the picker of `/resume` would show. A child's source goes by the file that its header names."""
    lines = [each for each in told if isinstance(each, Mapping)] if isinstance(told, list) else []
    ids = {each.get("path"): str(each.get("id")) for each in lines}
    return SessionsRead(
        tuple(ids.values()),
        tuple(
            SessionLine(
                str(each.get("id")),
                title=str(each.get("name") or each.get("firstMessage") or ""),
                source=ids.get(each["parentSessionPath"]) if each.get("parentSessionPath") else "",
            )
            for each in lines
        ),
    )


def _list(told: Any, name: str) -> list[Mapping[str, Any]]:
    if isinstance(told, Mapping) and isinstance(told.get(name), list):
        return [each for each in told[name] if isinstance(each, Mapping)]
    raise Garbage(
        f"pi's answer has no list {name}: {str(told)[:200]}", "docs/pi.md names the releases that were driven"
    )
