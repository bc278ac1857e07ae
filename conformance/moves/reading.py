"""Reading a session from outside after a step, and finding the ids of entries by what they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from forkproof.adapters.protocol import Answer, Operation
from forkproof.adapters.readings import EntriesRead
from forkproof.adapters.tree import EntryRef, ListSessions, ReadCutPoints, ReadEntries, ReadHistory, ReadTree
from forkproof.conformance.readings import NOTHING, Readings, Wanted, names_in

if TYPE_CHECKING:
    from forkproof.conformance.player import PartPlayer

__all__ = ["read", "reference"]

_ENTRIES: Final = "entries"
_NEEDS: Final = {"points": "fork.points"}


async def read(player: PartPlayer, label: str, wanted: Wanted) -> Readings:
    """What a step has to read of its session; nothing of a session that was never made."""
    session = player.part.sessions.get(label)
    if session is None and "sessions" in wanted.words:
        # The list can be read even where the step's own session was never made.
        return Readings({"sessions": await player.ask(ListSessions())})
    if session is None or not (wanted.words or wanted.since or wanted.unknown):
        return NOTHING
    operations: dict[str, Operation] = {
        _ENTRIES: ReadEntries(session),
        "tree": ReadTree(session),
        "history": ReadHistory(session),
        "points": ReadCutPoints(session),
        "sessions": ListSessions(),
    }
    capabilities = player.stage.description.capabilities
    answers: dict[str, Answer] = {}
    for word in sorted(wanted.words):
        if _NEEDS.get(word, word) in capabilities:
            answers[word] = await player.ask(operations[word])
    _learn(player, label, answers.get(_ENTRIES))
    since: dict[str, Answer] = {}
    for item in wanted.since:
        # The id as it was seen first: a cursor that a reader kept.
        cursor = player.part.entries.get((label, item))
        if cursor is not None:
            since[item] = await player.ask(ReadEntries(session, cursor))
    unknown = None
    if wanted.unknown:
        unknown = await player.ask(ReadEntries(session, f"unknown-{player.script.markers.nonce}"))
    return Readings(answers, since, unknown)


async def reference(player: PartPlayer, label: str, item: str) -> EntryRef:
    """An item as a place in the session's tree; its id is looked up where the harness lists its entries."""
    part, markers = player.part, player.script.markers
    if (label, item) not in part.entries and _ENTRIES in player.stage.description.capabilities:
        _learn(player, label, await player.ask(ReadEntries(part.session(label))))
    owner, _, kind = item.partition(".")
    marker = markers.tag(item)
    if kind.startswith("call"):
        marker = markers.call_id(owner)
    elif kind.startswith("result"):
        marker = markers.tag(f"{owner}.start")
    return EntryRef(item, marker, part.entries.get((label, item)))


def _learn(player: PartPlayer, label: str, answer: Answer | None) -> None:
    if isinstance(answer, EntriesRead):
        for entry in answer.entries:
            for name in names_in(entry.message, player.script.markers):
                player.part.entries.setdefault((label, name), entry.id)
