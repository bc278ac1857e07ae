"""pi, driven through `pi --mode rpc`: what it does and what was seen is in docs/pi.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forkproof.adapters.choice import Choice
    from forkproof.adapters.protocol import Adapter

__all__ = ["create"]


def create(choice: Choice | None = None) -> Adapter:
    """An adapter for the pinned version of pi unless another is chosen. Raises `NotInstalled`."""
    from forkproof.adapters.installation import program
    from forkproof.adapters.pi.adapter import PiAdapter

    return PiAdapter(
        program("pi", choice),
        wire=(choice.wire if choice else None) or "chat",
        variant=(choice.variant if choice else None) or "",
    )
