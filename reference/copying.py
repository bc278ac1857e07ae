"""Copying: entries written anew behind another place, with ids of their own.

Forks of many harnesses copy, since a session is one file there or one set of rows. Everything that names an entry must
then name the copy: parents, the tail of a compaction, what a label or an edit is about, also where the entry that was
named is not copied (clause CMP-1; seed 000, "repairs affected compaction boundary references").
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from forkproof.reference.entries import Body, Checkpoint, Edited, Entry, Labelled, UserSaid, on_path
from forkproof.reference.project import full_path
from forkproof.reference.reading import listing
from forkproof.reference.runtime import Runtime
from forkproof.reference.session import Session
from forkproof.reference.store import Rebased, Wrote

__all__ = ["copy_prefix", "rewritten", "take_out", "write_anew"]


def rewritten(entry: Entry, copies: Mapping[str, Entry], leaf: Entry | None) -> Body:
    """The body for a copy of `entry` behind `leaf`; `copies` has what was copied before it, by the originals' ids.

    The range that a summary covers stays as it is: it names entries of the conversation that it names too (CMP-8).
    """
    match entry.body:
        case Checkpoint(tail=Entry() as tail) as body:
            return replace(body, tail=_tail(tail, entry, copies, leaf))
        case (Labelled(target) | Edited(target)) as body:
            return replace(body, target=copies[target].id if target in copies else target)
        case body:
            return body


def _tail(tail: Entry, checkpoint: Entry, copies: Mapping[str, Entry], leaf: Entry | None) -> Entry | None:
    """The oldest entry that the copy of a compaction keeps: where its own is not there any more, the next that is."""
    if on_path(tail, leaf):
        return tail
    found: Entry | None = None
    entry = checkpoint.parent
    while entry is not None:
        found = copies.get(entry.id, found)
        if entry is tail:
            break
        entry = entry.parent
    return found


def write_anew(runtime: Runtime, session: Session, leaf: Entry | None, kept: Iterable[Entry]) -> dict[str, Entry]:
    """Let a session go on behind `leaf` with copies of these entries; returns them by the ids of their originals."""
    session.leaf = session.base = leaf
    session.written.clear()
    runtime.store.write(Rebased(session.header.id, leaf))
    copies: dict[str, Entry] = {}
    for entry in kept:
        body = rewritten(entry, copies, session.leaf)
        copy = copies[entry.id] = runtime.append(session, entry.turn, body, entry.stamp.written or entry.stamp.at)
        if isinstance(body, UserSaid):
            session.moved[copy.turn] = copy
    return copies


def take_out(runtime: Runtime, session: Session, turns: Collection[str]) -> None:
    """Take these turns out of a session: what comes behind them is copied, other branches stay as they are (TRE-1)."""
    entries, old = listing(session), session.leaf
    first = next((entry for entry in full_path(session.base) if entry.turn in turns), None)
    base = session.base if first is None else first.parent
    inherited = set(full_path(base))
    session.base = base
    session.written.clear()
    runtime.store.write(Rebased(session.header.id, base))
    copies: dict[str, Entry] = {}
    gone: dict[str, Entry | None] = {}

    def place(entry: Entry | None) -> Entry | None:
        if entry is None or entry.id not in gone:
            return entry if entry is None else copies.get(entry.id, entry)
        return gone[entry.id]

    for entry in entries:
        if entry in inherited:
            continue
        if entry.turn in turns:
            gone[entry.id] = place(entry.parent)
            continue
        session.leaf = place(entry.parent)
        if session.leaf is entry.parent:
            session.written.append(entry)
            runtime.store.write(Wrote(session.header.id, entry))
            continue
        body = rewritten(entry, copies, session.leaf)
        copy = copies[entry.id] = runtime.append(session, entry.turn, body, entry.stamp.written or entry.stamp.at)
        if isinstance(body, UserSaid):
            session.moved[copy.turn] = copy
    for id_, label in list(session.labels.items()):
        bearer = place(label.target)
        del session.labels[id_]
        if bearer is not None and id_ not in gone:
            session.labels[bearer.id] = label._replace(target=bearer, setter=copies.get(label.setter.id, label.setter))
    runtime.stand(session, place(old))


def copy_prefix(runtime: Runtime, source: Session, child: Session) -> None:
    """Give a child that was just made copies of all that it shares with its source, and of the labels there."""
    copies = write_anew(runtime, child, None, full_path(child.leaf))
    for label in source.labels.values():
        bearer = copies.get(label.target.id)
        if bearer is not None:
            setter = copies.get(label.setter.id) or runtime.append(child, "", Labelled(bearer.id, label.text), label.at)
            child.labels[bearer.id] = label._replace(target=bearer, setter=setter)
