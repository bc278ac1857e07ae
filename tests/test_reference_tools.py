"""The abstract tools: what they do, what they print, and that a failure is told as one."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from forkproof.reference.desk import SPECIAL
from forkproof.reference.machine import Machine
from forkproof.reference.model import Call
from forkproof.reference.tools import OF_THE_DESK, OF_THE_MACHINE, TOOLS, Outcome, printed, use

FILES = {"a.txt": "alpha\n", "sub/b.txt": "beta\n", ".hidden": ""}


def machine(files: Mapping[str, str] = FILES) -> Machine:
    made = Machine()
    made.create("/work", files)
    return made


def call(tool: str, arguments: Any) -> Call:
    return Call("id", "name", tool, arguments, "[x.name.start]", "[x.name.end]")


def work(tool: str, arguments: Any, on: Machine) -> Outcome:
    return asyncio.run(use(call(tool, arguments), on, "/work"))


@pytest.mark.parametrize(
    ("tool", "arguments", "done", "output"),
    [
        ("write", {"new.txt": "n"}, True, "wrote new.txt"),
        ("write", {"a.txt": "n", "deep/er.txt": "d"}, True, "wrote a.txt, deep/er.txt"),
        ("write", {"sub": "n"}, False, "sub: Is a directory"),
        ("write", {"a.txt": "\ud800"}, False, "not a text that can be stored: surrogates not allowed"),
        ("edit", {"a.txt": {"old": "alpha", "new": "omega"}}, True, "edited a.txt"),
        ("edit", {"a.txt": {"old": "beta", "new": ""}}, False, "a.txt: the text to replace is not there"),
        ("edit", {"none.txt": {"old": "x", "new": ""}}, False, "none.txt: No such file or directory"),
        ("edit", {"a.txt": "omega"}, False, "a.txt: an edit needs an old and a new text"),
        ("read", "a.txt", True, "alpha\n"),
        ("read", "none.txt", False, "none.txt: No such file or directory"),
        ("run", "pwd", True, "/work"),
        ("run", "ls", True, "a.txt\nsub"),
        ("run", "true", True, ""),
        ("run", "false", False, ""),
        ("run", "echo 'two  words' end", True, "two  words end"),
        ("run", "rm a.txt", True, ""),
        ("run", "rm sub", False, "sub: Is a directory"),
        ("run", "mkdir made", True, ""),
        ("run", "mkdir sub", False, "sub: File exists"),
        ("run", "mv a.txt sub", True, ""),
        ("run", "mv none.txt x", False, "none.txt: No such file or directory"),
        ("run", "rm", False, "rm: wrong number of arguments"),
        ("run", "curl http://example.org", False, "curl: command not found"),
        ("run", "", False, ": command not found"),
        ("run", "echo 'open", False, "echo 'open: No closing quotation"),
        ("count", "deploys", True, "deploys: 1"),
        ("wait", "for ever", False, "no tool wait that takes 'for ever'"),
        ("teleport", "x", False, "no tool teleport that takes 'x'"),
        ("write", "a.txt", False, "no tool write that takes 'a.txt'"),
    ],
)
def test_each_tool(tool: str, arguments: Any, done: bool, output: str) -> None:
    """Design 3: the abstract tools, their vocabulary of commands, and their failures."""
    assert work(tool, arguments, machine()) == Outcome(done, output)


@pytest.mark.parametrize(
    ("tool", "arguments", "files"),
    [
        ("write", {"a.txt": "n"}, {**FILES, "a.txt": "n"}),
        ("edit", {"a.txt": {"old": "a", "new": "b"}}, {**FILES, "a.txt": "blpha\n"}),
        ("run", "rm a.txt", {"sub/b.txt": "beta\n", ".hidden": ""}),
        ("run", "mv a.txt sub", {"sub/a.txt": "alpha\n", "sub/b.txt": "beta\n", ".hidden": ""}),
        ("run", "mv sub dir", {"a.txt": "alpha\n", "dir/b.txt": "beta\n", ".hidden": ""}),
        ("read", "a.txt", FILES),
        ("run", "rm none.txt", FILES),
    ],
)
def test_what_a_tool_leaves(tool: str, arguments: Any, files: dict[str, str]) -> None:
    """ENV-2: the workspace after a tool, exactly."""
    on = machine()
    work(tool, arguments, on)
    assert on.workspace("/work").files() == files


def test_a_tool_prints_its_end_marker_only_if_its_work_is_done() -> None:
    """TOOL-2, design 4: start marker, output, end marker; a failure says `.failed]` in its place."""
    used = call("read", "a.txt")
    assert printed(used, Outcome(done=True, output="text")) == "[x.name.start]\ntext\n[x.name.end]"
    assert printed(used, Outcome(done=False, output="")) == "[x.name.start]\n[x.name.failed]"


def test_a_missing_directory_is_a_failed_call() -> None:
    """ENV-4: a tool has no directory to fall back on."""
    outcome = asyncio.run(use(call("run", "pwd"), Machine(), "/gone"))
    assert outcome == Outcome(done=False, output="no directory /gone")


def test_a_counter_counts_on_for_the_whole_machine() -> None:
    """TOOL-6: counted side effects are the machine's, whoever causes them."""
    on = machine()
    assert [work("count", "n", on).output for _ in range(3)] == ["n: 1", "n: 2", "n: 3"]
    assert on.runs() == {"n": 3}


def test_a_waiting_command() -> None:
    """Design 3: `wait: release` begins, is seen to have begun, and ends when it is released, also before it begins."""

    async def story() -> None:
        on = machine()
        task = asyncio.ensure_future(use(call("wait", "release"), on, "/work"))
        await on.started("id")
        assert not task.done()
        on.release("id")
        assert await task == Outcome(done=True, output="")
        assert await use(call("wait", "release"), on, "/work") == Outcome(done=True, output="")

    asyncio.run(story())


def test_waiting_forever_ends_only_by_being_killed() -> None:
    """Design 3: `wait: forever` is not let go by a release."""

    async def story() -> None:
        on = machine()
        on.release("id")
        task = asyncio.ensure_future(use(call("wait", "forever"), on, "/work"))
        await on.started("id")
        await asyncio.sleep(0)
        assert not task.done()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(story())


def test_every_tool_that_is_offered_runs() -> None:
    """SET-3: the tools that a prompt offers are those of the machine and of the desk, no more and no fewer."""
    good = {
        "write": {"n": "n"},
        "edit": {"a.txt": {"old": "a", "new": "b"}},
        "read": "a.txt",
        "run": "true",
        "wait": "release",
        "count": "n",
        "background": "n",
    }
    on = machine()
    on.release("id")
    assert set(good) == set(OF_THE_MACHINE)
    assert set(SPECIAL) == set(OF_THE_DESK)
    assert set(TOOLS) == {*good, *SPECIAL}
    assert all(work(tool, arguments, on).done for tool, arguments in good.items())


def test_directories_are_one_thing_each() -> None:
    """ISO-1: two workspaces never share a directory by accident."""
    on = machine()
    with pytest.raises(FileExistsError):
        on.create("/work", {})
    with pytest.raises(FileExistsError):
        on.snapshot("/work", "/work")
    with pytest.raises(FileNotFoundError):
        on.snapshot("/none", "/other")
    for directory in ("relative", "/a/../b", "/a/"):
        with pytest.raises(ValueError, match="absolute path"):
            on.create(directory, {})
