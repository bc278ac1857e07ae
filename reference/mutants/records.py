"""Mutants whose fork record is wrong or silent in one field. Clauses REC-1 to REC-10."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from forkproof.reference.cut import Place
from forkproof.reference.fork import Child
from forkproof.reference.inherit import Setting
from forkproof.reference.mutants.mutant import Mutant
from forkproof.reference.mutants.surgery import of_forks
from forkproof.reference.record import Record
from forkproof.reference.rules import Rules
from forkproof.reference.session import Session

__all__ = ["MUTANTS"]

Saying = Callable[[Record, Session, Place], Mapping[str, Any]]
"""The record as it should be, the source and the place in; the fields that are told otherwise out."""


def _recording(saying: Saying) -> Callable[[Rules], Rules]:
    def changed(child: Child, source: Session, place: Place) -> Child:
        return Child(child.session, child.record._replace(**saying(child.record, source, place)))

    return of_forks(changed)


def _always(**fields: object) -> Callable[[Rules], Rules]:
    return _recording(lambda _record, _source, _place: fields)


def _root(record: Record, source: Session, _place: Place) -> Mapping[str, Any]:
    """The first session of the line, in place of the immediate source."""
    lineage = source.header.lineage
    return {"source": lineage.source if lineage is not None else record.source}


def _unless_empty(record: Record, _source: Session, place: Place) -> Mapping[str, Any]:
    return {"source": record.source if place.leaf is not None else ""}


def _other_workspace(record: Record, _source: Session, _place: Place) -> Mapping[str, Any]:
    return {"workspace": "isolated" if record.workspace == "shared" else "shared"}


def _without_origins(record: Record, _source: Session, _place: Place) -> Mapping[str, Any]:
    # What a careless harness would state: the value, and nothing about where it came from.
    return {"settings": {name: Setting(value, cast("Any", None)) for name, (value, _) in record.settings.items()}}


MUTANTS: Final = (
    Mutant(
        "record-without-source",
        "REC-1",
        "lineage",
        "The fork record does not name the source.",
        rules=_always(source=""),
    ),
    Mutant(
        "record-says-head",
        "REC-1",
        "lineage",
        "The fork record says that the cut was at the head, whatever it was.",
        rules=_always(cut={"head": True}),
    ),
    Mutant(
        "record-names-source-as-child",
        "REC-2",
        "lineage",
        "The fork record gives the source's id for the new session.",
        rules=_recording(lambda _record, source, _place: {"session": source.header.id}),
    ),
    Mutant(
        "record-names-first-ancestor",
        "REC-3",
        "lineage",
        "The record of a fork of a fork names the first session of the line as its source.",
        rules=_recording(_root),
    ),
    Mutant(
        "empty-prefix-without-lineage",
        "CUT-7",
        "lineage",
        "The record of a fork with an empty prefix does not name the source.",
        rules=_recording(_unless_empty),
    ),
    Mutant(
        "record-edge-continuation",
        "REC-4",
        "lineage",
        "The fork record takes the fork for a continuation.",
        rules=_always(edge="continuation"),
    ),
    Mutant(
        "settings-without-origin",
        "REC-7",
        "settings-lost",
        "The fork record gives the settings and not where each came from.",
        rules=_recording(_without_origins),
    ),
    Mutant(
        "record-without-settings",
        "REC-7",
        "settings-lost",
        "The fork record gives no settings.",
        rules=_always(settings={}),
    ),
    Mutant(
        "record-without-directory",
        "REC-8",
        "cwd-worktree",
        "The fork record does not say where the child's tools run.",
        rules=_always(directory=None),
    ),
    Mutant(
        "record-mistakes-workspace",
        "REC-8",
        "cwd-worktree",
        "The fork record calls a shared workspace isolated, and an isolated one shared.",
        rules=_recording(_other_workspace),
    ),
    Mutant(
        "record-without-revision",
        "REC-9",
        "mixed-snapshot",
        "The fork record does not say which state of the source was frozen.",
        rules=_always(revision=None),
    ),
    Mutant(
        "record-without-checkpoint",
        "REC-10",
        "compaction-boundary",
        "The record of a fork behind a compaction says that there is none.",
        rules=_always(checkpoint="none"),
    ),
)
