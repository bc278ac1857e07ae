"""Abstract tools as commands of a POSIX shell, for harnesses whose model acts through a shell tool.

The output begins with the call's start marker and ends with its end marker only if the work was done, else with
`.failed]` in place of `.end]`. No marker stands in the command itself: a harness that merely echoes it proves nothing.
A command is one line without control characters, so that a terminal between us and the shell can't change it.
Source: design sections 3 (abstract tools) and 4 (markers); the same tools in memory: `forkproof.reference.tools`.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final

from forkproof.adapters.protocol import ToolUse

__all__ = ["COUNTS", "RELEASE", "STARTED", "command"]

STARTED: Final = "{call}.started"
"""The FIFO in the control directory to which a waiting command writes once it has begun."""

RELEASE: Final = "{call}.release"
"""The FIFO in the control directory from which it then reads a line, that comes when the trace releases the call."""

COUNTS: Final = "counts"
"""The folder in the control directory with a file a counter, and in it a line a run."""


def command(use: ToolUse, control: Path) -> str:
    """The shell command that does the work of this call, in the current directory, and prints its markers.

    `control` is the world's directory for FIFOs and counters (see `DiskWorld`). The exit code is 0 only if the work was
    done. Raises `ValueError` for a tool, a command or a path that is none of the trace language.
    """
    if not use.end.endswith(".end]"):
        raise ValueError(f"not an end marker: {use.end!r}")
    start, end = _say(use.start), _say(use.end)
    failed = _say(use.end.removesuffix(".end]") + ".failed]")
    return f"{start}; if {_work(use, control)}; then {end}; else {failed}; false; fi"


def _say(marker: str) -> str:
    """Print a marker from pieces, between which its dots and brackets are put only by `printf`."""
    pieces = marker.removeprefix("[").removesuffix("]").split(".")
    return f"printf '[{'.'.join(['%s'] * len(pieces))}]\\n' {' '.join(map(shlex.quote, pieces))}"


def _work(use: ToolUse, control: Path) -> str:
    match use.tool, use.arguments:
        case "write", Mapping() as files if files:
            return " && ".join(_write(path, text) for path, text in files.items())
        case "edit", Mapping() as edits if edits:
            return " && ".join(_edit(path, change) for path, change in edits.items())
        case "read", str(path):
            return f"cat < {_path(path)}"
        case "run", str(line):
            return _run(line)
        case "wait", ("release" | "forever"):
            return _wait(control, use.id)
        case "count", str(counter) if PurePosixPath(counter).name == counter:
            return f"printf 'x\\n' >> {_place(control / COUNTS / counter)}"
    raise ValueError(f"no tool {use.tool} that takes {use.arguments!r}")


def _write(path: str, text: str) -> str:
    parent = PurePosixPath(path).parent.as_posix()
    make = "" if parent == "." else f"mkdir -p -- {_path(parent)} && "
    return f"{make}printf '%b' {_text(text)} > {_path(path)}"


def _edit(path: str, change: Mapping[str, Any]) -> str:
    """Replace the first occurrence, literally; the `x` keeps `$(...)` from taking newlines off the end."""
    file, old, new = _path(path), _text(change["old"]), _text(change["new"])
    return (
        f"fp_old=$(printf '%bx' {old}) && fp_old=${{fp_old%x}} && "
        f"fp_new=$(printf '%bx' {new}) && fp_new=${{fp_new%x}} && "
        f"fp_text=$(cat < {file} && printf x) && fp_text=${{fp_text%x}} && "
        'case $fp_text in *"$fp_old"*) fp_head=${fp_text%%"$fp_old"*}; fp_tail=${fp_text#*"$fp_old"}; '
        f"printf '%s' \"$fp_head$fp_new$fp_tail\" > {file};; *) false;; esac"
    )


def _wait(control: Path, call: str) -> str:
    """Tell and wait. Whoever was told finds the other FIFO open already: it can be released, and it sees a close."""
    started, release = (_place(control / name.format(call=call)) for name in (STARTED, RELEASE))
    return f"{{ printf 'x\\n' > {started} && read -r fp_line; }} < {release}"


def _run(line: str) -> str:
    """One command of the small shared vocabulary; it is no shell: no pipe, no variable, no pattern."""
    match shlex.split(line):
        case ["pwd" | "ls" | "true" | "false" as name]:
            return name
        case ["echo", *words]:
            return f"printf '%b\\n' {_text(' '.join(words))}"
        case ["rm" | "mkdir" as name, path]:
            return f"{name} -- {_path(path)}"
        case ["mv", source, target]:
            return f"mv -- {_path(source)} {_path(target)}"
    raise ValueError(f"not a command of the trace language: {line!r} (pwd, ls, true, false, echo, rm, mkdir, mv)")


def _text(text: str) -> str:
    """A quoted argument that `printf %b` turns into this text; bytes that are no UTF-8 stand as surrogate escapes."""
    return "'" + "".join(map(_character, text)) + "'"


def _character(character: str) -> str:
    code = ord(character)
    if character == "\0":
        raise ValueError("a shell can't pass on a NUL character")
    if character == "\\":
        return "\\\\"
    if character == "'":
        return "'\\''"
    if character == "\n":
        return "\\n"
    if code < 0x20 or code == 0x7F:  # noqa: PLR2004  # ASCII's control characters
        return f"\\0{code:03o}"
    if 0xD800 <= code <= 0xDFFF:  # noqa: PLR2004  # surrogates
        return f"\\0{character.encode('utf-8', 'surrogateescape')[0]:03o}"
    return character


def _path(path: str) -> str:
    """A quoted path within the workspace."""
    if path.startswith("/") or ".." in path.split("/") or not path:
        raise ValueError(f"a path that leaves the workspace: {path!r}")
    return _place(Path(path))


def _place(path: Path) -> str:
    text = path.as_posix()
    if any(ord(c) < 0x20 or ord(c) == 0x7F for c in text):  # noqa: PLR2004  # ASCII's control characters
        raise ValueError(f"a path with a control character: {text!r}")
    return shlex.quote(text)
