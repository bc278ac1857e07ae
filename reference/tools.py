"""The abstract tools: what they do to the machine, and what they print. Source: design section 3.

A tool prints its start marker, its output and its end marker; where the work failed, the end marker says so: `.end]`
becomes `.failed]`. What never ended prints nothing.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from forkproof.reference.machine import Machine
from forkproof.reference.model import Call
from forkproof.reference.workspace import Workspace

__all__ = ["OF_THE_DESK", "OF_THE_MACHINE", "TOOLS", "Outcome", "interrupted", "printed", "use"]

OF_THE_MACHINE: Final = ("write", "edit", "read", "run", "wait", "count", "background")
"""The tools that work on the machine alone."""

OF_THE_DESK: Final = ("agent", "tell", "todo", "memory", "schedule")
"""The tools that reach what a harness keeps for its sessions; `desk` does their work."""

TOOLS: Final = OF_THE_MACHINE + OF_THE_DESK
"""The tools that the model is offered, which are those that run (clause SET-3)."""


class Outcome(NamedTuple):
    """How a tool's work ended."""

    done: bool
    output: str


def printed(call: Call, outcome: Outcome) -> str:
    """The whole output of a call."""
    end = call.end if outcome.done or not call.end else f"{call.end.removesuffix('.end]')}.failed]"
    return "\n".join(text for text in (call.start, outcome.output, end) if text)


def interrupted(call: Call) -> str | None:
    """What a call leaves in the history that was interrupted while it ran: nothing, as nothing is known (TOOL-2)."""
    del call  # whatever it was
    return None


async def use(call: Call, machine: Machine, directory: str, owner: str = "") -> Outcome:
    """Do the work of one call for the session `owner`, whose tools run in `directory`. To fail is an outcome too."""
    try:
        workspace = machine.workspace(directory)
        match call.tool, call.arguments:
            case "write", Mapping() as files:
                return _write(workspace, files)
            case "edit", Mapping() as edits:
                return _edit(workspace, edits)
            case "read", str(path):
                return Outcome(done=True, output=workspace.read(path))
            case "run", str(command):
                return _run(workspace, command)
            case "wait", ("release" | "forever") as until:
                await machine.wait(call.id, forever=until == "forever")
                return Outcome(done=True, output="")
            case ("background" | "count") as tool, str(name):
                return _start(machine, name, owner) if tool == "background" else _count(machine, name)
            case tool, arguments:
                return Outcome(done=False, output=f"no tool {tool} that takes {arguments!r}")
    except OSError as error:
        return Outcome(done=False, output=f"{error.filename}: {error.strerror}" if error.strerror else str(error))
    except UnicodeEncodeError as error:
        return Outcome(done=False, output=f"not a text that can be stored: {error.reason}")


def _start(machine: Machine, process: str, owner: str) -> Outcome:
    machine.start(process, owner)
    return Outcome(done=True, output=f"{process} is started")


def _count(machine: Machine, counter: str) -> Outcome:
    return Outcome(done=True, output=f"{counter}: {machine.count(counter)}")


def _write(workspace: Workspace, files: Mapping[str, Any]) -> Outcome:
    for path, text in files.items():
        workspace.write(path, str(text))
    return Outcome(done=True, output=f"wrote {', '.join(files)}")


def _edit(workspace: Workspace, edits: Mapping[str, Any]) -> Outcome:
    for path, replacement in edits.items():
        match replacement:
            case {"old": str(old), "new": str(new)}:
                workspace.edit(path, old, new)
            case _:
                return Outcome(done=False, output=f"{path}: an edit needs an old and a new text")
    return Outcome(done=True, output=f"edited {', '.join(edits)}")


def _run(workspace: Workspace, command: str) -> Outcome:
    """Run a command of the shared vocabulary; it is no shell: no pipe, no variable, no pattern."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        return Outcome(done=False, output=f"{command}: {error}")
    if not words or words[0] not in _COMMANDS:
        return Outcome(done=False, output=f"{command.split(maxsplit=1)[0] if words else command}: command not found")
    name, *arguments = words
    counts, run = _COMMANDS[name]
    if counts is not None and len(arguments) not in counts:
        return Outcome(done=False, output=f"{name}: wrong number of arguments")
    output = run(workspace, *arguments)
    return Outcome(done=name != "false", output=output or "")


_COMMANDS: Final[Mapping[str, tuple[tuple[int, ...] | None, Callable[..., str | None]]]] = {
    "pwd": ((0,), lambda workspace: workspace.directory),
    "ls": ((0,), lambda workspace: "\n".join(workspace.names())),
    "true": ((0,), lambda _workspace: None),
    "false": ((0,), lambda _workspace: None),
    "echo": (None, lambda _workspace, *words: " ".join(words)),
    "rm": ((1,), Workspace.remove),
    "mkdir": ((1,), Workspace.mkdir),
    "mv": ((2,), Workspace.move),
}
"""Name -> how many arguments it takes (None: any number), and what it does."""
