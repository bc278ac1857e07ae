"""The program behind a recipe, and the command line that starts it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from forkproof.adapters.acp.recipe import Recipe, fill
from forkproof.adapters.errors import NotInstalled
from forkproof.adapters.installation import Installation, digest

__all__ = ["command_line", "own", "route"]


def own(recipe: Recipe) -> Installation:
    """The program that a user's recipe names: a path, or a name on the PATH. Raises `NotInstalled`.

    Its version is not asked for: only the agent itself, at `initialize`, knows in which way it tells it.
    """
    first = recipe.command[0]
    found = shutil.which(first)
    if found is None:
        where = "is no executable file" if "/" in first else "is not on the PATH"
        raise NotInstalled(f"recipe {recipe.name}: the program {first!r} {where}", "install it, or mend `command`")
    binary = Path(found).absolute()
    return Installation(recipe.name, "unknown", binary, digest(binary))


def command_line(recipe: Recipe, installation: Installation, values: Mapping[str, str]) -> list[str]:
    """The whole command, placeholders filled; a script for Node is started through Node. Raises `NotInstalled`."""
    arguments = [fill(word, values) for word in recipe.command[1:]]
    return [*installation.command, *arguments]


def route(recipe: Recipe) -> str:
    """How the suite reaches the agent, in words: `ACP (goose acp, stdio)`."""
    words = [recipe.name]
    for word in recipe.command[1:]:
        if word.startswith("-"):
            break
        words.append(word)
    return f"ACP ({' '.join(words)}, stdio)"
