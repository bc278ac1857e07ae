"""Settings of a session: model, effort, permission mode and tools, as they are in force at a place of its history.

A session begins with settings; each change of them is an entry, so a path tells what was in force anywhere on it.
Source: clauses SET-1, SET-2, SET-6 to SET-8, NAV-10; seed 000, "settings are recovered from entries on the path".
"""

from __future__ import annotations

from collections.abc import Mapping

from forkproof.reference.entries import Entry, SettingsChanged, newest_change, on_path
from forkproof.reference.inherit import Value
from forkproof.reference.permissions import MODES
from forkproof.reference.session import Header
from forkproof.reference.tools import TOOLS

__all__ = ["in_force", "offered", "problem"]


def in_force(header: Header, leaf: Entry | None) -> Mapping[str, Value]:
    """The settings of the session at this place of its history.

    Those that it began with, then each change that it made itself on the path. Before the place where it was forked,
    they are those that its source had there, under what was given with the fork (SET-2, SET-8).
    """
    begun, values = header.begun, header.settings
    if begun is not None and begun.leaf is not None and leaf is not begun.leaf and not on_path(begun.leaf, leaf):
        values = {**in_force(begun.source, leaf), **begun.given}
    if newest_change(leaf) is not None:
        for change in _own_changes(header, leaf):
            values = {**values, **change.settings}
    return values


def _own_changes(header: Header, leaf: Entry | None) -> list[SettingsChanged]:
    """The session's own changes on the path, oldest first; those of a fork may stand behind those of its source."""
    found: list[SettingsChanged] = []
    entry = newest_change(leaf)
    while entry is not None:
        if isinstance(entry.body, SettingsChanged) and entry.body.session == header.id:
            found.append(entry.body)
        entry = entry.change
    found.reverse()
    return found


def offered(settings: Mapping[str, Value]) -> tuple[str, ...]:
    """The tools of a session with these settings: those that the model is shown, and those that run (SET-3)."""
    chosen = settings.get("tools")
    return TOOLS if chosen is None else tuple(tool for tool in TOOLS if tool in chosen)


def problem(settings: Mapping[str, Value]) -> str:
    """Why these settings can't be taken; empty if they can. What can't be enforced is not promised (AUT-3)."""
    mode = settings.get("permissions", MODES[0])
    if mode not in MODES:
        return f"there is no permission mode {mode}"
    missing = [tool for tool in settings.get("tools", ()) if tool not in TOOLS]
    return f"there is no tool {missing[0]}" if missing else ""
