"""Mutants that cut in the wrong place. Clauses CUT-1 to CUT-7."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from forkproof.reference.cut import Place, Point, cut
from forkproof.reference.entries import Entry
from forkproof.reference.mutants.mutant import Mutant
from forkproof.reference.refusal import Refusal

__all__ = ["MUTANTS"]


def _whole(leaf: Entry | None, point: Point, turns: Mapping[str, Entry]) -> Place | Refusal:
    found = cut(leaf, point, turns)
    return found if isinstance(found, Refusal) else found._replace(leaf=leaf)


MUTANTS: Final = (
    Mutant(
        "whole-history",
        "CUT-1",
        "wrong-cut",
        "Every fork holds the whole history of its source, whatever the cut.",
        rules=lambda rules: replace(rules, cut=_whole),
    ),
)
