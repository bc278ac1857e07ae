"""Mutants that cut in the wrong place, or copy the prefix wrongly. Clauses CUT-1 to CUT-7."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from forkproof.reference.cut import Place, Point, cut
from forkproof.reference.entries import Answered, Entry, ToolEnded, TurnEnded, UserSaid
from forkproof.reference.mutants.mutant import Mutant
from forkproof.reference.mutants.surgery import Cut, of_places, path_after, rebuilt
from forkproof.reference.project import full_path
from forkproof.reference.refusal import Refusal
from forkproof.reference.rules import Rules

__all__ = ["MUTANTS"]


def _cutting(rule: Cut) -> Callable[[Rules], Rules]:
    return lambda rules: replace(rules, cut=rule)


def _copying(order: Callable[[list[Entry]], list[Entry]]) -> Callable[[Rules], Rules]:
    """A fork that copies the entries of its prefix, as `order` gives them."""
    return _cutting(of_places(lambda _leaf, _point, place: place._replace(leaf=rebuilt(order(full_path(place.leaf))))))


# --- the wrong place -----------------------------------------------------------------------------------------------


def _whole(leaf: Entry | None, _point: Point, place: Place) -> Place:
    return place._replace(leaf=leaf)


def _one_late(leaf: Entry | None, point: Point, place: Place) -> Place:
    """Before a turn, its user message stays in."""
    behind = path_after(leaf, place.leaf)
    return place._replace(leaf=behind[0]) if point.kind == "before" else place


def _next_message(leaf: Entry | None, point: Point, place: Place) -> Place:
    """After a turn, the next user message comes along."""
    behind = path_after(leaf, place.leaf)
    return place._replace(leaf=behind[0]) if point.kind == "after" and behind else place


def _one_early(_leaf: Entry | None, point: Point, place: Place) -> Place:
    """Before a turn, the turn before it goes too."""
    if point.kind != "before" or place.leaf is None:
        return place
    turn, entry = place.leaf.turn, place.leaf
    while entry.parent is not None and entry.turn == turn:
        entry = entry.parent
    return place._replace(leaf=entry if entry.turn != turn else None)


def _without_the_answer(_leaf: Entry | None, point: Point, place: Place) -> Place:
    """After a turn, its last answer stays out."""
    ended = place.leaf
    return place._replace(leaf=ended.parent.parent) if point.kind == "after" and ended and ended.parent else place


def _first_means_all(leaf: Entry | None, point: Point, place: Place) -> Place:
    """No parent is taken for no cut."""
    return place._replace(leaf=leaf) if point.kind == "before" and place.leaf is None else place


def _last_means_all(leaf: Entry | None, point: Point, place: Place) -> Place:
    newest = [entry for entry in path_after(leaf, place.leaf) if isinstance(entry.body, UserSaid)]
    return place._replace(leaf=leaf) if point.kind == "before" and len(newest) == 1 else place


def _by_time(leaf: Entry | None, point: Point, turns: Mapping[str, Entry]) -> Place | Refusal:
    """All that is older than the message."""
    found = cut(leaf, point, turns)
    if isinstance(found, Refusal) or point.kind != "before":
        return found
    at = turns[point.turn].stamp.at
    return found._replace(leaf=rebuilt(entry for entry in full_path(leaf) if entry.stamp.at < at))


def _up_to_time(leaf: Entry | None, point: Point, turns: Mapping[str, Entry]) -> Place | Refusal:
    """All that is not newer than the message, but for its turn."""
    found = cut(leaf, point, turns)
    if isinstance(found, Refusal) or point.kind != "before":
        return found
    at = turns[point.turn].stamp.at
    kept = (entry for entry in full_path(leaf) if entry.stamp.at <= at and entry.turn != point.turn)
    return found._replace(leaf=rebuilt(kept))


def _unknown_is_head(leaf: Entry | None, point: Point, turns: Mapping[str, Entry]) -> Place | Refusal:
    found = cut(leaf, point, turns)
    return Place(leaf, {"head": True}) if isinstance(found, Refusal) else found


def _unknown_is_nothing(leaf: Entry | None, point: Point, turns: Mapping[str, Entry]) -> Place | Refusal:
    found = cut(leaf, point, turns)
    return Place(None, {point.kind: point.turn}) if isinstance(found, Refusal) else found


# --- the wrong copy ------------------------------------------------------------------------------------------------


def _swapped(path: list[Entry]) -> list[Entry]:
    """The newest two turns in each other's place."""
    turns = list(dict.fromkeys(entry.turn for entry in path))
    if len(turns) < 2:  # noqa: PLR2004  # two can be swapped
        return path
    last = [entry for entry in path if entry.turn == turns[-1]]
    before = [entry for entry in path if entry.turn == turns[-2]]
    return [*path[: -len(last) - len(before)], *last, *before]


def _without_first(path: list[Entry]) -> list[Entry]:
    first = path[0].turn if path else ""
    return [entry for entry in path if entry.turn != first]


