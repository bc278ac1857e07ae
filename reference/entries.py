"""Entries: the immutable nodes that every session is made of.

An entry points to its parent, so a session is no more than a leaf, and sessions that share a past share its entries.
Each entry also has a jump pointer to an older ancestor (the skew-binary scheme of Myers): the ancestor at a given depth
is found in a logarithmic number of steps, so cut points are checked without walking a long history.

Source: design section 10; seed 003, "The tree is the storage model".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from forkproof.reference.inherit import Value
from forkproof.reference.prompt import Blob, Message, Reasoning, Text, ToolCall
from forkproof.reference.wording import (
    marker,
    message_of_answer,
    message_of_branch,
    message_of_folded,
    message_of_result,
    message_of_summary,
    message_of_user,
)

__all__ = [
    "Answered",
    "Body",
    "BranchLeft",
    "Checkpoint",
    "Edited",
    "Entry",
    "Folded",
    "Labelled",
    "SettingsChanged",
    "Stamp",
    "Steered",
    "Stop",
    "ToolEnded",
    "TurnEnded",
    "UserSaid",
    "ancestor_at",
    "append",
    "last_within",
    "newest_change",
    "newest_checkpoint",
    "newest_edit",
    "on_path",
]

Stop: TypeAlias = Literal["end_turn", "failed", "cancelled", "forked"]
"""How a turn ended on a path; `forked`: it still ran in the source when this path was forked off it."""


@dataclass(frozen=True, slots=True)
class UserSaid:
    """A turn begins: the person's message, with what was attached to it, whole (clause ENV-8)."""

    text: str
    attachments: tuple[Blob, ...] = ()


@dataclass(frozen=True, slots=True)
class Steered:
    """What the person said into a turn that ran: a part of that turn, and no cut point of its own (clause QUE-2)."""

    text: str


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer of the model, recorded before any of its calls runs.

    `calls` are the ids of the calls among the parts, in order. `maker` is the model that gave the answer: opaque
    thinking is for it alone (clauses PRV-4, PRV-5).
    """

    parts: tuple[Text | Reasoning | ToolCall, ...]
    calls: tuple[str, ...]
    maker: str = ""


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """What came of one call, recorded when it ended."""

    call: str
    output: str


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """A turn is over, on this path."""

    stop: Stop


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A compaction: from here on the summary stands for what it covers. Source: clauses CMP-2 to CMP-8.

    `tail` is the oldest entry that is kept word for word, None if all before the checkpoint is covered. `session`,
    `first` and `last` name the conversation and the range of entries that the summary covers; they stay in the tree.
    """

    summary: str
    session: str
    first: str
    last: str
    tail: Entry | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class BranchLeft:
    """A branch was left with a summary: `left` is the id of the entry where the session stood (clause NAV-5)."""

    summary: str
    session: str
    left: str


@dataclass(frozen=True, slots=True)
class Folded:
    """Something that was said in a scope and brought into the main thread; `author` is empty for the agent itself."""

    text: str
    author: str = ""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A name that a person gave to the entry `target`; empty where they took it away. No model reads it (LBL-1)."""

    target: str
    text: str


@dataclass(frozen=True, slots=True)
class Edited:
    """From here on the model is shown `text` in place of what the entry `target` says (clause LBL-3)."""

    target: str
    text: str


@dataclass(frozen=True, slots=True)
class SettingsChanged:
    """From here on these settings are in force on this path, in `session`, which chose them (clauses SET-7, SET-8)."""

    settings: Mapping[str, Value]
    session: str


Body: TypeAlias = (
    UserSaid
    | Steered
    | Answered
    | ToolEnded
    | TurnEnded
    | Checkpoint
    | BranchLeft
    | Folded
    | Labelled
    | Edited
    | SettingsChanged
)


@dataclass(frozen=True, slots=True)
class Stamp:
    """Who wrote an entry, and when: its id, session, turn (empty outside of turns) and time in whole seconds.

    `written` is the time as it was written, where it came as text.
    """

    id: str
    session: str
    turn: str
    at: int
    written: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One node of the tree; compared by identity, since a long chain must never be compared or printed by recursion.

    depth: how many entries its path holds, 1 for a root. ordinal: how many user messages its path holds, itself
    included. checkpoint, edit, change: the newest compaction, context edit and change of settings among its ancestors.
    message: what it says to the model, if anything. thinks: whether its path, itself included, holds thinking.
    """

    stamp: Stamp
    body: Body
    message: Message | None = field(repr=False)
    parent: Entry | None = field(repr=False)
    jump: Entry | None = field(repr=False)
    checkpoint: Entry | None = field(repr=False)
    depth: int
    ordinal: int
    edit: Entry | None = field(default=None, repr=False)
    change: Entry | None = field(default=None, repr=False)
    thinks: bool = False

    @property
    def id(self) -> str:
        """The entry's id, the same in every session that shares it."""
        return self.stamp.id

    @property
    def turn(self) -> str:
        """The id of the turn that it belongs to; empty for a checkpoint."""
        return self.stamp.turn


