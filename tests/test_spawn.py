"""The start of a harness's program: it works or says why not, and leaves nothing open."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from forkproof.adapters.errors import StartFailed
from forkproof.adapters.supervisor import Supervised
from tests.misbehaviour import no_descriptor_stays_open


def _script(directory: Path, text: str, mode: int) -> str:
    file = directory / "program"
    file.write_text(text)
    file.chmod(mode)
    return str(file)


@pytest.mark.parametrize(
    ("text", "mode", "words"),
    [
        (None, 0, "there is no program"),
        ("#!/no/such/interpreter\n", 0o755, "none to interpret it"),
        ("#!/bin/sh\n", 0o644, "may not be executed"),
        ("\x01\x02", 0o755, "can't be executed"),
    ],
)
def test_a_failed_start_says_why_and_leaves_nothing(tmp_path: Path, text: str | None, mode: int, words: str) -> None:
    """StartFailed gives cause and hint for a missing, forbidden or foreign program; no descriptor stays open."""
    program = str(tmp_path / "missing") if text is None else _script(tmp_path, text, mode)
    with no_descriptor_stays_open(), pytest.raises(StartFailed, match=words) as caught:
        asyncio.run(Supervised.start([program], directory=tmp_path, environment={}))
    assert caught.value.hint
    assert program in caught.value.cause


def test_a_missing_directory_and_a_nul_are_start_failures_too(tmp_path: Path) -> None:
    """The error names the directory, not the program, when the directory is what is missing."""
    with pytest.raises(StartFailed, match="no such directory"):
        asyncio.run(Supervised.start(["/bin/true"], directory=tmp_path / "gone", environment={}))
    with pytest.raises(StartFailed, match="null byte"):
        asyncio.run(Supervised.start(["/bin/true", "a\0b"], directory=tmp_path, environment={}))
