"""Semantics: the reference's choices where the contract leaves one. Source: design section 10."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from forkproof.reference.cut import BusySource

__all__ = ["CONTRACT", "Semantics"]


@dataclass(frozen=True, slots=True)
class Semantics:
    """One value for each point of policy.

    busy_source: what a fork does whose source has a turn in flight (SNAP-4). The default keeps everything that was
    shown as complete (SNAP-2) and shows the rest as unknown (TOOL-2). retained_turns: how many turns a compaction keeps
    word for word (CMP-6).
    """

    busy_source: BusySource = "interrupt"
    retained_turns: int = 1


CONTRACT: Final = Semantics()
"""The choices of the reference itself."""
