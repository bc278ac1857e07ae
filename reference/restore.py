"""Restoring: from the rows of a store to the sessions that they tell of. Clauses ATO-4, ISO-5, REC-2, REC-3."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from forkproof.reference.entries import Answered, Entry, Labelled, TurnEnded, UserSaid, on_path
from forkproof.reference.labels import Label, carried
from forkproof.reference.reading import listing
from forkproof.reference.record import Record
from forkproof.reference.session import Session
from forkproof.reference.store import Made, Moved, Rebased, Removed, Row, Wrote

__all__ = ["Stored", "restore", "unended"]


@dataclass(frozen=True, slots=True)
class Stored:
    """What a store tells: sessions by id, the first entry of each turn, and the answer to each request that had one.

    `writing` are the sessions whose newest row is an entry: those that were not moved or made since.
    """

    sessions: dict[str, Session] = field(default_factory=dict)
    turns: dict[str, Entry] = field(default_factory=dict)
    answers: dict[str, Record] = field(default_factory=dict)
    writing: set[str] = field(default_factory=set)


def restore(rows: Sequence[Row]) -> Stored:
    """Read the rows, first to last. Each session stands where its own last row put it (clause ISO-5)."""
    stored = Stored()
    for row in rows:
        match row:
            case Made():
                _make(stored, row)
            case Wrote(id_, entry) if id_ in stored.sessions:
                _enter(stored, stored.sessions[id_], entry)
                stored.writing.add(id_)
            case Moved(id_, leaf) if id_ in stored.sessions:
                stored.sessions[id_].leaf = leaf
                stored.writing.discard(id_)
            case Rebased(id_, leaf) if id_ in stored.sessions:
                session = stored.sessions[id_]
                session.leaf = session.base = leaf
                session.written.clear()
            case Removed(id_):
                stored.sessions.pop(id_, None)
            case _:
                pass
    return stored


def _make(stored: Stored, row: Made) -> None:
    header = row.header
    session = stored.sessions[header.id] = Session(header, row.leaf)
    source = stored.sessions.get(header.lineage.source) if header.lineage else None
    if source is not None:
        source.children += 1
        session.moved.update(source.moved)
        # Labels that were set on the inherited path; those that were set elsewhere are rows of the child (LBL-2).
        labels = carried(source.labels, row.leaf)
        session.labels.update({label.target.id: label for label in labels if on_path(label.setter, row.leaf)})
    if row.record is not None and row.request:
        stored.answers[row.request] = row.record


def _enter(stored: Stored, session: Session, entry: Entry) -> None:
    session.leaf = entry
    session.written.append(entry)
    body = entry.body
    if isinstance(body, UserSaid) and stored.turns.setdefault(entry.turn, entry) is not entry:
        session.moved[entry.turn] = entry
    if isinstance(body, Labelled):
        _label(session, entry, body)


def _label(session: Session, setter: Entry, body: Labelled) -> None:
    target = next((entry for entry in listing(session) if entry.id == body.target), None)
    if target is not None and body.text:
        session.labels[body.target] = Label(target, body.text, setter.stamp.at, setter)
    else:
        session.labels.pop(body.target, None)


def unended(leaf: Entry | None) -> TurnEnded | None:
    """What is to be written at the end of a restored session: that its last turn was interrupted, if it never ended.

    Nobody knows how far it came, so it does not count as complete (clauses TOOL-2, TOOL-3).
    """
    if leaf is None or not leaf.turn:
        return None
    body = leaf.body
    # A session that was moved may stand right behind a turn's last answer, which is whole.
    open_ = not isinstance(body, TurnEnded) and not (isinstance(body, Answered) and not body.calls)
    return TurnEnded("cancelled") if open_ else None
