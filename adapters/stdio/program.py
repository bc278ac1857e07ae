"""The program of an adapter: how it is started, by what interpreter, and in which environment."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from forkproof.adapters import environment
from forkproof.adapters.errors import NotInstalled

__all__ = ["Program", "program"]

_NODE = frozenset({".js", ".cjs", ".mjs"})


class Program(NamedTuple):
    """What is started: the words of the command, the file that they name, and the PATH that it gets."""

    argv: tuple[str, ...]
    file: Path
    path: str = environment.SYSTEM_PATH

    def environment(self, home: Path, tag: str | None = None) -> Mapping[str, str]:
        """The whole environment, built from nothing (design section 5)."""
        return environment.build(home, path=self.path, tag=tag)

    def state(self) -> tuple[str, ...]:
        """What changes when the program does, as far as its own file tells."""
        try:
            seen = self.file.stat()
        except OSError:
            return self.argv
        return (*self.argv, str(seen.st_mtime_ns), str(seen.st_size), str(seen.st_ino))

    def sha256(self) -> str:
        """The hash of the program's file."""
        return hashlib.sha256(self.file.read_bytes()).hexdigest()


def program(place: Path) -> Program:
    """How to start the program at this place.

    A file that ends in .js, .cjs or .mjs runs on Node, .py on the Python that runs forkproof, .sh on /bin/sh; any other
    must be executable. Raises `NotInstalled`.
    """
    if not place.exists():
        raise NotInstalled(f"there is no program {place}", "`forkproof adapter init DIR` makes one to begin with")
    if not place.is_file():
        raise NotInstalled(f"{place} is not a file", "name the program itself")
    if place.suffix in _NODE:
        node = _node()
        return Program((node, str(place)), place, f"{Path(node).parent}:{environment.SYSTEM_PATH}")
    if place.suffix == ".py":
        return Program((sys.executable, str(place)), place)
    if place.suffix == ".sh":
        return Program(("/bin/sh", str(place)), place)
    if not os.access(place, os.X_OK):
        raise NotInstalled(f"{place} may not be executed", f"try: chmod +x {place}")
    return Program((str(place),), place)


def _node() -> str:
    """The Node to run an adapter on. Raises `NotInstalled`."""
    from forkproof.adapters import node

    return str(node.find(oldest=_OLDEST_NODE).program)


_OLDEST_NODE = 20
"""What the example and the skeleton need; an adapter that needs more says so itself."""
