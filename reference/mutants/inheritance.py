"""What mutants do to the rule of inheritance: settings that a child loses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from forkproof.reference.inherit import DEFAULTS, Setting, Value, inherit
from forkproof.reference.rules import Rules

__all__ = ["Inherit", "Values", "inheriting", "reset"]

Values: TypeAlias = Mapping[str, Value]

Inherit: TypeAlias = Callable[..., dict[str, Setting]]
"""The rule `inherit`: the source's settings, the overrides and what else it takes in, the child's settings out."""


def inheriting(rule: Inherit) -> Callable[[Rules], Rules]:
    """The reference with this rule of inheritance."""
    return lambda rules: replace(rules, inherit=rule)


def reset(*names: str) -> Inherit:
    """The child gets the defaults for these settings, and nothing where there is none."""

    def rule(source: Values, overrides: Values, *rest: object) -> dict[str, Setting]:
        found: dict[str, Setting] = inherit(source, overrides, *rest)  # type: ignore[arg-type]  # passed through
        for name in names:
            if name in found and name not in overrides:
                del found[name]
                if name in DEFAULTS:
                    found[name] = Setting(DEFAULTS[name], "default")
        return found

    return rule
