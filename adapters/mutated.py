"""Mutants behind the adapter protocol: driven as the reference is, and under its name, so that nothing knows them."""

from __future__ import annotations

from forkproof.adapters.inprocess import ReferenceAdapter
from forkproof.reference.mutants import Mutant
from forkproof.reference.rules import RULES
from forkproof.reference.semantics import CONTRACT

__all__ = ["mutated"]


def mutated(mutant: Mutant) -> ReferenceAdapter:
    """A fresh adapter of the reference with this fault. It declares what the reference declares."""
    return ReferenceAdapter(rules=mutant.rules(RULES), harness=mutant.harness, chosen=mutant.semantics(CONTRACT))
