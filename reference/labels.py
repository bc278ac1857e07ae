"""Labels: names that a person gives to entries of a session, kept as entries that no model reads.

Source: clauses LBL-1, LBL-2; seed 003, "Labels travel differently".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from forkproof.reference.entries import Entry, on_path

__all__ = ["Label", "carried"]


class Label(NamedTuple):
    """A label as it stands: the entry that bears it, its text, when it was set, and the entry that set it."""

    target: Entry
    text: str
    at: int
    setter: Entry


def carried(labels: Mapping[str, Label], leaf: Entry | None) -> list[Label]:
    """The labels that a fork whose path ends at `leaf` keeps: those of entries on that path, wherever they were set.

    O(log n) for each label of the source.
    """
    return [label for label in labels.values() if on_path(label.target, leaf)]
