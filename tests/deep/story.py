"""A program as the steps of a trace, as far as the trace language goes, so that a disagreement becomes a trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import yaml

from tests.deep.script import Answer, Said, Used

__all__ = ["Story"]

Told: TypeAlias = dict[str, Any]


class Story:
    """The steps that were played so far. Sessions are `main`, `s1`, ...; turns and calls have their program's names."""

    def __init__(self, policies: Told) -> None:
        self._policies = policies
        self._steps: list[Told] = []
        self.played = 0
        """How many steps this program played."""

    def tell(self, **step: Any) -> Told:
        """One step; what is None or empty is left out. What comes of it may be added to the answer later."""
        self.played += 1
        told = {name.rstrip("_"): value for name, value in step.items() if value not in (None, "", {}, [])}
        self._steps.append(told)
        return told

    def text(self, trouble: str) -> str:
        """The trace, with what went wrong as a comment."""
        trace = {"trace": 1, "title": "The two references disagree", "needs": [], "steps": self._steps}
        comment = "".join(f"# {line}\n" for line in [*trouble.splitlines(), f"policies: {self._policies}"])
        return comment + yaml.safe_dump(trace, sort_keys=False, width=110)


def model(answers: Sequence[Answer]) -> list[Told]:
    """The `model` member of a turn."""
    steps: list[Told] = []
    for answer in answers:
        if isinstance(answer, str):
            steps.append({"fail": 500} if answer == "fails" else {"stall": "forever"})
            continue
        steps += [{"say": part.text} for part in answer if isinstance(part, Said)]
        calls = [_call(part) for part in answer if isinstance(part, Used)]
        steps += calls if len(calls) < 2 else [{"together": calls}]
    return steps


def _call(use: Used) -> Told:
    return {"call": use.id, use.tool: use.arguments}
