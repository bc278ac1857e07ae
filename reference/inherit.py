"""Inheritance: which settings a child starts with, and where each came from.

Source: clauses REC-7, SET-1, SET-2, AUT-1, AUT-2.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias

from forkproof.reference.permissions import strictest

__all__ = ["DEFAULTS", "Origin", "Setting", "SettingsSource", "Value", "inherit", "pinned"]

Value: TypeAlias = str | tuple[str, ...]
"""A setting's value; a tuple for the names of tools."""

SettingsSource: TypeAlias = Literal["cut", "latest"]
"""What a child has without an override: the source's settings as of the cut, or those that it has now (SET-1)."""

Origin: TypeAlias = Literal["cut", "latest", "default", "override"]
"""Of a child's setting: as the source had it at the cut, or has it now; nobody's choice; or given with the fork."""

DEFAULTS: Final[Mapping[str, str]] = {"model": "reference-model", "effort": "medium", "permissions": "auto"}
"""What a session has that was opened without a choice."""


class Setting(NamedTuple):
    """One setting of a child."""

    value: Value
    origin: Origin


_OWN: Final = frozenset({"override", "latest"})

# A handful of settings stands in thousands of forks: equal ones are one object, made once.
_setting = lru_cache(maxsize=1024)(Setting)


def inherit(
    source: Mapping[str, Value],
    overrides: Mapping[str, Value],
    latest: Mapping[str, Value] | None = None,
    settings_source: SettingsSource = "cut",
) -> dict[str, Setting]:
    """The child's settings: what was given with the fork wins, then the source's, then the defaults.

    `source` is what the source had in force at the cut, `latest` what it has now (None: the same); `settings_source`
    chooses between them. Of the permission mode the child gets the stricter of the two: only an override makes it
    looser than its source's (AUT-2). Approvals are no settings.
    """
    now = source if latest is None else latest
    chosen = source if settings_source == "cut" else now
    settings = {name: _setting(value, settings_source) for name, value in chosen.items()}
    if now is not source:
        settings |= _mode(str(source.get("permissions", "")), str(now.get("permissions", "")))
    if not settings.keys() >= DEFAULTS.keys():
        for name, default in DEFAULTS.items():
            settings.setdefault(name, Setting(default, "default"))
    for name, value in overrides.items():
        settings[name] = Setting(value, "override")
    return settings


def pinned(settings: Mapping[str, Setting]) -> dict[str, Value]:
    """Those of a child's settings that are its own wherever it stands, since they do not come from the cut."""
    return {name: value for name, (value, origin) in settings.items() if origin in _OWN}


def _mode(at_cut: str, now: str) -> dict[str, Setting]:
    """The child's permission mode, if its source has one."""
    if not at_cut or not now or at_cut == now:
        return {}
    mode = strictest(at_cut, now)
    return {"permissions": Setting(mode, "cut" if mode == at_cut else "latest")}
