"""What a client keeps of a long talk: only what somebody still needs."""

from __future__ import annotations

import asyncio
import tracemalloc
from pathlib import Path

import pytest

from forkproof.adapters.acp.extension import named
from forkproof.adapters.protocol import SendPrompt, TurnEnded
from forkproof.adapters.tree import ReadHistory
from tests.acp.agent import opened, running

UPDATES = 4000


@pytest.mark.parametrize("extension", ["none", "message-id", "goose"])
def test_a_flood_of_updates_is_not_kept(extension: str, tmp_path: Path) -> None:
    """Four megabytes of updates leave less than a quarter of that behind, also with an extension that listens."""

    async def story() -> tuple[int, int]:
        async with running(tmp_path, extra=named(extension), listened=False) as (adapter, world):
            session, _ = await opened(adapter, world)
            await adapter.perform(SendPrompt(session, "FLOOD 10"))
            tracemalloc.start()
            try:
                before, _ = tracemalloc.get_traced_memory()
                assert await adapter.perform(SendPrompt(session, f"FLOOD {UPDATES}")) == TurnEnded("end_turn")
                await adapter.perform(ReadHistory(session))
                after, _ = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
            return before, after

    before, after = asyncio.run(story())
    assert after - before < UPDATES * 1000 / 4
