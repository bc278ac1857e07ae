"""Lint rules on files and commands: paths stay in the workspace, commands in the shared vocabulary.

Rules FPL050 and FPL051; `codes` says what each means.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from forkproof.conformance.trace.fault import Fault, Story
from forkproof.conformance.trace.model import CallStep, TurnStep
from forkproof.conformance.trace.names import calls_of
from forkproof.conformance.trace.place import Path
from forkproof.conformance.trace.steps_side import UserEditsStep
from forkproof.conformance.vocabulary import COMMANDS

__all__ = ["commands", "paths", "why_not"]

_STRANGE = re.compile(r"[\x00-\x1f\x7f\\]")
_WORD = re.compile(r"[A-Za-z0-9_./,:=+@%-]+")
_WITH_PATHS = ("rm", "mkdir", "mv")


def why_not(path: str) -> str | None:
    """Why a path may not stand in a trace; None if it may. It is relative, POSIX, and stays below the workspace."""
    parts = path.split("/")
    if path.startswith("/"):
        return "is absolute"
    if ".." in parts:
        return "leaves the workspace by `..`"
    if _STRANGE.search(path):
        return "holds a backslash or a control character"
    if "" in parts or "." in parts:
        return "has an empty part or a `.`"
    if path.startswith(("-", "~")):
        return f"begins with `{path[0]}`, which a command would read as something else"
    return None


def paths(story: Story) -> Iterator[Fault]:
    """Every path of the trace, wherever it stands."""
    yield from _set_of_files(story.trace.files, ("files",))
    for path, call in _calls(story):
        for tool in ("write", "edit"):
            for name in getattr(call, tool) or {}:
                yield from _judge(name, (*path, tool, name), key=True)
        if call.read is not None:
            yield from _judge(call.read, (*path, "read"))
    for index, step in enumerate(story.trace.steps):
        if isinstance(step, UserEditsStep):
            yield from _set_of_files(step.write, ("steps", index, "write"))
    for check in story.checks:
        for number, name in enumerate(check.expectation.accounts_for or ()):
            yield from _judge(name, (*check.path, "accounts_for", number))
        yield from _set_of_files(check.expectation.files or {}, (*check.path, "files"))


def _set_of_files(names: Iterable[str], path: Path) -> Iterator[Fault]:
    known = set(names)
    for name in known:
        yield from _judge(name, (*path, name), key=True)
        above = next((a for a in _folders(name) if a in known), None)
        if above:
            yield Fault((*path, name), "FPL050", f"`{above}` can't be both a file and the folder of `{name}`", key=True)


def _folders(name: str) -> Iterator[str]:
    while "/" in name:
        name = name.rpartition("/")[0]
        yield name


def _judge(name: str, path: Path, *, key: bool = False) -> Iterator[Fault]:
    wrong = why_not(name)
    if wrong:
        yield Fault(path, "FPL050", f"the path {name!r} {wrong}", key=key)


def commands(story: Story) -> Iterator[Fault]:
    """Every `run` is one of the few commands that each harness's shell understands in the same way."""
    for path, call in _calls(story):
        if call.run is not None:
            wrong = _wrong(call.run)
            if wrong:
                yield Fault((*path, "run"), "FPL051", wrong)


def _wrong(command: str) -> str | None:
    name, *words = command.split(" ")
    if name not in COMMANDS:
        return f"no command {name!r} in the vocabulary: {', '.join(COMMANDS)}"
    least, most = COMMANDS[name]
    if not least <= len(words) <= most:
        wanted = f"{least}" if least == most else f"{least} or more"
        return f"`{name}` takes {wanted} word{'' if wanted == '1' else 's'}, not {len(words)}"
    strange = next((w for w in words if not _WORD.fullmatch(w)), None)
    if strange is not None:
        return f"the word {strange!r} could mean something to a shell"
    for word in words if name in _WITH_PATHS else ():
        outside = why_not(word)
        if outside:
            return f"the path {word!r} {outside}"
    return None


def _calls(story: Story) -> Iterator[tuple[Path, CallStep]]:
    for index, step in enumerate(story.trace.steps):
        if isinstance(step, TurnStep):
            for path, call in calls_of(step):
                yield ("steps", index, *path), call
