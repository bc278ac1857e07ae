"""The end of a harness: by itself, by TERM, by KILL, and always with every descendant (design section 5)."""

from __future__ import annotations

import asyncio
import ctypes
import errno
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from forkproof.adapters import descendants, exits, orphanage, supervisor
from forkproof.adapters.errors import StartFailed
from forkproof.adapters.supervisor import Supervised
from tests.misbehaviour import LONG, NASTY, first_words, nasty, runs, start


def _sleeper() -> subprocess.Popen[bytes]:
    """A child that some other part of ours might have."""
    return subprocess.Popen(["/bin/sleep", "1000"])


def test_a_program_that_ends_with_its_input_gets_no_signal(tmp_path: Path) -> None:
    """Closing standard input is the first and gentlest step: a harness may put its house in order."""

    async def scene() -> None:
        async with nasty(tmp_path, "garbage", stop_within=LONG) as process:
            await first_words(process)
        assert process.returncode == 0

    asyncio.run(scene())


def test_a_program_that_still_has_much_to_say_may_finish(tmp_path: Path) -> None:
    """Once the harness is being stopped, what nobody reads any more does not keep it from its own end."""

    async def scene() -> None:
        async with nasty(tmp_path, "endless_line", "8", stop_within=LONG) as process:
            process.send(b"go\n")
            await first_words(process)
        assert process.returncode == 0

    asyncio.run(scene())


def test_a_program_deaf_to_term_is_killed(tmp_path: Path) -> None:
    """TERM is followed by KILL: no harness outlives the graces."""

    async def scene() -> None:
        async with nasty(tmp_path, "ignore_term") as process:
            assert await first_words(process) == "ready"
        assert process.returncode == -signal.SIGKILL

    asyncio.run(scene())


def test_a_program_that_waits_for_nothing_is_ended_by_term(tmp_path: Path) -> None:
    """A program that does not look at its input gets TERM before it is killed."""

    async def scene() -> None:
        async with nasty(tmp_path, "hang") as process:
            pass
        assert process.returncode == -signal.SIGTERM

    asyncio.run(scene())


@pytest.mark.parametrize("how", ["tagged", "bare", "group"])
def test_a_grandchild_of_a_harness_that_exited_is_ended(tmp_path: Path, how: str) -> None:
    """A double-forked grandchild is found by session, tag, or adoption alone; its hold on our pipes delays nothing."""

    async def scene() -> None:
        async with nasty(tmp_path, "abandon", how, stop_within=LONG) as process:
            grandchild = int(await first_words(process))
            assert await asyncio.wait_for(process.exited(), 60) == 0
            assert await asyncio.wait_for(process.read(), 60) == b""
            assert runs(grandchild)
            assert psutil.Process(grandchild).ppid() == os.getpid()
            assert process.leftovers() == (grandchild,)
        assert not psutil.pid_exists(grandchild)

    asyncio.run(scene())


def test_a_process_without_its_first_thread_lives(tmp_path: Path) -> None:
    """It looks like a zombie, and is ended and collected like any other.

    Seen with Claude Code, whose threads end after the first one: each restart left a zombie that nobody collected.
    """

    async def scene() -> None:
        async with nasty(tmp_path, "headless", stop_within=LONG) as process:
            grandchild = int(await first_words(process))
            assert await asyncio.wait_for(process.exited(), 60) == 0
            assert psutil.Process(grandchild).status() == psutil.STATUS_ZOMBIE
            assert process.leftovers() == (grandchild,)
        assert not psutil.pid_exists(grandchild)

    asyncio.run(scene())


def test_a_deaf_child_in_its_own_session_is_ended_with_its_parent(tmp_path: Path) -> None:
    """What the tree of parents showed before the harness exited is remembered, and killed if TERM does not do."""

    async def scene() -> None:
        async with nasty(tmp_path, "nursery") as process:
            child = int(await first_words(process))
        assert process.returncode == 0
        assert not psutil.pid_exists(child)

    asyncio.run(scene())


def test_without_adoption_the_tree_seen_before_the_end_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nobody can adopt orphans and no environment can be read, a harness's children are still found in time."""
    monkeypatch.setattr(orphanage, "_prctl", lambda _option, _argument: None)
    monkeypatch.setattr(descendants, "_tag", lambda _pid, _began: None)

    async def scene() -> None:
        process = await start(tmp_path, "nursery")
        child = int(await first_words(process))
        await process.stop()
        assert process.returncode == 0
        assert not runs(child)

    asyncio.run(scene())


@pytest.mark.parametrize("how", ["tagged", "group"])
def test_two_harnesses_at_once_keep_their_own(tmp_path: Path, how: str) -> None:
    """Tag or session alone tell whose an orphan is, and the other's stay alone; what has neither goes with the last."""

    async def scene() -> None:
        async with nasty(tmp_path, "abandon", "bare") as first:
            bare = int(await first_words(first))
            async with nasty(tmp_path, "abandon", how) as second:
                orphan = int(await first_words(second))
                await first.exited()
                await second.exited()
                assert second.leftovers() == (orphan,)
            assert not runs(orphan)
            assert runs(bare)
        assert not runs(bare)

    asyncio.run(scene())


