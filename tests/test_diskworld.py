"""The world on disk: workspaces, waiting commands and counters, shared with real shells."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forkproof.adapters.diskworld import DiskWorld
from forkproof.adapters.protocol import ToolUse, World
from forkproof.adapters.shell import command
from tests.misbehaviour import no_descriptor_stays_open

PATIENT = 60.0


def _use(tool: str, arguments: Any) -> ToolUse:
    return ToolUse("call_1", "hold", tool, arguments, "[fp7f3a1c.hold.start]", "[fp7f3a1c.hold.end]")


async def _shell(world: DiskWorld, use: ToolUse, directory: str) -> asyncio.subprocess.Process:
    """Run the command of a call as a harness would."""
    return await asyncio.create_subprocess_exec(
        "/bin/sh", "-c", command(use, world.control), cwd=directory, stdout=subprocess.PIPE
    )


async def _output(process: asyncio.subprocess.Process) -> str:
    said, _ = await asyncio.wait_for(process.communicate(), PATIENT)
    return said.decode()


def _exists(place: str) -> bool:
    return Path(place).exists()


def _put(place: str, name: str, text: str) -> None:
    Path(place, name).write_text(text)


def _bytes(place: str, name: str) -> bytes:
    return Path(place, name).read_bytes()


def _link(place: str, name: str, target: str) -> None:
    Path(place, name).symlink_to(target)


def _names(place: str) -> list[str]:
    return sorted(p.name for p in Path(place).iterdir())


def _in(root: Path, scene: Callable[[DiskWorld], Coroutine[Any, Any, None]], **options: Any) -> None:
    """Play a scene in a new world, and see that it gives its descriptors back."""

    async def play() -> None:
        with no_descriptor_stays_open():
            world = DiskWorld(root, **options)
            try:
                await asyncio.wait_for(scene(world), PATIENT)
            finally:
                world.close()
                world.close()

    asyncio.run(play())


# --- Files ---------------------------------------------------------------------------------------------------------


def test_it_is_a_world(tmp_path: Path) -> None:
    """What is made is read back; a reserved place is none yet, and a copy is a second, independent one."""

    async def scene(disk: DiskWorld) -> None:
        world: World = disk
        source = world.create("main", {"notes.md": "draft\n", "a/b/c.txt": "ü\r\n"})
        target = world.reserve("alt")
        assert not _exists(target)
        world.copy(source, target)
        _put(source, "notes.md", "changed")
        assert world.read(target) == {"notes.md": "draft\n", "a/b/c.txt": "ü\r\n"}
        assert world.read(source)["notes.md"] == "changed"
        assert world.read(world.reserve("none")) == {}

    _in(tmp_path, scene)


@settings(max_examples=30, deadline=None)
@given(content=st.binary(max_size=40))
def test_every_byte_survives(content: bytes) -> None:
    """Bytes that are no UTF-8 are read as surrogate escapes, and written back the same."""

    async def scene(world: DiskWorld) -> None:
        place = world.create("main", {"f": content.decode("utf-8", "surrogateescape")})
        assert _bytes(place, "f") == content
        assert world.read(place)["f"].encode("utf-8", "surrogateescape") == content

    with tempfile.TemporaryDirectory() as root:
        _in(Path(root), scene)


def test_links_are_never_followed_out_of_the_workspace(tmp_path: Path) -> None:
    """A link within counts as its file; links out, to folders, to nothing and to themselves are shown, not followed."""
    (tmp_path / "secret").write_text("secret")

    async def scene(world: DiskWorld) -> None:
        place = world.create("main", {"d/f": "text"})
        for name, target in {"in": "d/f", "out": "../../secret", "up": "..", "dir": "d", "loop": "loop"}.items():
            _link(place, name, target)
        expected = {"d/f": "text", "in": "text", "out": "link to ../../secret", "up": "link to ..", "dir": "link to d"}
        expected["loop"] = "link to loop"
        assert world.read(place) == expected
        world.copy(place, world.reserve("copy"))
        assert world.read(world.reserve("copy")) == expected
        _put(place, "d/f", "changed")
        assert world.read(world.reserve("copy")) == expected

    _in(tmp_path, scene)


def test_sockets_and_fifos_block_nobody(tmp_path: Path) -> None:
    """What is neither file, folder nor link is left out by `read` and `copy`, and never opened."""

    async def scene(world: DiskWorld) -> None:
        place = world.create("main", {"f": "x"})
        os.mkfifo(Path(place, "fifo"))
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(Path(place, "s")))
            assert world.read(place) == {"f": "x"}
            world.copy(place, world.reserve("copy"))
        assert _names(world.reserve("copy")) == ["f"]

    _in(tmp_path, scene)


def test_ignored_names_are_ignored_at_the_top_only(tmp_path: Path) -> None:
    """A harness's own folder in the workspace is left out by name; the same name deeper down is a person's file."""

    async def scene(world: DiskWorld) -> None:
        place = world.create("main", {".git/config": "x", "lock": "y", "d/.git": "kept", "d/lock": "kept", "f": "kept"})
        assert set(world.read(place)) == {"d/.git", "d/lock", "f"}

    _in(tmp_path, scene, ignore=frozenset({".git", "lock"}))


@pytest.mark.parametrize("path", ["../x", "/x", "a/../../x"])
def test_no_file_is_made_outside(tmp_path: Path, path: str) -> None:
    """A path or a name that leaves its folder is refused."""

    async def scene(world: DiskWorld) -> None:
        with pytest.raises(ValueError, match="leaves the workspace"):
            world.create("main", {path: ""})
        with pytest.raises(ValueError, match="one folder"):
            world.reserve("../x")

    _in(tmp_path, scene)


# --- Waiting commands and counters ---------------------------------------------------------------------------------


def test_a_waiting_command_starts_waits_and_is_released(tmp_path: Path) -> None:
    """`started` returns when the command has begun; it ends only when released, and then is done."""

    async def scene(world: DiskWorld) -> None:
        use = _use("wait", "release")
        started = asyncio.gather(world.started("call_1"), world.started("call_1"))
        world.prepare(use)
        process = await _shell(world, use, world.create("main", {}))
        await started
        assert process.returncode is None
        world.release("call_1")
        assert await _output(process) == "[fp7f3a1c.hold.start]\n[fp7f3a1c.hold.end]\n"

    _in(tmp_path, scene)


def test_a_start_before_anybody_looks_is_not_missed(tmp_path: Path) -> None:
    """A command that began, and even one that was released beforehand and ended, has started whenever one asks."""

    async def scene(world: DiskWorld) -> None:
        use = _use("wait", "release")
        world.prepare(use)
        world.release("call_1")
        process = await _shell(world, use, world.create("main", {}))
        assert (await _output(process)).endswith(".end]\n")
        await world.started("call_1")
        await world.started("call_1")

    _in(tmp_path, scene)


def test_what_waits_for_ever_ends_with_the_world_and_is_not_done(tmp_path: Path) -> None:
    """`forever` waits until it is killed; if the world closes first, the command fails and never claims to be done."""

    async def scene(world: DiskWorld) -> None:
        use = _use("wait", "forever")
        world.prepare(use)
        process = await _shell(world, use, world.create("main", {}))
        await world.started("call_1")
        assert process.returncode is None
        world.close()
        assert await _output(process) == "[fp7f3a1c.hold.start]\n[fp7f3a1c.hold.failed]\n"

    _in(tmp_path, scene)


def test_a_killed_wait_leaves_no_end_marker(tmp_path: Path) -> None:
    """A harness that kills its tool on an interruption has an unfinished result; releasing it later harms nobody."""

    async def scene(world: DiskWorld) -> None:
        use = _use("wait", "forever")
        world.prepare(use)
        process = await _shell(world, use, world.create("main", {}))
        await world.started("call_1")
        process.kill()
        assert await _output(process) == "[fp7f3a1c.hold.start]\n"
        world.release("call_1")

    _in(tmp_path, scene)


def test_runs_are_counted(tmp_path: Path) -> None:
    """Each run of a counting command counts once, also of many at the same time."""

    async def scene(world: DiskWorld) -> None:
        assert world.runs() == {}
        place = world.create("main", {})
        processes = [await _shell(world, _use("count", "deploys"), place) for _ in range(20)]
        for output in await asyncio.gather(*map(_output, processes)):
            assert output.endswith(".end]\n")
        await _output(await _shell(world, _use("count", "other"), place))
        assert world.runs() == {"deploys": 20, "other": 1}
        assert world.read(place) == {}

    _in(tmp_path, scene)
