"""A program that serves trace after trace on one process."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psutil

from forkproof.adapters.protocol import Deadlines, Trial
from forkproof.adapters.stdio.adapter import StdioAdapter
from tests.stdio.both_ways import served
from tests.stdio.fakes import Silent


def test_it_keeps_the_directory_that_it_lives_in(tmp_path: Path) -> None:
    """What it was given to start in is there until its process ends, and gone then.

    A program without a directory fails in odd places: CPython 3.13.0 with a SystemError at the first attribute that a
    module lacks, Node in `process.cwd()`.
    """

    async def scene() -> list[Path]:
        adapter = StdioAdapter(served(tmp_path), deadlines)
        await adapter.start(Trial(tmp_path / "none", Silent(), deadlines=deadlines))
        try:
            assert adapter.talk is not None
            process = psutil.Process(adapter.talk.process.pid)
            lives = [Path(process.cwd()), Path(process.environ()["HOME"])]
            for _ in range(3):
                assert await adapter.renew(Trial(tmp_path / "none", Silent(), deadlines=deadlines)) is not None
                assert all(place.is_dir() for place in lives)
        finally:
            await adapter.stop()
        return lives

    deadlines = Deadlines(120, 120, 30)
    assert not any(place.exists() for place in asyncio.run(scene()))