def test_children_of_others_are_left_alone(tmp_path: Path) -> None:
    """A process that some other part of ours started meanwhile belongs to no harness."""

    async def scene() -> None:
        async with nasty(tmp_path, "hang"):
            other = _sleeper()
        assert other.poll() is None
        other.kill()
        other.wait()

    asyncio.run(scene())


def _is_subreaper() -> bool:
    value = ctypes.c_int()
    ctypes.CDLL(None).prctl(37, ctypes.byref(value), 0, 0, 0)  # PR_GET_CHILD_SUBREAPER
    return bool(value.value)


def test_orphans_come_to_us_only_while_something_is_supervised(tmp_path: Path) -> None:
    """We adopt orphans from the first start to the last stop, and not after a start that failed."""

    async def scene() -> None:
        assert not _is_subreaper()
        async with nasty(tmp_path, "hang"):
            async with nasty(tmp_path, "hang"):
                assert _is_subreaper()
            assert _is_subreaper()
        assert not _is_subreaper()
        with pytest.raises(StartFailed):
            await Supervised.start(["./missing"], directory=tmp_path, environment={})
        assert not _is_subreaper()

    asyncio.run(scene())


def test_stop_may_be_called_again_and_at_once(tmp_path: Path) -> None:
    """`stop` is idempotent, also while another one is under way."""

    async def scene() -> None:
        async with nasty(tmp_path, "hang") as process:
            await asyncio.gather(process.stop(), process.stop())
            await process.stop()
            process.kill()

    asyncio.run(scene())


def test_a_cancelled_stop_kills_at_once(tmp_path: Path) -> None:
    """Who cancels `stop` does not wait for any grace, and still nothing is left."""

    async def scene() -> None:
        async with nasty(tmp_path, "ignore_term", stop_within=LONG) as process:
            await first_words(process)
            stopping = asyncio.create_task(process.stop())
            await asyncio.sleep(0)
            stopping.cancel()
            with pytest.raises(asyncio.CancelledError):
                await stopping
            assert not psutil.pid_exists(process.pid)

    asyncio.run(scene())


def test_an_impatient_person_leaves_nothing_behind(tmp_path: Path) -> None:
    """Ctrl-C ends the run through `stop`, a second Ctrl-C during it kills at once."""
    started: list[Supervised] = []

    async def scene() -> None:
        process = await start(tmp_path, "ignore_term", stop_within=LONG)
        started.append(process)
        await first_words(process)
        try:
            asyncio.get_running_loop().call_soon(signal.raise_signal, signal.SIGINT)
            await asyncio.Event().wait()
        finally:
            asyncio.get_running_loop().call_soon(signal.raise_signal, signal.SIGINT)
            await process.stop()

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(scene())
    assert not psutil.pid_exists(started[0].pid)


def test_a_program_that_forgets_to_stop_leaves_nothing_behind(tmp_path: Path) -> None:
    """Even without `stop` no harness outlives the suite's own exit."""
    forgetful = (
        "import asyncio, sys; from pathlib import Path; from forkproof.adapters.supervisor import Supervised\n"
        "async def main():\n"
        "    p = await Supervised.start(sys.argv[1:], directory=Path(), environment={})\n"
        "    await p.read(); print(p.pid)\n"
        "asyncio.run(main())"
    )
    argv = [sys.executable, "-c", forgetful, sys.executable, str(NASTY), "ignore_term"]
    run = subprocess.run(argv, cwd=tmp_path, check=True, capture_output=True, timeout=120)
    assert not psutil.pid_exists(int(run.stdout))


def test_stop_does_what_it_can_without_descriptors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the process table can't be read, `stop` does not raise and kills the harness's own group."""

    async def scene() -> None:
        process = await start(tmp_path, "ignore_term")
        await first_words(process)

        def fail(_family: descendants.Family) -> None:
            raise OSError(errno.EMFILE, "Too many open files")

        with monkeypatch.context() as patched:
            patched.setattr(supervisor, "members", fail)
            await process.stop()
        assert not psutil.pid_exists(process.pid)

    asyncio.run(scene())


def test_without_process_descriptors_threads_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system has no pidfd, the same ends are seen by waiting in threads."""
    # Only this module loses it: psutil asks once whether it is there and then counts on it.
    without = {name: value for name, value in vars(os).items() if name != "pidfd_open"}
    monkeypatch.setattr(exits, "os", SimpleNamespace(**without))

    async def scene() -> None:
        process = await start(tmp_path, "nursery")
        child = int(await first_words(process))
        await process.stop()
        assert process.returncode == 0
        assert process.leftovers() == ()
        assert not runs(child)

    asyncio.run(scene())
