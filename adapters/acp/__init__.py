"""Any agent that speaks the Agent Client Protocol, from a recipe; docs/acp.md says how to write one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forkproof.adapters.acp.recipe import Recipe
    from forkproof.adapters.choice import Choice
    from forkproof.adapters.protocol import Adapter

__all__ = ["create", "from_recipe", "recipe_of", "shipped"]


def create(choice: Choice) -> Adapter:
    """A fresh adapter for `acp:PATH`, a user's recipe, or `acp:NAME`, one that comes with forkproof."""
    if choice.place is not None:
        return from_recipe(choice.place, choice.variant, choice.wire)
    return shipped(choice.name, choice)


def from_recipe(recipe: Path, variant: str | None = None, wire: str | None = None) -> Adapter:
    """A fresh adapter for a user's own recipe. Raises `BadRecipe`, and `NotInstalled` if its program is not there."""
    from forkproof.adapters.acp.adapter import AcpAdapter
    from forkproof.adapters.acp.program import own
    from forkproof.adapters.acp.recipe import load

    read = load(recipe).chosen(variant, wire)
    return AcpAdapter(read, own(read), variant=variant or "")


def shipped(name: str, choice: Choice | None = None) -> Adapter:
    """A fresh adapter for a recipe that comes with forkproof, its program installed by us. Raises `NotInstalled`.

    `name` is the harness's: `goose`, `acp:opencode`.
    """
    from forkproof.adapters.acp.adapter import AcpAdapter
    from forkproof.adapters.acp.recipe import load
    from forkproof.adapters.installation import program

    variant, wire = (choice.variant, choice.wire) if choice else (None, None)
    read = load(Path(__file__).with_name("recipes") / f"{name.removeprefix('acp:')}.toml").chosen(variant, wire)
    return AcpAdapter(read, program(name, choice), variant=variant or "")


def recipe_of(choice: Choice) -> Recipe | None:
    """The recipe of a chosen harness, a user's or one that comes with forkproof; None for one that has none.

    Raises `BadRecipe`.
    """
    from forkproof.adapters.acp.recipe import load

    if choice.place is not None:
        return load(choice.place).chosen(choice.variant, choice.wire) if choice.place.suffix == ".toml" else None
    shelf = Path(__file__).with_name("recipes") / f"{choice.name.removeprefix('acp:')}.toml"
    return load(shelf).chosen(choice.variant, choice.wire) if shelf.is_file() else None
