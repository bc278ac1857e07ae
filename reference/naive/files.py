"""Files as one dictionary: a path below the directory leads to a text, or to None where it is a folder.

Sessions that share a workspace hold the same dictionary; an isolated one holds a copy (clauses ENV-1 to ENV-5).
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any, TypeAlias

__all__ = ["Files", "Wrong", "edit", "read", "run", "texts", "write"]

Files: TypeAlias = dict[str, str | None]


class Wrong(Exception):
    """The tool fails."""


def texts(files: Files) -> dict[str, str]:
    """The files alone, without the folders."""
    return {path: text for path, text in sorted(files.items()) if text is not None}


def place(path: str, directory: str) -> str:
    """The path from the directory down; it may be given from the root, and may not lead out. Empty: the directory."""
    if not path or "\0" in path:
        raise Wrong(f"{path!r} is no path")
    below = path.removeprefix(directory + "/") if path != directory else "."
    if below.startswith("/"):
        raise Wrong(f"{path} is outside")
    names: list[str] = []
    for name in below.split("/"):
        if name == "..":
            if not names:
                raise Wrong(f"{path} is outside")
            names.pop()
        elif name not in ("", "."):
            names.append(name)
    return "/".join(names)


def parent(path: str) -> str:
    """The folder that a path is in."""
    return path.rpartition("/")[0]


def is_folder(files: Files, path: str) -> bool:
    """Whether there is a folder; the directory itself always is one."""
    return path == "" or (path in files and files[path] is None)


def read(files: Files, path: str) -> str:
    """The text of a file."""
    text = files.get(path)
    if text is None:
        raise Wrong(f"{path} is no file")
    return text


def write(files: Files, path: str, text: str) -> None:
    """Make a file or replace its text, and make the folders on the way."""
    if is_folder(files, path):
        raise Wrong(f"{path} is a folder")
    folders = []
    folder = parent(path)
    while folder:
        if files.get(folder) is not None:
            raise Wrong(f"{folder} is no folder")
        folders.append(folder)
        folder = parent(folder)
    for folder in folders:
        files[folder] = None
    files[path] = text


def edit(files: Files, path: str, change: Any) -> None:
    """Replace the first occurrence of the old text by the new one."""
    if not isinstance(change, Mapping) or set(change) != {"old", "new"}:
        raise Wrong("an edit names an old and a new text")
    text = read(files, path)
    if change["old"] not in text:
        raise Wrong(f"{path} does not hold the old text")
    write(files, path, text.replace(change["old"], change["new"], 1))


def run(files: Files, directory: str, command: str) -> str:
    """Do what one of the commands of the trace language does, and give its output."""
    match shlex.split(command):
        case ["pwd"]:
            return directory
        case ["ls"]:
            return "\n".join(sorted(path for path in files if "/" not in path and not path.startswith(".")))
        case ["true"]:
            return ""
        case ["echo", *words]:
            return " ".join(words)
        case ["rm", path]:
            path = place(path, directory)
            read(files, path)
            del files[path]
        case ["mkdir", path]:
            _make_folder(files, place(path, directory))
        case ["mv", old, new]:
            _move(files, place(old, directory), place(new, directory))
        case _:
            raise Wrong(f"{command} fails")
    return ""


def _make_folder(files: Files, path: str) -> None:
    if is_folder(files, path) or path in files or not is_folder(files, parent(path)):
        raise Wrong(f"no folder can be made at {path}")
    files[path] = None


def _move(files: Files, old: str, new: str) -> None:
    """Rename a file or a folder with all that it holds; a folder at the new place takes it in."""
    if old == "" or old not in files:
        raise Wrong(f"{old} can't be moved")
    if is_folder(files, new):
        new = f"{new}/{old.rpartition('/')[2]}".lstrip("/")
    if new == old or new.startswith(f"{old}/") or not is_folder(files, parent(new)):
        raise Wrong(f"{old} can't be moved to {new}")
    if new in files:
        both_files = files[old] is not None and files[new] is not None
        both_folders = files[old] is None and files[new] is None
        taken = any(path.startswith(f"{new}/") for path in files)
        if not both_files and not (both_folders and not taken):
            raise Wrong(f"{new} is in the way")
    moved = [path for path in files if path == old or path.startswith(f"{old}/")]
    for path in moved:
        files[new + path[len(old) :]] = files.pop(path)
