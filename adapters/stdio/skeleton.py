"""Adapters to begin with, one a language: each works as it is, on a tiny harness that stands for the author's."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

__all__ = ["LANGUAGES", "write"]

LANGUAGES: Final[Mapping[str, str]] = {"python": "adapter.py", "node": "adapter.mjs", "shell": "adapter.sh"}
"""Language -> the name of its file. Here it bears `.txt`, as it is no module of ours."""

_EXECUTABLE: Final = 0o755
_HERE: Final = Path(__file__).parent / "skeletons"


def write(language: str, directory: Path) -> Path:
    """Write the adapter of this language and give its path; the directory is made. Raises `FileExistsError`, `OSError`.

    Nothing is overwritten.
    """
    name = LANGUAGES[language]
    directory.mkdir(parents=True, exist_ok=True)
    target = directory / name
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _EXECUTABLE), "wb") as file:
        file.write((_HERE / f"{name}.txt").read_bytes())
    return target
