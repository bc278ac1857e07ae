"""What each operation is to the reference. One table; each handler carries out one kind of operation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from forkproof.adapters.inprocess import authority, busy
from forkproof.adapters.protocol import (
    Acknowledged,
    Answer,
    Cancel,
    Cut,
    Field,
    Fork,
    Forked,
    ForkRecord,
    Import,
    OpenSession,
    Refused,
    SendPrompt,
    SessionOpened,
    TurnEnded,
    TurnRef,
    Unknown,
)
from forkproof.reference.cut import Point
from forkproof.reference.entries import UserSaid
from forkproof.reference.fork import ForkRequest
from forkproof.reference.harness import Harness, PastTurn
from forkproof.reference.prompt import Blob
from forkproof.reference.record import Record
from forkproof.reference.refusal import Refusal
from forkproof.reference.session import Session
from forkproof.reference.store import Died
from forkproof.reference.turn import Ended

__all__ = ["HANDLERS", "Handler", "refused", "reported"]

Handler: TypeAlias = Callable[[Harness, Any], Awaitable[Answer]]


async def _open(harness: Harness, asked: OpenSession) -> Answer:
    return _opened(harness.open(asked.directory, asked.settings))


async def _import(harness: Harness, asked: Import) -> Answer:
    past = [PastTurn(turn.at, turn.user, turn.say, turn.key, turn.behind, turn.id) for turn in asked.turns]
    return _opened(harness.import_history(asked.directory, past, asked.settings))


async def _prompt(harness: Harness, asked: SendPrompt) -> Answer:
    attachments = tuple(Blob(name, content) for name, content in asked.attachments.items())
    if harness.delegation.scope(asked.session) is not None:
        ended = await harness.delegation.prompt(asked.session, asked.text, asked.role)
    else:
        ended = await harness.prompt(asked.session, asked.text, attachments)
    return TurnEnded(ended.stop, ended.turn, ended.detail) if isinstance(ended, Ended) else refused(ended)


async def _cancel(harness: Harness, asked: Cancel) -> Answer:
    await harness.cancel(asked.session)
    return Acknowledged()


async def _fork(harness: Harness, asked: Fork) -> Answer:
    session = asked.session if asked.exists else f"session-{asked.session}"
    request = ForkRequest(asked.directory, asked.workspace, asked.settings, asked.request, asked.dies)
    try:
        record = await harness.fork(session, _point(harness, session, asked.cut), request)
    except Died:
        await harness.die()
        return Unknown("the process died over the fork")
    return refused(record) if isinstance(record, Refusal) else Forked(busy.in_items(harness, session, reported(record)))


def _point(harness: Harness, session: str, cut: Cut) -> Point:
    if cut.item is not None:
        return Point("at", entry=busy.entry_of(harness, session, cut.item))
    return Point(cut.kind, "" if cut.turn is None else _turn_id(harness, session, cut.turn))


def _turn_id(harness: Harness, session: str, turn: TurnRef) -> str:
    """The harness's id of a turn: as it was given, or found by the turn's marker."""
    unknown = f"turn-unknown-{turn.name}"
    if not turn.exists:
        return unknown
    if turn.native is not None:
        return turn.native
    return next((p.turn for p in harness.fork_points(session) if turn.marker in p.text), unknown)


def _opened(session: Session | Refusal) -> Answer:
    if isinstance(session, Refusal):
        return refused(session)
    return SessionOpened(session.header.id, tuple(e.turn for e in session.written if isinstance(e.body, UserSaid)))


def refused(refusal: Refusal) -> Refused:
    """The reference's no."""
    return Refused(refusal.reason, refusal.message)


def reported(record: Record) -> ForkRecord:
    """The record's fields, each stated by the harness itself."""

    def stated(value: object) -> Field:
        return Field(value, "reported")

    settings = {name: {"value": value, "origin": origin} for name, (value, origin) in record.settings.items()}
    return ForkRecord(
        session=stated(record.session),
        source=stated(record.source),
        cut=stated(dict(record.cut)),
        revision=stated(record.revision),
        settings=stated(settings),
        checkpoint=stated(record.checkpoint),
        directory=stated(record.directory),
        workspace=stated(record.workspace),
        snapshot=stated(record.snapshot),
        edge=stated(record.edge),
        grants=stated(list(record.grants)),
        editor=stated(record.editor),
        memories=stated([]),  # none is shared: what is remembered belongs to the path
    )


HANDLERS: Mapping[type, Handler] = {
    OpenSession: _open,
    Import: _import,
    SendPrompt: _prompt,
    Cancel: _cancel,
    Fork: _fork,
    **authority.HANDLERS,
    **busy.HANDLERS,
}
"""The handler of each kind of operation; what is not here is unsupported."""
