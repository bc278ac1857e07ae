"""What mutants do to histories: new paths made of the entries of old ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from forkproof.reference.cut import Place, Point, cut
from forkproof.reference.entries import Checkpoint, Entry, TurnEnded, append
from forkproof.reference.fork import Child, fork
from forkproof.reference.project import full_path
from forkproof.reference.refusal import Refusal
from forkproof.reference.rules import Rules
from forkproof.reference.session import Session

__all__ = ["Cut", "of_forks", "of_places", "path_after", "rebuilt", "turns_ended"]

Cut: TypeAlias = Callable[[Entry | None, Point, Mapping[str, Entry]], Place | Refusal]
"""The rule `cut`: a leaf, the point that was asked for and the turns in, a place out."""


def rebuilt(entries: Iterable[Entry]) -> Entry | None:
    """The leaf of a new path of these entries; they keep their stamps, and tails point to the new entries."""
    leaf: Entry | None = None
    copies: dict[Entry, Entry] = {}
    for entry in entries:
        body = entry.body
        if isinstance(body, Checkpoint) and body.tail is not None:
            body = replace(body, tail=copies.get(body.tail, body.tail))
        leaf = copies[entry] = append(leaf, body, entry.stamp)
    return leaf


def path_after(leaf: Entry | None, place: Entry | None) -> list[Entry]:
    """The entries behind `place` up to `leaf`, oldest first."""
    path = full_path(leaf)
    return path[path.index(place) + 1 :] if place in path else path


def of_places(changed: Callable[[Entry | None, Point, Place], Place]) -> Cut:
    """A rule `cut` that finds the right place and then changes it; the source's leaf and the point are told too."""

    def rule(leaf: Entry | None, point: Point, turns: Mapping[str, Entry]) -> Place | Refusal:
        found = cut(leaf, point, turns)
        return found if isinstance(found, Refusal) else changed(leaf, point, found)

    return rule


def turns_ended(entries: Iterable[Entry], *stops: str) -> set[str]:
    """The ids of the turns that ended so."""
    return {entry.turn for entry in entries if isinstance(entry.body, TurnEnded) and entry.body.stop in stops}


def of_forks(changed: Callable[[Child, Session, Place], Child]) -> Callable[[Rules], Rules]:
    """Rules whose `fork` makes the right child and then changes it; the source and the place are told too."""

    def rule(id_: str, source: Session, place: Place, *told: Any, **more: Any) -> Child:
        return changed(fork(id_, source, place, *told, **more), source, place)

    return lambda rules: replace(rules, fork=rule)
