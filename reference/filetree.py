"""A tree of files: a pyfakefs `FakeFilesystem` used as an object, never patched in. Source: design sections 10 and 13.

Places are tuples of names below the root. Errors are the `OSError`s that a real file system raises. pyfakefs takes ten
times as long to resolve a path as it takes to look names up one by one, so places are looked up here.
"""

from __future__ import annotations

import errno
import os
from typing import Final, NoReturn, TypeAlias, TypeGuard

from pyfakefs.fake_file import FakeDirectory, FakeFile
from pyfakefs.fake_filesystem import FakeFilesystem

from forkproof.reference.picture import Picture

__all__ = ["FileTree", "Names"]

Names: TypeAlias = tuple[str, ...]

_ROOT: Final[Names] = ()


class FileTree:
    """Files and folders, built from a picture."""

    def __init__(self, picture: Picture) -> None:
        self._system = FakeFilesystem(path_separator="/")
        for path, content in picture.files.items():
            self.write(tuple(path.split("/")), content)
        for path in picture.empty_folders:
            self._folder(tuple(path.split("/")))

    def picture(self) -> Picture:
        """Everything that is there now."""
        files: dict[str, bytes] = {}
        empty: list[str] = []
        waiting: list[tuple[Names, FakeDirectory]] = [(_ROOT, self._system.root_dir)]
        while waiting:
            place, folder = waiting.pop()
            if place and not folder.entries:
                empty.append("/".join(place))
            for name, below in folder.entries.items():
                if _is_folder(below):
                    waiting.append(((*place, name), below))
                else:
                    files["/".join((*place, name))] = below.byte_contents or b""
        return Picture(files, frozenset(empty))

    def read(self, place: Names) -> bytes:
        """A file's content."""
        return self._file(place).byte_contents or b""

    def names(self) -> list[str]:
        """The sorted names in the root."""
        return sorted(self._system.root_dir.entries)

    def write(self, place: Names, content: bytes) -> None:
        """Make a file or replace its content; folders on the way are made."""
        found = self._find(place)
        if found is None:
            new = FakeFile(place[-1], filesystem=self._system)
            new.set_contents(content)
            self._folder(place[:-1]).add_entry(new)
        elif _is_folder(found):
            _refuse(errno.EISDIR, place)
        else:
            found.set_contents(content)

    def remove(self, place: Names) -> None:
        """Remove a file."""
        self._file(place)
        self._folder(place[:-1]).remove_entry(place[-1])

    def mkdir(self, place: Names) -> None:
        """Make one folder, whose parent must be there."""
        if self._find(place) is not None:
            _refuse(errno.EEXIST, place)
        parent = self._existing(place[:-1])
        if not _is_folder(parent):
            _refuse(errno.ENOTDIR, place)
        parent.add_entry(FakeDirectory(place[-1], filesystem=self._system))

    def move(self, source: Names, target: Names) -> None:
        """Rename a file or folder; a target that is a folder takes the source in."""
        self._existing(source)
        if not source:
            _refuse(errno.EBUSY, source)
        found = self._find(target)
        if found is not None and _is_folder(found):
            target = (*target, source[-1])
        if target == source:
            _refuse(errno.EINVAL, source)  # as mv does, which would have nothing to do
        self._system.rename("/" + "/".join(source), "/" + "/".join(target))

    def _find(self, place: Names) -> FakeFile | None:
        found: FakeFile = self._system.root_dir
        for name in place:
            below = found.entries.get(name) if _is_folder(found) else None
            if below is None:
                return None
            found = below
        return found

    def _existing(self, place: Names) -> FakeFile:
        found = self._find(place)
        if found is None:
            _refuse(errno.ENOENT, place)
        return found

    def _file(self, place: Names) -> FakeFile:
        found = self._existing(place)
        if _is_folder(found):
            _refuse(errno.EISDIR, place)
        return found

    def _folder(self, place: Names) -> FakeDirectory:
        """The folder at this place, made with all folders on the way where it is missing."""
        folder = self._system.root_dir
        for name in place:
            below = folder.entries.get(name)
            if below is None:
                below = FakeDirectory(name, filesystem=self._system)
                folder.add_entry(below)
            if not _is_folder(below):
                _refuse(errno.ENOTDIR, place)
            folder = below
        return folder


def _is_folder(found: FakeFile) -> TypeGuard[FakeDirectory]:
    return isinstance(found, FakeDirectory)


def _refuse(code: int, place: Names) -> NoReturn:
    raise OSError(code, os.strerror(code), "/".join(place) or ".")
