"""What the model answers to the naive harness: a list of words and calls, a failure, or nothing yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from forkproof.reference.prompt import Prompt, Text

__all__ = ["Answer", "Failed", "Model", "No", "Person", "Stalled", "Use"]


@dataclass(frozen=True)
class Use:
    """The model calls a tool; `start` and `end` are printed around the tool's own output."""

    id: str
    tool: str
    arguments: Mapping[str, Any] | str
    start: str
    end: str


@dataclass(frozen=True)
class Failed:
    """The model could not be reached."""


@dataclass(frozen=True)
class Stalled:
    """The model's stream stays open until the turn is cancelled."""


Answer: TypeAlias = list[Text | Use] | Failed | Stalled

Model: TypeAlias = Callable[[Prompt], Answer]

Person: TypeAlias = Callable[[str], str]
"""Answers whether the call of this id may run: allow_once, allow_for_session, allow_always or reject."""


@dataclass(frozen=True)
class No:
    """The harness refuses: busy, unknown-cut, unknown-session or other. Nothing was changed."""

    reason: str
