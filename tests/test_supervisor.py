"""A harness process under supervision: it is heard without being waited for, and every failure says what happened."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import psutil
import pytest

from forkproof.adapters.environment import TAG
from forkproof.adapters.errors import HarnessDied, HarnessHung
from forkproof.adapters.supervisor import Supervised
from tests.misbehaviour import LONG, NASTY, SHORT, first_words, nasty


def test_megabytes_of_stderr_neither_block_nor_pile_up(tmp_path: Path) -> None:
    """Standard error is always read, only its end is kept, and it is shown without colour codes."""

    async def scene() -> None:
        async with nasty(tmp_path, "loud", "20", stop_within=LONG) as process:
            assert await first_words(process) == "ready"
        assert process.stderr(lines=1) == "last words"
        assert len(process.stderr()) <= 64 * 1024

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (["crash", "11"], ["was ended by SIGSEGV"]),
        (["half_line"], ["ended with exit code 3", "out of memory"]),
        (["close_stdout"], ["closed its standard output, though it still runs"]),
    ],
    ids=lambda value: value[0],
)
def test_a_death_is_told_with_its_cause(tmp_path: Path, behaviour: list[str], words: list[str]) -> None:
    """HarnessDied says how the process ended, in which phase, and the last that it said on standard error."""

    async def scene() -> None:
        async with nasty(tmp_path, *behaviour) as process:
            process.send(b"hello\n")
            while await asyncio.wait_for(process.read(), 60):
                pass
            error = await process.death("turn/start")
            assert type(error) is HarnessDied
            for word in (*words, "during turn/start"):
                assert word in error.cause

    asyncio.run(scene())


def test_a_hang_is_told_with_what_the_process_was_doing_and_ended(tmp_path: Path) -> None:
    """HarnessHung names phase, deadline, state and children, and is given only when the process is gone."""

    async def scene() -> None:
        async with nasty(tmp_path, "ignore_term", stop_within=LONG) as process:
            await first_words(process)
            error = await process.hang("initialize", 0.5)
            assert type(error) is HarnessHung
            assert error.verdict == "TIMEOUT"
            assert "did not answer initialize within 0.5 s" in error.cause
            assert f"process {process.pid} is " in error.cause
            assert "children: none" in error.cause
            assert not psutil.pid_exists(process.pid)

    asyncio.run(scene())


def test_a_harness_that_does_not_read_blocks_nobody(tmp_path: Path) -> None:
    """What it does not read waits on our side, up to a limit that is an error."""

    async def scene() -> None:
        async with nasty(tmp_path, "hang") as process:
            process.send(b"x" * 20_000_000)
            with pytest.raises(HarnessHung, match="does not read its standard input"):
                process.send(b"x" * 20_000_000)

    asyncio.run(scene())


def test_what_is_sent_arrives_whole_and_in_order(tmp_path: Path) -> None:
    """Megabytes go through a pipe of 64 KiB as the other end reads, without a wait at the sender."""
    copy = "import os\nwhile d := os.read(0, 65536):\n    while d: d = d[os.write(1, d):]"
    sent = b"".join(b"%07d\n" % n for n in range(500_000))

    async def scene() -> None:
        process = await Supervised.start([sys.executable, "-c", copy], directory=tmp_path, environment={})
        try:
            process.send(sent[:3_000_000])
            process.send(sent[3_000_000:])
            got = bytearray()
            while len(got) < len(sent):
                got += await asyncio.wait_for(process.read(), 60)
            assert got == sent
        finally:
            await process.stop()

    asyncio.run(scene())


COPY = "import os\nwhile d := os.read(0, 65536): os.write(1, d)"


@pytest.mark.parametrize("end", ["by itself", "killed"])
def test_who_listens_is_told_all_and_the_end_once(end: str, tmp_path: Path) -> None:
    """What comes is handed over as it comes; while nobody listens it waits in the pipe; the end is told one time."""

    async def scene() -> None:
        process = await Supervised.start([sys.executable, "-c", COPY], directory=tmp_path, environment={})
        heard: asyncio.Queue[bytes] = asyncio.Queue()
        try:
            async with asyncio.timeout(60):
                process.listen(heard.put_nowait)
                process.send(b"one\n")
                assert await heard.get() == b"one\n"
                process.ignore()
                process.send(b"two\n")
                assert await process.read() == b"two\n"
                process.listen(heard.put_nowait)
                if end == "killed":
                    process.kill()
                else:
                    process.close_input()
                assert await heard.get() == b""
        finally:
            await process.stop()
        await asyncio.sleep(0)
        assert heard.empty()

    asyncio.run(scene())


def test_the_tag_is_added_where_it_is_missing(tmp_path: Path) -> None:
    """Descendants can be found even if the environment was not made by `build`."""

    async def scene() -> None:
        process = await Supervised.start(
            [sys.executable, str(NASTY), "ignore_term"], directory=tmp_path, environment={"A": "b"}, stop_within=SHORT
        )
        try:
            await first_words(process)
            assert psutil.Process(process.pid).environ() == {"A": "b", TAG: process.tag}
            assert os.getsid(process.pid) == os.getpgid(process.pid) == process.pid
        finally:
            await process.stop()

    asyncio.run(scene())
