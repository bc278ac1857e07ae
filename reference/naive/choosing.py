"""Settings: what is in force where a session stands, and what a child gets. Source: clauses SET, AUT-1 to AUT-3."""

from __future__ import annotations

from collections.abc import Mapping

from forkproof.reference.naive.items import Item
from forkproof.reference.naive.session import Session

__all__ = ["in_force", "settings_of_child"]

MODES = ("read-only", "ask", "auto")
"""The strictest first."""


def in_force(session: Session, path: list[Item]) -> dict[str, str]:
    """The settings at the end of this path: those that the session began with, and its own changes on the way.

    Where the path does not hold all that a fork began with, they are its source's there, under what it was given.
    """
    values = dict(session.settings)
    if session.source is not None and session.begun and session.begun not in {item.id for item in path}:
        values = {**in_force(session.source, path), **session.given}
    for item in path:
        if item.kind == "set" and item.call == session.id:
            values.update(item.chosen)
    return values


def settings_of_child(
    source: Session, prefix: list[Item], overrides: Mapping[str, str], defaults: Mapping[str, str], origin: str
) -> dict[str, tuple[str, str]]:
    """Each setting of a child with its origin: as of the cut or as of now, as `origin` says; the mode never looser."""
    at_cut, now = in_force(source, prefix), in_force(source, source.path)
    settings = {name: (value, "default") for name, value in defaults.items()}
    for name, value in (at_cut if origin == "cut" else now).items():
        settings[name] = (value, origin)
    before, after = at_cut["permissions"], now["permissions"]
    if before != after:
        stricter = min(before, after, key=MODES.index)
        settings["permissions"] = (stricter, "cut" if stricter == before else "latest")
    settings.update({name: (value, "override") for name, value in overrides.items()})
    return settings
