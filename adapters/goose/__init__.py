"""Goose through the Agent Client Protocol: a recipe, and what Goose offers beyond the protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forkproof.adapters.choice import Choice
    from forkproof.adapters.protocol import Adapter

__all__ = ["create"]


def create(choice: Choice | None = None) -> Adapter:
    """A fresh adapter for the installed Goose, the pinned version unless another is chosen. Raises `NotInstalled`."""
    from forkproof.adapters.acp import shipped

    return shipped("goose", choice)
