"""The reference's answers to what is said to busy sessions, and its cuts at entries in the suite's terms."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from forkproof.adapters.protocol import (
    Acknowledged,
    Answer,
    AwaitQueued,
    Compact,
    Covered,
    Field,
    ForkRecord,
    ItemRef,
    Queue,
    Refused,
    Steer,
    TurnEnded,
)
from forkproof.reference.entries import Answered, Checkpoint, Entry, ToolEnded
from forkproof.reference.harness import Harness
from forkproof.reference.project import full_path
from forkproof.reference.prompt import Text
from forkproof.reference.refusal import Refusal
from forkproof.reference.turn import Ended

__all__ = ["HANDLERS", "compact", "entry_of", "in_items"]

_TAG = re.compile(r"\[fp[0-9a-f]{6}(?:\.[a-z0-9-]+)+\]")
_CALL = re.compile(r"call_fp([0-9a-f]{6})_([a-z][a-z0-9-]*)")


async def _steer(harness: Harness, asked: Steer) -> Answer:
    unheard = harness.inbox.steer(asked.session, asked.text)
    return Acknowledged() if unheard is None else Refused(unheard.reason, unheard.message)


async def _queue(harness: Harness, asked: Queue) -> Answer:
    ticket = harness.inbox.queue(asked.session, asked.text)
    return Refused(ticket.reason, ticket.message) if isinstance(ticket, Refusal) else Acknowledged(ticket)


async def _await(harness: Harness, asked: AwaitQueued) -> Answer:
    ended = await harness.inbox.ended(asked.native or "")
    return TurnEnded(ended.stop, ended.turn, ended.detail) if isinstance(ended, Ended) else _refused(ended)


async def compact(harness: Harness, asked: Compact) -> Answer:
    """A compaction, with what the reference states that its summary covers (clause CMP-8)."""
    compacted = await harness.compact(asked.session)
    if isinstance(compacted, Refusal):
        return _refused(compacted)
    made = next((e for e in reversed(_path(harness, asked.session)) if e.id == compacted.checkpoint), None)
    if made is None or not isinstance(made.body, Checkpoint):
        return Acknowledged(compacted.checkpoint)
    body = made.body
    items = _items(_path(harness, asked.session))
    return Acknowledged(
        compacted.checkpoint, Covered(body.session, items.get(body.first, body.first), items.get(body.last, body.last))
    )


def entry_of(harness: Harness, session: str, item: ItemRef) -> str:
    """The id of the entry that holds this item, or a plausible one that the reference can't know."""
    held = (entry.id for entry in reversed(_path(harness, session)) if item.exists and _holds(entry, item))
    return next(held, f"entry-unknown-{item.name}")


def in_items(harness: Harness, source: str, record: ForkRecord) -> ForkRecord:
    """The record with the entry of an `at` cut told by the marker of its item, as the suite knows no entry ids."""
    cut: Any = record.cut.value
    if not isinstance(cut, Mapping) or "at" not in cut:
        return record
    items = _items(_path(harness, source))
    told = {**cut, "at": items.get(str(cut["at"]), cut["at"])}
    return ForkRecord(**{**_fields(record), "cut": Field(told, record.cut.origin)})


def _fields(record: ForkRecord) -> dict[str, Field]:
    return {name: getattr(record, name) for name in record.__slots__}


def _holds(entry: Entry, item: ItemRef) -> bool:
    body = entry.body
    if item.name.endswith(".call"):
        return isinstance(body, Answered) and item.marker in body.calls
    if item.name.endswith(".result"):
        return isinstance(body, ToolEnded) and body.call == item.marker
    return any(item.marker in text for text in _texts(entry)) and not isinstance(body, ToolEnded)


def _items(path: Iterable[Entry]) -> dict[str, str]:
    """Entry id -> the marker of the item that it holds, of its last one where there are several."""
    found: dict[str, str] = {}
    for entry in path:
        marker = _marker(entry)
        if marker:
            found[entry.id] = marker
        elif entry.parent is not None and entry.parent.id in found:
            # A turn's end says nothing itself: it stands for what it ends.
            found[entry.id] = found[entry.parent.id]
    return found


def _marker(entry: Entry) -> str:
    body = entry.body
    if isinstance(body, ToolEnded):
        return _CALL.sub(r"[fp\1.\2.result]", body.call)
    if isinstance(body, Answered) and body.calls:
        return _CALL.sub(r"[fp\1.\2.call]", body.calls[-1])
    tags = [tag for text in _texts(entry) for tag in _TAG.findall(text)]
    return tags[-1] if tags else ""


def _texts(entry: Entry) -> list[str]:
    return [part.content for part in entry.message.parts if isinstance(part, Text)] if entry.message is not None else []


def _path(harness: Harness, session: str) -> list[Entry]:
    found = harness.session(session)
    return full_path(found.leaf) if found is not None else []


def _refused(refusal: Refusal) -> Refused:
    return Refused(refusal.reason, refusal.message)


HANDLERS: Mapping[type, Callable[[Harness, Any], Awaitable[Answer]]] = {
    Steer: _steer,
    Queue: _queue,
    AwaitQueued: _await,
    Compact: compact,
}
"""The handler of each kind of operation of this subject."""
