"""Mutants: the reference with one fault each, to prove that the traces can fail. Source: design sections 9 and 10.

A module of this package holds the mutants of one subject in a tuple `MUTANTS`; a new module is entered in `MODULES`.
Nothing that judges knows a mutant: it is driven as the reference, under the reference's name.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Final

from forkproof.reference.mutants.mutant import Mutant

__all__ = ["MODULES", "Mutant", "every", "named"]

MODULES: Final = (
    "cuts", "snapshots", "pairing", "compactions", "ranges", "busy", "items", "isolation", "records", "workspaces",
    "operations", "settings", "approvals", "hooks", "tree", "left", "reading", "labels", "delegation", "restores",
    "provider", "durable", "identity", "found",
)  # fmt: skip
"""The modules with mutants, in the order in which they are shown. They are imported when they are asked for."""


@cache
def every() -> tuple[Mutant, ...]:
    """All mutants. Raises `ValueError` if a name stands twice."""
    found: dict[str, Mutant] = {}
    for module in MODULES:
        for mutant in import_module(f"{__name__}.{module}").MUTANTS:
            if mutant.name in found:
                raise ValueError(f"two mutants are called {mutant.name}")
            found[mutant.name] = mutant
    return tuple(found.values())


def named(name: str) -> Mutant | None:
    """The mutant of this name."""
    return next((mutant for mutant in every() if mutant.name == name), None)
