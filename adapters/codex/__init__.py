"""Codex, driven through `codex app-server`: what it does and what was seen is in docs/codex.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forkproof.adapters.choice import Choice
    from forkproof.adapters.protocol import Adapter

__all__ = ["create"]


def create(choice: Choice | None = None) -> Adapter:
    """An adapter for the pinned version of Codex and its default storage, unless chosen. Raises `NotInstalled`."""
    from forkproof.adapters.codex.adapter import CodexAdapter
    from forkproof.adapters.installation import program

    return CodexAdapter.of_variant(program("codex", choice), choice.variant if choice else None)
