"""One finding about an adapter: what was tried, what was expected, what came, and a hint where that differs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Finding"]


@dataclass(frozen=True, slots=True)
class Finding:
    """`status` is ok, failed, or absent: the adapter does not declare it, so nothing was asked of it."""

    name: str
    status: Literal["ok", "failed", "absent"]
    expected: str
    came: str
    hint: str = ""
