"""Semantics: the reference's choices where the contract leaves one. Source: design section 10."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from forkproof.reference.cut import BusySource
from forkproof.reference.entrycut import CallGroup
from forkproof.reference.fork import Prefix
from forkproof.reference.inherit import SettingsSource
from forkproof.reference.provider import CacheKey

__all__ = ["CONTRACT", "Semantics"]


@dataclass(frozen=True, slots=True)
class Semantics:
    """One value for each point of policy.

    busy_source: what a fork does whose source has a turn in flight (SNAP-4). The default keeps everything that was
    shown as complete (SNAP-2) and shows the rest as unknown (TOOL-2). call_group: what a cut does that lies between
    calls and their results (TOOL-7). prefix: whether a fork shares its source's entries or copies them with new ids
    (CMP-1). retained_turns: how many turns a compaction keeps word for word (CMP-6). settings_source: whether a child
    keeps its source's settings as of the cut, or as the source has them now (SET-1, SET-8). cache_key: which key of the
    provider's prompt cache a session sends (PRV-3).
    """

    busy_source: BusySource = "interrupt"
    call_group: CallGroup = "after"
    prefix: Prefix = "shared"
    retained_turns: int = 1
    settings_source: SettingsSource = "cut"
    cache_key: CacheKey = "shared"


CONTRACT: Final = Semantics()
"""The choices of the reference itself."""