def append(parent: Entry | None, body: Body, stamp: Stamp) -> Entry:
    """A new entry behind `parent` (None: a new root). The parent is not changed; any number of entries may share it."""
    said = 1 if type(body) is UserSaid else 0
    message = _message_of(body)
    thinks = type(body) is Answered and any(type(part) is Reasoning for part in body.parts)
    if parent is None:
        return Entry(stamp, body, message, None, None, None, 1, said, thinks=thinks)
    older = parent.jump
    oldest = older.jump if older is not None else None
    same_step = older is not None and oldest is not None and parent.depth - older.depth == older.depth - oldest.depth
    jump = oldest if same_step else parent
    checkpoint, edit, change = newest_checkpoint(parent), newest_edit(parent), newest_change(parent)
    depth, ordinal, thinks = parent.depth + 1, parent.ordinal + said, thinks or parent.thinks
    return Entry(stamp, body, message, parent, jump, checkpoint, depth, ordinal, edit, change, thinks)


def _message_of(body: Body) -> Message | None:
    match body:
        case UserSaid(text, attachments):
            return message_of_user(text, attachments)
        case Steered(text):
            return message_of_user(text)
        case Answered(parts):
            return message_of_answer(parts)
        case ToolEnded(call, output):
            return message_of_result(call, output)
        case TurnEnded(stop):
            return marker(stop)
        case Checkpoint(summary, session, first, last):
            return message_of_summary(summary, session, first, last)
        case Folded(text, author):
            return message_of_folded(text, author)
        case BranchLeft(summary, session, left):
            return message_of_branch(summary, session, left)
        case Labelled() | Edited() | SettingsChanged():
            return None


def newest_checkpoint(entry: Entry | None) -> Entry | None:
    """The newest compaction on the path that ends at `entry`, which may be that entry itself."""
    if entry is None or type(entry.body) is Checkpoint:
        return entry
    return entry.checkpoint


def newest_edit(entry: Entry | None) -> Entry | None:
    """The newest context edit on the path that ends at `entry`, which may be that entry itself."""
    if entry is None or type(entry.body) is Edited:
        return entry
    return entry.edit


def newest_change(entry: Entry | None) -> Entry | None:
    """The newest change of settings on the path that ends at `entry`, which may be that entry itself."""
    if entry is None or type(entry.body) is SettingsChanged:
        return entry
    return entry.change


def ancestor_at(entry: Entry | None, depth: int) -> Entry | None:
    """The entry at this depth on the path that ends at `entry`; None where the path is not that long. O(log n)."""
    if entry is None or entry.depth < depth or depth < 1:
        return None
    while entry is not None and entry.depth > depth:
        jump = entry.jump
        entry = jump if jump is not None and jump.depth >= depth else entry.parent
    return entry


def on_path(entry: Entry, leaf: Entry | None) -> bool:
    """Whether the path that ends at `leaf` holds `entry` (clause CUT-6). O(log n)."""
    return ancestor_at(leaf, entry.depth) is entry


def last_within(leaf: Entry | None, ordinal: int) -> Entry | None:
    """The last entry on the path whose count of user messages is at most `ordinal`. O(log n)."""
    entry = leaf
    while entry is not None and entry.ordinal > ordinal:
        jump = entry.jump
        entry = jump if jump is not None and jump.ordinal > ordinal else entry.parent
    return entry
