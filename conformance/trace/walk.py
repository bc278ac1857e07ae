"""A walk over the steps of a trace, those among them that run at the same time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from forkproof.conformance.trace.model import Trace
from forkproof.conformance.trace.place import Path
from forkproof.conformance.trace.steps import AtOnceStep

__all__ = ["walk"]


def walk(trace: Trace) -> Iterator[tuple[int, Path, Any]]:
    """Each step with the index and the path of its place; the steps of a `together` come after it, by its index."""
    for index, step in enumerate(trace.steps):
        path: Path = ("steps", index)
        yield index, path, step
        if isinstance(step, AtOnceStep):
            for number, inner in enumerate(step.together):
                yield index, (*path, "together", number), inner
