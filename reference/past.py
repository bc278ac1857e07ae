"""The past: a history that a session starts with, as turns that are stored in some order, each behind another.

Source: clauses CUT-3, CUT-4, RD-4, TRE-1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forkproof.reference.entries import Answered, Entry, TurnEnded, UserSaid
from forkproof.reference.links import Row
from forkproof.reference.prompt import Text
from forkproof.reference.runtime import Runtime
from forkproof.reference.session import Session

__all__ = ["PastTurn", "recall"]


@dataclass(frozen=True, slots=True)
class PastTurn:
    """A finished turn of a history to import; `at` in whole seconds since the epoch, or a time in ISO 8601.

    `behind` is the key of the turn that it goes on from: by default the one that is stored before it. One that names a
    key that no turn has is an orphan. `id` is the turn's id; by default it gets a new one.
    """

    at: int | str
    user: str
    say: str
    key: str = ""
    behind: str | None = None
    id: str = ""


def recall(runtime: Runtime, session: Session, turns: Sequence[PastTurn]) -> dict[str, Entry]:
    """Record these turns in an empty session; each turn's new id with its user message, in the stored order.

    The session's listing keeps the stored order, whatever the links are. It stands at the last stored turn that none
    goes on from.
    """
    rows = _rows(turns)
    linked = runtime.rules.linked(rows)
    ends: dict[int, Entry] = {}
    begun: dict[int, tuple[str, Entry]] = {}
    stored: dict[int, list[Entry]] = {}
    for number, parent in linked:
        session.leaf = None if parent is None else ends[parent]
        begun[number], ends[number] = _record(runtime, session, turns[number])
        stored[number], session.written[:] = session.written[:], []
    inner = {parent for _, parent in linked}
    for number in sorted(stored):
        session.written.extend(stored[number])
        if number not in inner:
            session.leaf = ends[number]
    return dict(begun[number] for number in sorted(begun))


def _rows(turns: Sequence[PastTurn]) -> list[Row]:
    rows: list[Row] = []
    for number, past in enumerate(turns):
        before = rows[-1].key if rows else None
        rows.append(Row(past.key or f"#{number}", before if past.behind is None else past.behind))
    return rows


def _record(runtime: Runtime, session: Session, past: PastTurn) -> tuple[tuple[str, Entry], Entry]:
    turn = past.id or runtime.ids.turn()
    first = runtime.append(session, turn, UserSaid(past.user), past.at)
    runtime.append(session, turn, Answered((Text(past.say),), ()), past.at)
    return (turn, first), runtime.append(session, turn, TurnEnded("end_turn"), past.at)
