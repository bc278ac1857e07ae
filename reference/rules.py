"""Rules: the pure functions that decide, as one value, so that a harness with one of them changed can be made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from forkproof.reference import compact as compacting
from forkproof.reference import cut as cutting
from forkproof.reference import fork as forking
from forkproof.reference import inherit as inheriting
from forkproof.reference import project, repair
from forkproof.reference.cut import BusySource, Place, Point
from forkproof.reference.entries import Entry
from forkproof.reference.fork import Child
from forkproof.reference.inherit import Setting
from forkproof.reference.prompt import Message
from forkproof.reference.record import WorkspaceKind
from forkproof.reference.refusal import Refusal
from forkproof.reference.session import Session

__all__ = ["RULES", "Rules"]


@dataclass(frozen=True, slots=True)
class Rules:
    """Each field is the function of that name; see there. The harness decides nothing by itself."""

    cut: Callable[[Entry | None, Point, Mapping[str, Entry]], Place | Refusal] = cutting.cut
    boundary: Callable[[Entry, Entry, BusySource], Place | Refusal] = cutting.boundary
    active: Callable[[Entry | None], list[Entry]] = project.active
    pair: Callable[[Iterable[Entry]], list[Message]] = repair.pair
    plan: Callable[[Sequence[Entry], int], compacting.Plan | None] = compacting.plan
    inherit: Callable[[Mapping[str, str], Mapping[str, str]], dict[str, Setting]] = inheriting.inherit
    fork: Callable[[str, Session, Place, str, WorkspaceKind, Mapping[str, Setting]], Child] = forking.fork


RULES: Final = Rules()
"""The contract's own."""
