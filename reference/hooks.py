"""Hooks: programs of the person that a harness runs when a session starts, and before it is forked.

Source: clauses SET-4, SET-5, OPS-4, OPS-6.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, Protocol, TypeAlias

__all__ = ["NO_HOOKS", "Cause", "Hooks", "Started"]

Cause: TypeAlias = Literal["new", "fork", "resume"]


class Started(NamedTuple):
    """What a start hook is told: the session that starts, why, and for a fork the session that it was forked from."""

    session: str
    cause: Cause
    source: str | None = None


class Hooks(Protocol):
    """The hooks that are installed."""

    def at_start(self, run: Started) -> tuple[str, ...]:
        """Run every start hook once; the texts that they give the model."""
        ...

    def before_fork(self, source: str) -> str:
        """Run every hook that may cancel a fork of this session; why one did, empty if none."""
        ...


class _NoHooks:
    def at_start(self, run: Started) -> tuple[str, ...]:
        del run
        return ()

    def before_fork(self, source: str) -> str:
        del source
        return ""


NO_HOOKS: Final[Hooks] = _NoHooks()