def _words_only(path: list[Entry]) -> list[Entry]:
    """Neither calls nor results: what a list of chat messages shows."""
    return [e for e in path if not (isinstance(e.body, ToolEnded) or (isinstance(e.body, Answered) and e.body.calls))]


def _ended_well(path: list[Entry]) -> list[Entry]:
    bad = {entry.turn for entry in path if isinstance(entry.body, TurnEnded) and entry.body.stop == "failed"}
    return [entry for entry in path if entry.turn not in bad]


def _until_flushed(path: list[Entry]) -> list[Entry]:
    """The last answer was not on disk yet."""
    return path[:-2] if path and isinstance(path[-1].body, TurnEnded) else path


MUTANTS: Final = (
    Mutant(
        "whole-history",
        "CUT-1",
        "wrong-cut",
        "A fork holds the whole history of its source, whatever the cut.",
        rules=_cutting(of_places(_whole)),
    ),
    Mutant(
        "cut-keeps-next-message",
        "CUT-1",
        "wrong-cut",
        "A cut after a turn takes the next user message along.",
        rules=_cutting(of_places(_next_message)),
    ),
    Mutant(
        "cut-drops-last-answer",
        "CUT-1",
        "wrong-cut",
        "A cut after a turn leaves out the turn's last answer.",
        rules=_cutting(of_places(_without_the_answer)),
    ),
    Mutant(
        "words-without-calls",
        "CUT-1",
        "view-context-divergence",
        "A fork copies what a chat view shows: words, but neither tool calls nor results.",
        rules=_copying(_words_only),
    ),
    Mutant(
        "cut-one-turn-early",
        "CUT-2",
        "wrong-cut",
        "A cut before a turn leaves out the turn before it too.",
        rules=_cutting(of_places(_one_early)),
    ),
    Mutant(
        "cut-before-last-is-no-cut",
        "CUT-2",
        "wrong-cut",
        "A cut before the newest turn gives the whole history, all others are right.",
        rules=_cutting(of_places(_last_means_all)),
    ),
    Mutant(
        "cut-older-by-time",
        "CUT-3",
        "timestamp-tie",
        "A cut before a message keeps what has an older time, so neighbours with the same time are lost.",
        rules=_cutting(_by_time),
    ),
    Mutant(
        "cut-up-to-time",
        "CUT-3",
        "timestamp-tie",
        "A cut before a message keeps what is not newer, so later neighbours with the same time come along.",
        rules=_cutting(_up_to_time),
    ),
    Mutant(
        "prefix-sorted-by-time",
        "CUT-4",
        "timestamp-tie",
        "A fork sorts the copied items by their times.",
        rules=_copying(lambda path: sorted(path, key=lambda entry: entry.stamp.at)),
    ),
    Mutant(
        "prefix-turns-swapped",
        "CUT-4",
        "tree-structure",
        "A fork copies the newest two turns in the wrong order.",
        rules=_copying(_swapped),
    ),
    Mutant(
        "prefix-twice",
        "CUT-4",
        "dup-messages",
        "A fork holds its prefix twice: the copy, and once more through its lineage.",
        rules=_copying(lambda path: [*path, *path]),
    ),
    Mutant(
        "unknown-cut-is-head",
        "CUT-5",
        "missing-source-silent",
        "A cut at a turn that is not there is taken for the head.",
        rules=_cutting(_unknown_is_head),
    ),
    Mutant(
        "unknown-cut-is-empty",
        "CUT-5",
        "missing-source-silent",
        "A cut at a turn that is not there gives a fork without any history.",
        rules=_cutting(_unknown_is_nothing),
    ),
    Mutant(
        "cut-keeps-its-message",
        "CUT-7",
        "wrong-cut",
        "A cut before a user message keeps that message.",
        rules=_cutting(of_places(_one_late)),
    ),
    Mutant(
        "cut-before-first-is-no-cut",
        "CUT-7",
        "wrong-cut",
        "A cut before the first message gives the whole history in place of none.",
        rules=_cutting(of_places(_first_means_all)),
    ),
    Mutant(
        "prefix-without-first-turn",
        "PRV-2",
        "empty-fork",
        "A fork leaves the first turn of its prefix out.",
        rules=_copying(_without_first),
    ),
    Mutant(
        "failed-turns-left-out",
        "SNAP-2",
        "mixed-snapshot",
        "A fork leaves out turns that failed, though they were shown.",
        rules=_copying(_ended_well),
    ),
    Mutant(
        "unflushed-answer-left-out",
        "SNAP-2",
        "mixed-snapshot",
        "A fork leaves out the last answer, which was shown and not yet flushed.",
        rules=_copying(_until_flushed),
    ),
    Mutant(
        "editor-left-empty",
        "RD-6",
        "view-context-divergence",
        "A cut before a user message does not give its text back.",
        rules=_cutting(of_places(lambda _leaf, _point, place: place._replace(editor=""))),
    ),
)
