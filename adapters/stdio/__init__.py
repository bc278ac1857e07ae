"""The open protocol: adapters in any language, as JSON-RPC 2.0 on standard input and output (docs/adapters.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forkproof.adapters.choice import Choice
    from forkproof.adapters.protocol import Adapter

__all__ = ["create"]


def create(choice: Choice | None = None) -> Adapter:
    """An adapter for the program at the choice's place. Raises `NotInstalled`, and as `StdioAdapter` does."""
    from forkproof.adapters.errors import NotInstalled
    from forkproof.adapters.stdio.adapter import StdioAdapter
    from forkproof.adapters.stdio.program import program

    if choice is None or choice.place is None:
        raise NotInstalled("an adapter of your own goes by the path of its program", "forkproof run ./my-adapter")
    return StdioAdapter(program(choice.place))
