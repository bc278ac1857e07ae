"""The world of an adapter that has directories of its own: each question goes to it, on the spot."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias, TypeVar

from forkproof.adapters.stdio import messages as m

__all__ = ["Ask", "AskLater", "RemoteWorld"]

T = TypeVar("T")
Ask: TypeAlias = Callable[[str, Any], Any]
AskLater: TypeAlias = Callable[[str, Any], Awaitable[Any]]


class RemoteWorld:
    """A `protocol.World` behind `world/*`. `ask` gives a method's result at once, `wait` when it comes.

    Both take a message and give one; they raise what broke the adapter.
    """

    def __init__(self, ask: Ask, wait: AskLater) -> None:
        self._ask = ask
        self._wait = wait
        self._runs: Mapping[str, int] | None = None

    def create(self, name: str, files: Mapping[str, str]) -> str:
        """Make a directory with these files and return it."""
        return self._directory("world/create", m.CreateDirectory(name, files))

    def reserve(self, name: str) -> str:
        """Name a directory that does not exist yet."""
        return self._directory("world/reserve", m.ReserveDirectory(name))

    def copy(self, source: str, target: str) -> None:
        """Copy everything in `source` to the reserved directory `target`."""
        self._ask("world/copy", m.CopyDirectory(source, target))

    def write(self, directory: str, files: Mapping[str, str]) -> None:
        """Make these files or replace their content."""
        self._ask("world/write", m.WriteFiles(directory, files))

    def block(self, directory: str) -> None:
        """Take the place of a reserved directory."""
        self._ask("world/block", m.DirectoryRef(directory))

    def read(self, directory: str) -> Mapping[str, str]:
        """All files below the directory."""
        found: m.Files = self._ask("world/read", m.DirectoryRef(directory))
        if found.runs is not None:
            # Good for whoever asks in the same breath, as the suite does behind each step.
            self._runs = found.runs
            asyncio.get_running_loop().call_soon(self._forget)
        return found.files

    async def started(self, call: str) -> None:
        """Return when the waiting command of this call has begun."""
        await self._wait("world/started", m.CallRef(call))

    def release(self, call: str) -> None:
        """Let the waiting command of this call finish."""
        self._ask("world/release", m.CallRef(call))

    def processes(self) -> Mapping[str, int]:
        """How many background processes of each name run now."""
        return self._counts("world/processes")

    def runs(self) -> Mapping[str, int]:
        """How often each counting command ran so far."""
        return self._counts("world/runs") if self._runs is None else self._runs

    def _forget(self) -> None:
        self._runs = None

    def _directory(self, method: str, message: Any) -> str:
        found: m.DirectoryRef = self._ask(method, message)
        return found.directory

    def _counts(self, method: str) -> Mapping[str, int]:
        found: m.Counts = self._ask(method, m.Nothing())
        return found.counts
