"""What a mutant is: the reference with one function changed, which breaks one clause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from forkproof.reference.harness import Harness
from forkproof.reference.rules import Rules
from forkproof.reference.semantics import Semantics

__all__ = ["Mutant", "same_rules", "same_semantics"]

OfRules: TypeAlias = Callable[[Rules], Rules]
OfSemantics: TypeAlias = Callable[[Semantics], Semantics]


def same_rules(rules: Rules) -> Rules:
    """No change."""
    return rules


def same_semantics(semantics: Semantics) -> Semantics:
    """No change."""
    return semantics


@dataclass(frozen=True, slots=True)
class Mutant:
    """A named fault of the reference.

    name: lower case, words joined by `-`, telling what is wrong. clause: the one that it breaks; a check counts as the
    right reason only if it carries this clause. kind: one of `kinds.KINDS`, None where no public report shows it.
    summary: one sentence on what this harness does.

    Exactly one of the others is changed. rules: one of the pure functions is another. semantics: it chooses otherwise
    than it declares. harness: one method is another, for faults in what a harness does and not in what it decides.
    """

    name: str
    clause: str
    kind: str | None
    summary: str
    rules: OfRules = same_rules
    semantics: OfSemantics = same_semantics
    harness: type[Harness] = Harness
