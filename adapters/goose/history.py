"""A Goose session as `_goose/unstable/session/export` and `import` spell it: rows with a stamp in whole seconds.

Measured with Goose 1.52.0; docs/goose.md, "The stored session", says what each field holds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from forkproof.adapters.errors import Garbage
from forkproof.adapters.protocol import Cut, Import

__all__ = ["Exported", "Row", "cutoff", "in_order", "parse", "to_import"]


@dataclass(frozen=True, slots=True)
class Row:
    """One stored message. `created` in whole seconds since the epoch; `text` is empty if it holds none."""

    role: str
    created: int
    text: str
    id: str = ""

    @property
    def opens_a_turn(self) -> bool:
        """A person's message or a compaction's summary.

        Goose stores under `user` also tool results, and what was said into a turn that ran, with an id of its own kind.
        """
        return self.role == "user" and bool(self.text) and not self.id.startswith("steer_")


@dataclass(frozen=True, slots=True)
class Exported:
    """One exported session: its rows in order, hidden ones too, and the session that it names as its parent."""

    rows: tuple[Row, ...]
    parent: str | None = None


def parse(text: str) -> Exported:
    """The session in the text that `session/export` gives. Raises `Garbage`."""
    told = _load(text)
    try:
        rows = tuple(_row(message) for message in told["conversation"] or ())
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _not_an_export(repr(error)) from error
    parent = told.get("parent_session_id")
    return Exported(rows, parent if isinstance(parent, str) else None)


def _load(text: str) -> dict[str, Any]:
    try:
        told = json.loads(text)
    except ValueError as error:
        raise _not_an_export(str(error)) from error
    if not isinstance(told, dict):
        raise _not_an_export(f"a {type(told).__name__}")
    return told


def _not_an_export(what: str) -> Garbage:
    return Garbage(f"Goose's export is not as version 1.52.0 writes it: {what}", "try the pinned version")


def _row(message: Mapping[str, Any]) -> Row:
    text = "\n".join(str(part["text"]) for part in message["content"] if part["type"] == "text")
    return Row(str(message["role"]), int(message["created"]), text, str(message.get("id") or ""))


def cutoff(cut: Cut, rows: Sequence[Row]) -> int | None:
    """The second for `conversationBefore`, at and after which Goose drops rows; None if all are kept.

    Before a turn: the stamp of its user message. After a turn: that of the next row which opens one, or none if it is
    the last. Raises `LookupError` if no row holds the turn's marker, and for a head cut, which needs no second.
    """
    if cut.turn is None:
        raise LookupError("a cut at the head has no turn")
    places = [i for i, row in enumerate(rows) if row.opens_a_turn and cut.turn.marker in row.text]
    if not places:
        raise LookupError(f"no stored user message holds the marker of turn {cut.turn.name}")
    if cut.kind == "before":
        return rows[places[0]].created
    return next((row.created for row in rows[places[0] + 1 :] if row.opens_a_turn), None)


def to_import(fresh: str, wanted: Import) -> str:
    """The text for `session/import` that makes a session with these turns, their stamps and their ids included.

    `fresh` is the export of a new, empty session in the same directory; its settings are kept. Raises `Garbage`.
    """
    rows = [
        _message((turn.id or f"imported-{number}") + more, role, _seconds(turn.at), text)
        for number, turn in enumerate(wanted.turns)
        for role, more, text in (("user", "", turn.user), ("assistant", "-answer", turn.say))
    ]
    return json.dumps({**_load(fresh), "conversation": rows, "message_count": len(rows)})


def in_order(wanted: Import) -> bool:
    """Whether the turns' stamps never go back: Goose keeps rows in the order of their stamps."""
    stamps = [_seconds(turn.at) for turn in wanted.turns]
    return stamps == sorted(stamps)


def _seconds(time: int | str) -> int:
    """Goose stores whole seconds, so a time that the trace writes as text loses its fraction."""
    return time if isinstance(time, int) else int(datetime.fromisoformat(time).timestamp())


def _message(ident: str, role: str, at: int, text: str) -> dict[str, Any]:
    return {
        "id": ident,
        "role": role,
        "created": at,
        "content": [{"type": "text", "text": text}],
        "metadata": {"userVisible": True, "agentVisible": True},
    }
