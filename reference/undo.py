"""Undoing: file changes that tools made, and how they are taken back. Source: clauses ENV-6, ENV-7.

Only what a file tool changed is kept; what a command did to files is known to have happened, and no more. So a restore
tells apart what it put back and what it left as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Change", "Restore", "told", "undo"]


@dataclass(frozen=True, slots=True)
class Change:
    """One path that one tool of one turn changed. None stands for no file; `known` tells whether `before` was kept."""

    turn: str
    directory: str
    path: str
    before: str | None
    after: str | None
    known: bool


class Restore(NamedTuple):
    """A restore that is decided: path -> content (None: no file), and the paths that stay as they are."""

    contents: Mapping[str, str | None]
    left: tuple[str, ...]


def undo(changes: Sequence[Change], turns: Collection[str], now: Mapping[str, str]) -> Restore:
    """How to take back what these turns changed in one directory whose files are `now`.

    `changes` are those of that directory, oldest first. No other path is touched (ENV-6). A path stays, and is named
    (ENV-7), where a command changed it, or where it is not as the turns left it: somebody else has changed it since.
    """
    contents: dict[str, str | None] = {}
    left: dict[str, None] = {}
    for path in dict.fromkeys(c.path for c in changes if c.turn in turns):
        own = [c for c in changes if c.path == path and c.turn in turns]
        if all(c.known for c in own) and now.get(path) == own[-1].after:
            contents[path] = own[0].before
        else:
            left[path] = None
    return Restore(contents, tuple(left))


def told(done: Restore) -> Restore:
    """What is said of a restore: what was done, and no more (ENV-7)."""
    return done
