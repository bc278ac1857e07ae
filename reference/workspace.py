"""A workspace: the files that a session's tools see. Source: design section 10; clauses ENV-1 to ENV-5.

Sessions that share a workspace hold the same object. A snapshot is no copy: it starts from the frozen picture of what
is there, and a tree of its own is built only when its files are first read or changed by a tool.
"""

from __future__ import annotations

import errno
import posixpath
from collections.abc import Mapping
from typing import TYPE_CHECKING

from forkproof.reference.picture import Picture, decoded, encoded

if TYPE_CHECKING:
    from forkproof.reference.filetree import FileTree, Names

__all__ = ["Workspace"]


class Workspace:
    """Files below one directory, whose name is opaque. Paths are relative to it, or absolute and below it.

    Every operation raises `OSError` as a real file system would, and then has changed nothing.
    """

    def __init__(self, directory: str, picture: Picture) -> None:
        self.directory = directory
        self._picture: Picture | None = picture
        self._files: Mapping[str, str] | None = None
        self._tree: FileTree | None = None

    def picture(self) -> Picture:
        """Everything that is there now, frozen; worked out anew only after a change."""
        if self._picture is None:
            self._picture = self._built().picture()
        return self._picture

    def files(self) -> Mapping[str, str]:
        """All files as text by relative path, sorted; the same object until the next change."""
        if self._files is None:
            found = self.picture().files
            self._files = {path: decoded(found[path]) for path in sorted(found)}
        return self._files

    def snapshot(self, directory: str) -> Workspace:
        """A workspace of its own at `directory` that holds all that this one holds now (ENV-5)."""
        return Workspace(directory, self.picture())

    def read(self, path: str) -> str:
        """A file's text."""
        return decoded(self._built().read(self._place(path)))

    def names(self) -> list[str]:
        """The sorted names in the directory, without hidden ones, as `ls` shows them."""
        return [name for name in self._built().names() if not name.startswith(".")]

    def write(self, path: str, text: str) -> None:
        """Make a file or replace its content; folders on the way are made."""
        content = encoded(text)
        self._built().write(self._place(path), content)
        self._changed()

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace the first occurrence of `old`, which must be there, by `new`."""
        text = self.read(path)
        if old not in text:
            raise OSError(errno.EINVAL, "the text to replace is not there", path)
        self.write(path, text.replace(old, new, 1))

    def remove(self, path: str) -> None:
        """Remove a file."""
        self._built().remove(self._place(path))
        self._changed()

    def mkdir(self, path: str) -> None:
        """Make one folder, whose parent must be there."""
        self._built().mkdir(self._place(path))
        self._changed()

    def move(self, source: str, target: str) -> None:
        """Rename a file or folder; a target that is a folder takes the source in."""
        self._built().move(self._place(source), self._place(target))
        self._changed()

    def _changed(self) -> None:
        self._picture = None
        self._files = None

    def _built(self) -> FileTree:
        if self._tree is None:
            from forkproof.reference.filetree import FileTree

            self._tree = FileTree(self.picture())
        return self._tree

    def _place(self, path: str) -> Names:
        """The names from the directory down to `path`."""
        if not path or "\0" in path:
            raise OSError(errno.EINVAL, "not a path", path)
        full = posixpath.normpath(posixpath.join(self.directory, path))
        if full == self.directory:
            return ()
        if not full.startswith(f"{self.directory}/"):
            raise OSError(errno.EACCES, "outside of the workspace", path)
        return tuple(full[len(self.directory) + 1 :].split("/"))
