"""Where the keys and values of a document stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

__all__ = ["Path", "Place"]

Path: TypeAlias = tuple[str | int, ...]
"""Keys and list indexes from the top of a document."""

# Most places are of scalars and have nothing below them: one empty mapping for all keeps large files small in memory.
_NOTHING: Mapping[str, Place] = MappingProxyType({})
_NO_PARTS: Mapping[str | int, Place] = MappingProxyType({})


@dataclass(slots=True, eq=False)
class Place:
    """Where a value stands, in lines and columns from 1.

    `keys` are the places of a mapping's keys, `parts` those of its values or of a list's entries. `flow` tells a
    mapping or list in braces or brackets.
    """

    line: int
    column: int
    flow: bool = False
    keys: Mapping[str, Place] = field(default_factory=lambda: _NOTHING)
    parts: Mapping[str | int, Place] = field(default_factory=lambda: _NO_PARTS)

    def at(self, path: Sequence[str | int]) -> Place:
        """The place of the value at this path, or of the last part of the path that there is."""
        place = self
        for step in path:
            if step not in place.parts:
                break
            place = place.parts[step]
        return place

    def key(self, path: Sequence[str | int]) -> Place:
        """The place of the path's last key where it is one, else that of its value."""
        parent = self.at(path[:-1])
        return parent.keys.get(str(path[-1])) or self.at(path)
