"""The world.

Directories, waiting commands and counters, as the suite sees them. Source: design section 3 (abstract tools).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

__all__ = [
    "World",
]


class World(Protocol):
    """What the tools touch.

    Directories, waiting commands and counters. Directories are opaque strings to the player.
    """

    def create(self, name: str, files: Mapping[str, str]) -> str:
        """Make a directory with these files and return it."""
        ...

    def reserve(self, name: str) -> str:
        """Name a directory that does not exist yet."""
        ...

    def copy(self, source: str, target: str) -> None:
        """Copy everything in `source` to the reserved directory `target`."""
        ...

    def write(self, directory: str, files: Mapping[str, str]) -> None:
        """Change files as a person would: make these or replace their content."""
        ...

    def block(self, directory: str) -> None:
        """Put something in the place of a reserved directory, so that no copy can be made there."""
        ...

    def read(self, directory: str) -> Mapping[str, str]:
        """All files below the directory, by relative POSIX path; undecodable bytes as surrogate escapes."""
        ...

    async def started(self, call: str) -> None:
        """Return when the waiting command of the call with this wire id has begun."""
        ...

    def release(self, call: str) -> None:
        """Let the waiting command of the call with this wire id finish."""
        ...

    def processes(self) -> Mapping[str, int]:
        """How many background processes of each name run now."""
        ...

    def runs(self) -> Mapping[str, int]:
        """How often each counting command ran so far."""
        ...
