"""The world of a real harness: directories, FIFOs and counters below one private root. Source: `protocol.World`.

    root/workspaces/NAME    where tools work
    root/control/           what the commands of `shell` use: two FIFOs a waiting call, a file a counter

Waiting is event-driven: a command writes to one FIFO when it has begun and reads a line from the other.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from forkproof.adapters.protocol import ToolUse
from forkproof.adapters.shell import COUNTS, RELEASE, STARTED

__all__ = ["DiskWorld"]


@dataclass(frozen=True, slots=True)
class _Gate:
    """The two FIFOs of a waiting call, each open for reading and writing.

    So neither end ever waits for us to open ours, nothing written before we look is lost, and no end of file comes
    before `close`; then a command that still waits reads one, and fails.
    """

    started: int
    release: int
    begun: asyncio.Event


class DiskWorld:
    """A `protocol.World` on disk, made inside a running loop. `close` it when the harness has been stopped."""

    def __init__(self, root: Path, ignore: frozenset[str] = frozenset()) -> None:
        """`root` is a private directory; `ignore` are names in a workspace's top folder that `read` leaves out."""
        self.control = root / "control"
        """What `shell.command` takes as its control directory."""
        self._workspaces = root / "workspaces"
        self._ignore = ignore
        self._gates: dict[str, _Gate] = {}
        self._loop = asyncio.get_running_loop()
        for folder in (self._workspaces, self.control / COUNTS):
            folder.mkdir(parents=True, exist_ok=True)

    def create(self, name: str, files: Mapping[str, str]) -> str:
        """Make a workspace with these files. Raises `ValueError` for a path that leaves it, `FileExistsError`."""
        root = Path(self.reserve(name))
        root.mkdir()
        self.write(str(root), files)
        return str(root)

    def write(self, directory: str, files: Mapping[str, str]) -> None:
        """Make these files or replace their content. Raises `ValueError` for a path that leaves the workspace."""
        for path, text in files.items():
            file = _within(Path(directory), path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode("utf-8", "surrogateescape"))

    def block(self, directory: str) -> None:
        """Put a file in the place of a reserved workspace."""
        Path(directory).touch(exist_ok=False)

    def reserve(self, name: str) -> str:
        """The workspace of this name, which does not exist yet."""
        if Path(name).name != name:
            raise ValueError(f"not a name of one folder: {name!r}")
        return str(self._workspaces / name)

    def copy(self, source: str, target: str) -> None:
        """Copy a directory and all it holds, links as links, sockets and FIFOs left out, to where nothing is yet."""
        shutil.copytree(source, target, symlinks=True, ignore=_special)

    def read(self, directory: str) -> Mapping[str, str]:
        """Every file below the directory, by relative POSIX path, as text.

        A link to a file in the directory counts as that file; any other link, which nobody may follow, stands as the
        text `link to TARGET`. Sockets and FIFOs are left out, and so is what vanishes meanwhile; a directory that is
        gone holds no file.
        """
        root = Path(directory)
        found = {}
        for path in self._files(root):
            text = _text(root, path)
            if text is not None:
                found[path.relative_to(root).as_posix()] = text
        return found

    def prepare(self, use: ToolUse) -> None:
        """Make ready what this call's command needs; to be called before the model asks for it."""
        if use.tool == "wait":
            self._gate(use.id)

    async def started(self, call: str) -> None:
        """Return when the waiting command of this call has begun, at once if it has already."""
        gate = self._gate(call)
        if not gate.begun.is_set():
            self._loop.add_reader(gate.started, self._saw, gate)
            await gate.begun.wait()

    def release(self, call: str) -> None:
        """Let the waiting command of this call finish, as soon as it waits."""
        os.write(self._gate(call).release, b"x\n")

    def processes(self) -> Mapping[str, int]:
        """None: no command that the suite gives a real harness leaves a process running."""
        return {}

    def runs(self) -> Mapping[str, int]:
        """How often each counting command ran so far; those that never ran are not in it."""
        return {f.name: len(f.read_bytes().splitlines()) for f in sorted((self.control / COUNTS).iterdir())}

    def close(self) -> None:
        """Give back the descriptors; a command that still waits then fails. May be called twice."""
        while self._gates:
            _, gate = self._gates.popitem()
            if not self._loop.is_closed():
                self._loop.remove_reader(gate.started)
            os.close(gate.started)
            os.close(gate.release)

    def _gate(self, call: str) -> _Gate:
        if call not in self._gates:
            started, release = (_fifo(self.control / name.format(call=call)) for name in (STARTED, RELEASE))
            self._gates[call] = _Gate(started, release, asyncio.Event())
        return self._gates[call]

    def _saw(self, gate: _Gate) -> None:
        self._loop.remove_reader(gate.started)
        gate.begun.set()

    def _files(self, root: Path) -> Iterator[Path]:
        """Every file and link below `root`, folders that are links included, in a fixed order."""
        for folder, folders, files in os.walk(root):
            here = Path(folder)
            if here == root:
                folders[:] = [name for name in folders if name not in self._ignore]
                files[:] = [name for name in files if name not in self._ignore]
            folders.sort()
            yield from (here / name for name in folders if (here / name).is_symlink())
            yield from (here / name for name in sorted(files))


def _fifo(path: Path) -> int:
    """Make a FIFO and open it both ways."""
    os.mkfifo(path, 0o600)
    return os.open(path, os.O_RDWR | os.O_NONBLOCK)


def _within(root: Path, path: str) -> Path:
    if path.startswith("/") or ".." in path.split("/"):
        raise ValueError(f"a path that leaves the workspace: {path!r}")
    return root / path


def _special(folder: str, names: list[str]) -> set[str]:
    """What can't be copied: sockets, FIFOs, devices."""
    return {name for name in names if not _ordinary(Path(folder, name).lstat().st_mode)}


def _ordinary(mode: int) -> bool:
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)


def _text(root: Path, path: Path) -> str | None:
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            target = Path(os.path.realpath(path))  # `resolve` raises on a loop of links
            if not (target.is_relative_to(os.path.realpath(root)) and target.is_file()):
                return f"link to {path.readlink()}"
        elif not stat.S_ISREG(mode):
            return None
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None
