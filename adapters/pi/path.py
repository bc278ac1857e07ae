"""A session as pi holds it, and where a trace's turns, items and cuts are in it. Source: docs/pi.md, "Ids and cuts".

Entry ids are kept by forks, so they repeat across sessions: each is looked for in one session.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from forkproof.adapters.pi.messages import words
from forkproof.adapters.protocol import Cut, ItemRef, TurnRef
from forkproof.adapters.tree import EntryRef

__all__ = ["Held", "unknown_entry"]


def unknown_entry() -> str:
    """An id of the form that pi gives to entries."""
    return secrets.token_hex(4)


@dataclass(frozen=True)
class Held:
    """What pi holds of one session: its header, all entries in order, and the leaf that it stands at."""

    header: Mapping[str, Any]
    entries: Sequence[Mapping[str, Any]]
    leaf: str | None

    @classmethod
    def of(cls, told: Any) -> Held:
        """From the bridge's answer to `stand`."""
        match told:
            case {"header": Mapping() as header, "entries": list(entries)}:
                return cls(header, entries, told.get("leafId"))
        return cls({}, (), None)

    @cached_property
    def path(self) -> tuple[Mapping[str, Any], ...]:
        """The entries from the root to the leaf."""
        by_id = {entry.get("id"): entry for entry in self.entries}
        found: list[Mapping[str, Any]] = []
        at, seen = self.leaf, set[Any]()
        while at in by_id and at not in seen:
            seen.add(at)
            found.append(by_id[at])
            at = by_id[at].get("parentId")
        return tuple(reversed(found))

    @property
    def revision(self) -> str:
        """What names this state of the session: its leaf, and how many entries it has."""
        return f"{self.leaf or 'root'}/{len(self.entries)}"

    @property
    def checkpoint(self) -> str:
        """The newest compaction on the path, or `none`."""
        return next((str(e["id"]) for e in reversed(self.path) if e.get("type") == "compaction"), "none")

    @property
    def conversation(self) -> tuple[str, ...]:
        """The ids of the messages on the path, without the system's: what a cut is told by."""
        return tuple(str(e["id"]) for e in self.path if _role(e) not in (None, "system"))

    def user(self, turn: TurnRef) -> str | None:
        """The entry of a turn's user message on the path, or anywhere."""
        for entry in (*self.path, *self.entries):
            if _role(entry) == "user" and turn.marker in _text(entry):
                return str(entry["id"])
        return None

    def last_of(self, turn: TurnRef, steered: Collection[str] = ()) -> str | None:
        """The last message of a turn on the path; `steered` are the texts that were spoken into turns."""
        first = self.user(turn)
        last: str | None = None
        for entry in self.path:
            if entry["id"] == first:
                last = first
            elif last is not None and _begins_another(entry, steered):
                return last
            elif last is not None and _role(entry) in ("user", "assistant", "toolResult"):
                last = str(entry["id"])
        return last

    def at(self, place: ItemRef | EntryRef) -> str | None:
        """The entry that holds an item: on the path if it is there, else anywhere in the session."""
        native = getattr(place, "native", None)
        if native is not None and any(entry.get("id") == native for entry in self.entries):
            return str(native)
        name = place.name if isinstance(place, ItemRef) else place.item
        return next((str(e["id"]) for e in (*self.path, *self.entries) if _holds(e, name, place.marker)), None)

    def cut(self, cut: Cut, steered: Collection[str] = ()) -> str | None:
        """The entry that a cut is told to pi by; None where the session holds no such one."""
        if cut.item is not None:
            return self.at(cut.item) if cut.item.exists else unknown_entry()
        if cut.turn is None:
            return self.leaf
        if not cut.turn.exists:
            return unknown_entry()
        return self.user(cut.turn) if cut.kind == "before" else self.last_of(cut.turn, steered)


def _role(entry: Mapping[str, Any]) -> str | None:
    message = entry.get("message")
    return message.get("role") if entry.get("type") == "message" and isinstance(message, Mapping) else None


def _begins_another(entry: Mapping[str, Any], steered: Collection[str]) -> bool:
    """Whether a turn that began earlier has ended before this entry."""
    if _role(entry) == "user":
        return words(entry["message"].get("content")) not in steered
    return entry.get("type") in ("compaction", "branch_summary")


def _text(entry: Mapping[str, Any]) -> str:
    """Everything that an entry says, markers whole."""
    return json.dumps({k: v for k, v in entry.items() if k not in ("id", "parentId")}, ensure_ascii=False)


def _holds(entry: Mapping[str, Any], item: str, marker: str) -> bool:
    """Whether this is the entry of an item: a call's id stands in its own entry and in its result's."""
    kind = item.rpartition(".")[2] if not item.rpartition(".")[2].isdigit() else item.split(".")[1]
    role = _role(entry)
    if entry.get("type") in ("label", "context_edit") and kind not in ("edit", "label"):
        return False
    if kind == "call":
        return role == "assistant" and any(_same(call, marker) for call in _calls(entry))
    if kind == "result":
        message = entry.get("message", {})
        return role == "toolResult" and (_same(str(message.get("toolCallId")), marker) or marker in _text(entry))
    return role not in ("system", "toolResult") and marker in _text(entry)


def _calls(entry: Mapping[str, Any]) -> Iterator[str]:
    for part in entry["message"].get("content") or ():
        if isinstance(part, Mapping) and part.get("type") == "toolCall":
            yield str(part.get("id"))


def _same(call: str, marker: str) -> bool:
    """Whether this is the call of that wire id: over Responses pi joins the provider's two ids of a call."""
    return call.partition("|")[0] == marker
