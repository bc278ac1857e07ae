"""Inheritance: which settings a child starts with, and where each came from.

Source: clauses REC-7, SET-1, SET-2, AUT-1, AUT-2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

__all__ = ["DEFAULTS", "Origin", "Setting", "inherit"]

Origin: TypeAlias = Literal["cut", "latest", "default", "override"]
"""Of a child's setting: as the source had it at the cut, or has it now; nobody's choice; or given with the fork."""

DEFAULTS: Final[Mapping[str, str]] = {"model": "reference-model", "effort": "medium", "permissions": "ask"}
"""What a session has that was opened without a choice."""


class Setting(NamedTuple):
    """One setting of a child."""

    value: str
    origin: Origin


def inherit(source: Mapping[str, str], overrides: Mapping[str, str]) -> dict[str, Setting]:
    """The child's settings: what was given with the fork wins, then the source's as of the cut, then the defaults.

    Settings are fixed when a session is opened, so the source's are the same at every cut. The permission mode is one
    of them: only an override makes it looser. Approvals are no settings, and none is carried over.
    """
    settings = {name: Setting(value, "cut") for name, value in source.items()}
    for name, value in DEFAULTS.items():
        if name not in settings:
            settings[name] = Setting(value, "default")
    for name, value in overrides.items():
        settings[name] = Setting(value, "override")
    return settings
