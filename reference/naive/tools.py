"""The tools: what a call prints."""

from __future__ import annotations

from collections.abc import Mapping

from forkproof.reference.naive.answers import Use
from forkproof.reference.naive.files import Files, Wrong, edit, place, read, run, write

__all__ = ["printed"]


def printed(use: Use, files: Files, directory: str, runs: dict[str, int]) -> str:
    """Do the work of one call that need not wait; what it prints tells whether it failed."""
    try:
        output = _done(use, files, directory, runs)
    except Wrong as wrong:
        return f"{use.start}\n{wrong}\n{use.end.replace('.end]', '.failed]')}"
    return f"{use.start}\n{output}\n{use.end}"


def _done(use: Use, files: Files, directory: str, runs: dict[str, int]) -> str:
    match use.tool, use.arguments:
        case "wait", _:
            return ""
        case "count", str(counter):
            runs[counter] = runs.get(counter, 0) + 1
            return f"{counter}: {runs[counter]}"
        case "read", str(path):
            return read(files, place(path, directory))
        case "run", str(command):
            return run(files, directory, command)
        case "write", Mapping() as written:
            for path, text in written.items():
                write(files, place(path, directory), text)
            return "written"
        case "edit", Mapping() as edits:
            for path, change in edits.items():
                edit(files, place(path, directory), change)
            return "edited"
    raise Wrong(f"there is no tool {use.tool} for {use.arguments}")
