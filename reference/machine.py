"""The machine: all that sessions share outside of their histories. Workspaces by directory, waiting commands, counters.

Nothing in a history undoes anything here: a fork changes what a model reads, not what a tool did (clause ENV-1; seed
000, "a conversation fork is not a rollback of the world").
"""

from __future__ import annotations

import asyncio
import posixpath
from collections import Counter
from collections.abc import Mapping, Sequence

from forkproof.reference.picture import picture_of
from forkproof.reference.workspace import Workspace

__all__ = ["Machine"]


class _Waiting:
    """A command that waits: whether it has begun, and whether it may end."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.released = asyncio.Event()


class Machine:
    """A computer in memory. Directories are absolute POSIX paths, each with a workspace of its own."""

    def __init__(self) -> None:
        self._workspaces: dict[str, Workspace] = {}
        self._waiting: dict[str, _Waiting] = {}
        self._runs: Counter[str] = Counter()
        self._processes: dict[str, list[str]] = {}

    # --- workspaces ------------------------------------------------------------------------------------------------

    def create(self, directory: str, files: Mapping[str, str]) -> Workspace:
        """A new workspace with these files.

        Raises `FileExistsError` if there is one, `ValueError` if the directory is no normal absolute path.
        """
        if not directory.startswith("/") or posixpath.normpath(directory) != directory:
            raise ValueError(f"{directory!r} is not a normal absolute path")
        return self._add(Workspace(directory, picture_of(files)))

    def workspace(self, directory: str) -> Workspace:
        """The workspace at a directory. Raises `FileNotFoundError`."""
        found = self._workspaces.get(directory)
        if found is None:
            raise FileNotFoundError(f"no directory {directory}")
        return found

    def exists(self, directory: str) -> bool:
        """Whether there is a workspace at this directory."""
        return directory in self._workspaces

    def snapshot(self, source: str, target: str) -> Workspace:
        """A workspace at `target` that holds what the one at `source` holds now. Raises `FileExistsError`."""
        return self._add(self.workspace(source).snapshot(target))

    def _add(self, workspace: Workspace) -> Workspace:
        if workspace.directory in self._workspaces:
            raise FileExistsError(f"directory {workspace.directory} is there already")
        self._workspaces[workspace.directory] = workspace
        return workspace

    # --- commands that wait or count -------------------------------------------------------------------------------

    async def wait(self, command: str, *, forever: bool) -> None:
        """Run a waiting command: it ends when it is released, or, `forever`, when it is killed (cancelled)."""
        waiting = self._command(command)
        waiting.started.set()
        await (asyncio.Event() if forever else waiting.released).wait()

    async def started(self, command: str) -> None:
        """Return when the waiting command of this name has begun."""
        await self._command(command).started.wait()

    def release(self, command: str) -> None:
        """Let the waiting command of this name end, also if it has not begun yet."""
        self._command(command).released.set()

    def count(self, counter: str) -> int:
        """Run a counting command: the counter goes up by one. Returns its new value."""
        self._runs[counter] += 1
        return self._runs[counter]

    def runs(self) -> Mapping[str, int]:
        """How often each counting command ran so far."""
        return dict(self._runs)

    # --- background processes --------------------------------------------------------------------------------------

    def start(self, name: str, owner: str) -> None:
        """A process begins that goes on by itself; it is the session's whose tool started it (clause ENV-9)."""
        self._processes.setdefault(name, []).append(owner)

    def end(self, name: str, owner: str) -> None:
        """A process of this name and owner ends."""
        self._processes[name].remove(owner)

    def processes(self) -> Mapping[str, Sequence[str]]:
        """The processes that run, by name, each as the id of the session that owns it."""
        return {name: tuple(owners) for name, owners in self._processes.items() if owners}

    def processes_of(self, owner: str) -> tuple[str, ...]:
        """The names of the processes that a session owns."""
        return tuple(name for name, owners in self._processes.items() for each in owners if each == owner)

    def _command(self, name: str) -> _Waiting:
        found = self._waiting.get(name)
        if found is None:
            found = self._waiting[name] = _Waiting()
        return found
