"""Refusals: a definite no, which has changed nothing. Source: clauses ATO-1, ATO-2, CUT-5, OPS-4, SNAP-4."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Refusal"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A definite no: nothing was written."""

    reason: Literal["busy", "unknown-cut", "unknown-session", "cancelled", "other"]
    message: str
