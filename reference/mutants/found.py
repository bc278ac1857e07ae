"""Mutants that are faults which the first reference once had, found by the second one. Clauses TOOL-4, LBL-2, TRE-3."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from forkproof.reference.entries import ToolEnded, on_path
from forkproof.reference.harness import Harness
from forkproof.reference.mutants.mutant import Mutant
from forkproof.reference.prompt import Message
from forkproof.reference.refusal import Refusal
from forkproof.reference.restore import Stored, restore
from forkproof.reference.store import Row
from forkproof.reference.tree import Tree

__all__ = ["MUTANTS"]


def _wherever_it_stands(rows: Sequence[Row]) -> Stored:
    """Every session counts as one that was writing when its process ended."""
    stored = restore(rows)
    stored.writing.update(stored.sessions)
    return stored


def _own_labels_only(rows: Sequence[Row]) -> Stored:
    stored = restore(rows)
    for session in stored.sessions.values():
        for id_, label in list(session.labels.items()):
            if on_path(label.setter, session.base):
                del session.labels[id_]
    return stored


class _AsTheyEnded(Tree):
    """The history shows results in the order in which they were recorded."""

    def history(self, id_: str) -> list[Message] | Refusal:
        session = self._find(id_)
        shown = super().history(id_)
        if isinstance(session, Refusal) or isinstance(shown, Refusal):
            return shown
        came = [e.message for e in session.written if isinstance(e.body, ToolEnded) and e.message in shown]
        return [came.pop(0) if message in came else message for message in shown]


class _ReadsAsTheyEnded(Harness):
    def __init__(self, *given: object, **named: object) -> None:
        super().__init__(*given, **named)  # type: ignore[arg-type]  # whatever the harness takes
        self.tree.__class__ = _AsTheyEnded


MUTANTS: Final = (
    Mutant(
        "a-moved-session-counts-as-interrupted",
        "TOOL-4",
        "interrupted-as-complete",
        "After a restart a session that stands inside of a turn gets an interruption mark and stands behind that.",
        rules=lambda rules: replace(rules, restore=_wherever_it_stands),
    ),
    Mutant(
        "inherited-labels-lost-in-a-restart",
        "LBL-2",
        None,
        "After a restart a fork has only the labels that were set in itself.",
        rules=lambda rules: replace(rules, restore=_own_labels_only),
    ),
    Mutant(
        "results-shown-as-they-ended",
        "TRE-3",
        "view-context-divergence",
        "The history shows the results of parallel calls in the order in which they ended.",
        harness=_ReadsAsTheyEnded,
    ),
)
