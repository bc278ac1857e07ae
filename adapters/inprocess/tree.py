"""Handlers of what is asked about the tree of a session: moving, naming, editing, reading."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from forkproof.adapters.answers import Acknowledged, Answer, Forked
from forkproof.adapters.inprocess.handlers import refused, reported
from forkproof.adapters.readings import (
    CutPoint,
    CutPointsRead,
    EntriesRead,
    Entry,
    HistoryRead,
    Moved,
    SessionLine,
    SessionsRead,
    TreeNode,
    TreeRead,
)
from forkproof.adapters.tree import (
    Branch,
    Clone,
    EditContext,
    EntryRef,
    ListSessions,
    ReadCutPoints,
    ReadEntries,
    ReadHistory,
    ReadTree,
    Rewind,
    SetLabel,
)
from forkproof.reference.entries import BranchLeft
from forkproof.reference.entries import Entry as ReferenceEntry
from forkproof.reference.fork import ForkRequest
from forkproof.reference.harness import Harness
from forkproof.reference.reading import Node
from forkproof.reference.refusal import Refusal
from forkproof.reference.tree import Moved as ReferenceMoved

__all__ = ["HANDLERS"]

_Handler: TypeAlias = Callable[[Harness, Any], Awaitable[Answer]]


def _id_of(entry: EntryRef) -> str:
    return entry.native if entry.exists and entry.native is not None else f"entry-unknown-{entry.item}"


def _moved(moved: ReferenceMoved | Refusal) -> Answer:
    return refused(moved) if isinstance(moved, Refusal) else Moved(moved.editor, moved.summary)


async def _branch(harness: Harness, asked: Branch) -> Answer:
    return _moved(await harness.tree.branch(asked.session, _id_of(asked.to), summary=asked.summary))


async def _rewind(harness: Harness, asked: Rewind) -> Answer:
    points = harness.fork_points(asked.session)
    turn = asked.native or next((p.turn for p in points if asked.marker in p.text), "turn-unknown")
    return _moved(harness.tree.rewind(asked.session, turn))


async def _clone(harness: Harness, asked: Clone) -> Answer:
    record = await harness.clone(asked.session, ForkRequest(asked.directory))
    return refused(record) if isinstance(record, Refusal) else Forked(reported(record))


async def _label(harness: Harness, asked: SetLabel) -> Answer:
    written = harness.tree.label(asked.session, _id_of(asked.entry), asked.text or "")
    return refused(written) if isinstance(written, Refusal) else Acknowledged(written.id)


async def _edit(harness: Harness, asked: EditContext) -> Answer:
    written = harness.tree.edit(asked.session, _id_of(asked.entry), asked.text)
    return refused(written) if isinstance(written, Refusal) else Acknowledged(written.id)


async def _entries(harness: Harness, asked: ReadEntries) -> Answer:
    listing = harness.tree.entries(asked.session, asked.since)
    if isinstance(listing, Refusal):
        return refused(listing)
    return EntriesRead(tuple(map(_entry, listing.entries)), listing.leaf)


async def _tree(harness: Harness, asked: ReadTree) -> Answer:
    nodes = harness.tree.nodes(asked.session)
    return refused(nodes) if isinstance(nodes, Refusal) else TreeRead(tuple(map(_node, nodes)))


async def _history(harness: Harness, asked: ReadHistory) -> Answer:
    messages = harness.tree.history(asked.session)
    return refused(messages) if isinstance(messages, Refusal) else HistoryRead(tuple(messages))


async def _points(harness: Harness, asked: ReadCutPoints) -> Answer:
    return CutPointsRead(tuple(CutPoint(point.entry, point.text) for point in harness.fork_points(asked.session)))


async def _sessions(harness: Harness, asked: ListSessions) -> Answer:
    del asked
    lines = tuple(SessionLine(line.session, line.title, line.source) for line in harness.lines())
    return SessionsRead(tuple(line.session for line in lines), lines)


def _entry(entry: ReferenceEntry) -> Entry:
    parent, body = entry.parent, entry.body
    left = body.left if isinstance(body, BranchLeft) else None
    return Entry(entry.id, None if parent is None else parent.id, entry.message, left, entry.stamp.at)


def _node(node: Node) -> TreeNode:
    return TreeNode(_entry(node.entry), node.under, node.label or None, node.labelled_at)


HANDLERS: Mapping[type, _Handler] = {
    Branch: _branch,
    Rewind: _rewind,
    Clone: _clone,
    SetLabel: _label,
    EditContext: _edit,
    ReadEntries: _entries,
    ReadTree: _tree,
    ReadHistory: _history,
    ReadCutPoints: _points,
    ListSessions: _sessions,
}
"""The handler of each kind of operation on a session's tree."""
