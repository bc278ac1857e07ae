"""Goose through the Agent Client Protocol: a recipe, and what Goose offers beyond the protocol."""

from __future__ import annotations

from forkproof.adapters.protocol import Adapter

__all__ = ["create"]


def create(version: str | None = None) -> Adapter:
    """A fresh adapter for the installed Goose, the pinned version unless another is named. Raises `NotInstalled`."""
    from forkproof.adapters.acp import shipped

    return shipped("goose", version)
