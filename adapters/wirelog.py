"""A log of every message, for authors of adapters and recipes: `FORKPROOF_WIRE_LOG=FILE` names where it goes."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal

from forkproof.adapters.errors import StartFailed

__all__ = ["VARIABLE", "wire_log"]

VARIABLE: Final = "FORKPROOF_WIRE_LOG"
"""The environment variable; messages are appended to the file that it names, one JSON object a line."""


def wire_log(pid: int) -> Callable[[Literal["in", "out"], Mapping[str, Any]], None]:
    """What keeps the messages of the talk with this process. `in` came from it. Raises `StartFailed`."""
    named = os.environ.get(VARIABLE, "").strip()
    if not named:
        return lambda _direction, _message: None
    place = Path(named)
    _append(place, "")

    def keep(direction: Literal["in", "out"], message: Mapping[str, Any]) -> None:
        line = {"at": round(time.time(), 6), "pid": pid, "direction": direction, "message": message}
        _append(place, json.dumps(line) + "\n")

    return keep


def _append(place: Path, text: str) -> None:
    try:
        with place.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise StartFailed(f"{VARIABLE}={place}: {error.strerror or error}", "name a file that can be written") from None
