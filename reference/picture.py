"""A picture of a workspace: its files at one moment, frozen. Two workspaces may start from the same picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Picture", "decoded", "encoded", "picture_of"]


@dataclass(frozen=True, slots=True)
class Picture:
    """All files below a directory by relative POSIX path, and the folders that hold nothing."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    empty_folders: frozenset[str] = frozenset()


def picture_of(files: Mapping[str, str]) -> Picture:
    """The picture of these texts by relative POSIX path."""
    return Picture({path: encoded(text) for path, text in files.items()})


def decoded(content: bytes) -> str:
    """Bytes as text; those that are no UTF-8 as surrogate escapes."""
    return content.decode("utf-8", "surrogateescape")


def encoded(text: str) -> bytes:
    """The reverse of `decoded`. Raises `UnicodeEncodeError` for a surrogate that stands for no byte."""
    return text.encode("utf-8", "surrogateescape")
