"""The environment of a harness process, built from nothing. Source: design section 5, "a harness runs in its own HOME".

Nothing is taken over from the environment that forkproof itself runs in: no proxy, no key, no user configuration.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

__all__ = ["SYSTEM_PATH", "TAG", "build", "make_home", "new_tag"]

TAG = "FORKPROOF_TRIAL"
"""The variable by whose random value every descendant of a harness can be found again."""

SYSTEM_PATH = "/usr/bin:/bin"

_PLACES = MappingProxyType(
    {
        "HOME": ".",
        "TMPDIR": "tmp",
        "XDG_CACHE_HOME": ".cache",
        "XDG_CONFIG_HOME": ".config",
        "XDG_DATA_HOME": ".local/share",
        "XDG_RUNTIME_DIR": ".run",
        "XDG_STATE_HOME": ".local/state",
    }
)
_FIXED = MappingProxyType({"LANG": "C.UTF-8", "TERM": "dumb", "TZ": "UTC"})


def new_tag() -> str:
    """A value for `TAG` that no other trial has."""
    return secrets.token_hex(8)


def build(
    home: Path,
    own: Mapping[str, str] = MappingProxyType({}),
    *,
    path: str = SYSTEM_PATH,
    tag: str | None = None,
) -> dict[str, str]:
    """The whole environment of one harness process.

    `own` are the adapter's variables (fake key, model URL, ...); they may replace any other one but the tag. `path` is
    PATH; `tag` is made up unless it is given. Raises `ValueError` for a name or a value that no environment can hold.
    """
    environment = {name: str(home / place) for name, place in _PLACES.items()}
    environment |= {"PATH": path, **_FIXED, **own}
    if TAG in own:
        raise ValueError(f"{TAG} belongs to the supervisor, an adapter can't set it")
    bad = [n for n, v in environment.items() if not n or "=" in n or "\0" in n + v]
    if bad:
        raise ValueError(f"not a name and value of an environment variable: {', '.join(map(repr, bad))}")
    return environment | {TAG: tag or new_tag()}


def make_home(home: Path) -> None:
    """Make the private HOME and the directories in it that `build` names, for the owner only."""
    for place in _PLACES.values():
        (home / place).mkdir(mode=0o700, parents=True, exist_ok=True)
