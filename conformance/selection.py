"""From what a person names on the command line (an area, a trace, a check, a path) to the files to play."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from forkproof.conformance.trace.load import NoTraceError, discover, slug_of

__all__ = ["Selection", "select"]


@dataclass(frozen=True, slots=True)
class Selection:
    """The files to play, in order, and the ids of the checks to keep (none: all)."""

    files: tuple[Path, ...]
    checks: tuple[str, ...]


def select(targets: Iterable[str]) -> Selection:
    """Resolve targets as `discover` does, and besides `TRACE::CLAUSE` for one check. None: all shipped traces.

    Raises `NoTraceError` when a target names nothing.
    """
    names: list[str] = []
    checks: list[str] = []
    for target in targets:
        name, _, clause = target.partition("::")
        names.append(name)
        if not clause:
            continue
        found = discover([name])
        if len(found) != 1:
            raise NoTraceError(f"{target}: a check is TRACE::CLAUSE, and {name} is not one trace")
        checks.append(f"{slug_of(found[0])}::{clause}")
    return Selection(tuple(p.absolute() for p in discover(names)), tuple(checks))
