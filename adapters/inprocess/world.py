"""The world of one trial in memory: the reference's own machine."""

from __future__ import annotations

from collections.abc import Mapping

from forkproof.reference.machine import Machine

__all__ = ["MemoryWorld"]


class MemoryWorld:
    """The world of one trial: the reference's own machine, in memory."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._reserved: set[str] = set()

    def create(self, name: str, files: Mapping[str, str]) -> str:
        """Make a directory with these files and return it."""
        return self._machine.create(self.reserve(name), files).directory

    def reserve(self, name: str) -> str:
        """Name a directory that does not exist yet; the same name asked for twice gives two directories."""
        plain = "".join(c if c.isalnum() or c in "-_." else "-" for c in name).strip(".") or "unnamed"
        directory = f"/work/{plain}"
        number = 2
        while directory in self._reserved:
            directory = f"/work/{plain}-{number}"
            number += 1
        self._reserved.add(directory)
        return directory

    def copy(self, source: str, target: str) -> None:
        """Copy everything in `source` to the reserved directory `target`. Raises `OSError`."""
        self._machine.snapshot(source, target)

    def write(self, directory: str, files: Mapping[str, str]) -> None:
        """Make these files or replace their content."""
        for path, text in files.items():
            self._machine.workspace(directory).write(path, text)

    def block(self, directory: str) -> None:
        """Take the place of a reserved directory."""
        self._machine.create(directory, {})

    def read(self, directory: str) -> Mapping[str, str]:
        """All files below the directory by relative POSIX path; none where there is no directory."""
        return self._machine.workspace(directory).files() if self._machine.exists(directory) else {}

    async def started(self, call: str) -> None:
        """Return when the waiting command of this call has begun."""
        await self._machine.started(call)

    def release(self, call: str) -> None:
        """Let the waiting command of this call finish."""
        self._machine.release(call)

    def processes(self) -> Mapping[str, int]:
        """How many background processes of each name run now."""
        return {name: len(owners) for name, owners in self._machine.processes().items()}

    def runs(self) -> Mapping[str, int]:
        """How often each counting command ran so far."""
        return self._machine.runs()
