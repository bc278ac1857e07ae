"""The workspace: a file system that behaves like a real one, shared by reference and isolated by snapshot."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkproof.reference.picture import Picture, picture_of
from forkproof.reference.workspace import Workspace

NAMES = ("a", "b", "c")
paths = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)
texts = st.text("xyz\n", max_size=5)

steps = st.one_of(
    st.tuples(st.just("write"), paths, texts),
    st.tuples(st.just("edit"), paths, st.text("xyz", min_size=1, max_size=2), texts),
    st.tuples(st.just("read"), paths),
    st.tuples(st.just("remove"), paths),
    st.tuples(st.just("mkdir"), paths),
    st.tuples(st.just("move"), paths, paths),
)


class RealDirectory:
    """The same operations on the real file system, as a shell does them."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, path: str, text: str) -> None:
        target = self.root / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except FileExistsError as error:
            raise NotADirectoryError from error
        target.write_text(text)

    def edit(self, path: str, old: str, new: str) -> None:
        text = (self.root / path).read_text()
        if old not in text:
            raise OSError(path)
        (self.root / path).write_text(text.replace(old, new, 1))

    def read(self, path: str) -> str:
        return (self.root / path).read_text()

    def remove(self, path: str) -> None:
        (self.root / path).unlink()

    def mkdir(self, path: str) -> None:
        (self.root / path).mkdir()

    def move(self, source: str, target: str) -> None:
        old, new = self.root / source, self.root / target
        if not old.exists():
            raise FileNotFoundError(source)
        new = new / old.name if new.is_dir() else new
        if new == old:
            raise OSError("mv refuses to move a file to itself; the call that it makes would not")
        os.rename(old, new)  # noqa: PTH104  # the call that `mv` makes

    def picture(self) -> Picture:
        files = {p.relative_to(self.root).as_posix(): p.read_bytes() for p in self.root.rglob("*") if p.is_file()}
        empty = {
            p.relative_to(self.root).as_posix() for p in self.root.rglob("*") if p.is_dir() and not any(p.iterdir())
        }
        return Picture(files, frozenset(empty))


def attempt(do: Callable[..., str | None], *arguments: str) -> tuple[bool, str | None]:
    try:
        return True, do(*arguments)
    except OSError:
        return False, None


@given(st.lists(steps, max_size=12))
def test_it_behaves_like_a_real_directory(program: list[tuple[str, ...]]) -> None:
    """Design 10: the same operations succeed and fail, and leave the same files and empty folders."""
    with tempfile.TemporaryDirectory() as root:
        real, fake = RealDirectory(Path(root)), Workspace("/work", Picture())
        for name, *arguments in program:
            assert attempt(getattr(fake, name), *arguments) == attempt(getattr(real, name), *arguments)
            assert fake.picture() == real.picture()


@given(st.lists(steps, max_size=6), st.lists(steps, max_size=6), st.lists(steps, max_size=6))
def test_a_snapshot_and_its_source_go_apart(
    before: list[tuple[str, ...]], ours: list[tuple[str, ...]], theirs: list[tuple[str, ...]]
) -> None:
    """ENV-3, ENV-5: a snapshot holds all that was there, and from then on neither sees the other's changes."""
    source = Workspace("/work", Picture())
    expected_source, expected_copy = Workspace("/a", Picture()), Workspace("/b", Picture())
    for name, *arguments in before:
        for workspace in (source, expected_source, expected_copy):
            attempt(getattr(workspace, name), *arguments)
    copy = source.snapshot("/copy")
    assert copy.picture() == source.picture()
    for (name, *arguments), workspaces in [
        *((step, (source, expected_source)) for step in ours),
        *((step, (copy, expected_copy)) for step in theirs),
    ]:
        for workspace in workspaces:
            attempt(getattr(workspace, name), *arguments)
    assert source.picture() == expected_source.picture()
    assert copy.picture() == expected_copy.picture()


def test_a_file_is_not_moved_to_itself() -> None:
    """Design 3, `run`: `mv a a` fails, as the command does on a real machine; found by the second reference."""
    workspace = Workspace("/work", picture_of({"a": "1"}))
    with pytest.raises(OSError, match="a"):
        workspace.move("a", "./a")
    assert workspace.files() == {"a": "1"}


def test_a_failed_write_changes_nothing() -> None:
    """ATO-5: an operation that fails has made no folder on its way."""
    workspace = Workspace("/work", picture_of({"a": "text"}))
    with pytest.raises(OSError, match="Not a directory"):
        workspace.write("a/b/c", "x")
    assert workspace.files() == {"a": "text"}


def test_files_are_worked_out_again_only_after_a_change() -> None:
    """Design 11: looking at an unchanged workspace costs nothing."""
    workspace = Workspace("/work", picture_of({"b": "2", "a": "1"}))
    first = workspace.files()
    assert list(first.items()) == [("a", "1"), ("b", "2")]
    assert workspace.files() is first
    workspace.write("c", "3")
    assert workspace.files() == {"a": "1", "b": "2", "c": "3"}
    assert first == {"a": "1", "b": "2"}


def test_a_snapshot_that_nobody_touches_builds_no_file_system() -> None:
    """Design 13: a snapshot is built only when its tools first need it."""
    copy = Workspace("/work", picture_of({"a": "1"})).snapshot("/copy")
    assert copy.files() == {"a": "1"}
    assert copy._tree is None


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "", "a\0b", "/workshop/x"])
def test_no_path_leaves_the_workspace(path: str) -> None:
    """ENV-3: tools work inside their directory only."""
    workspace = Workspace("/work", picture_of({"a": "1"}))
    for operation in (
        lambda: workspace.write(path, "x"),
        lambda: workspace.read(path),
        lambda: workspace.move("a", path),
    ):
        with pytest.raises(OSError):  # noqa: PT011  # any refusal will do
            operation()
    assert workspace.files() == {"a": "1"}


def test_an_absolute_path_below_the_directory_is_inside() -> None:
    """ENV-4: what `pwd` prints can be used in a path."""
    workspace = Workspace("/work", Picture())
    workspace.write("/work/a", "1")
    assert workspace.read("./b/../a") == "1"


def test_bytes_that_are_no_text_survive() -> None:
    """World.read: undecodable bytes come as surrogate escapes, and go back as they were."""
    workspace = Workspace("/work", Picture({"a": b"\xff\x00"}))
    assert workspace.files() == {"a": "\udcff\0"}
    workspace.write("b", workspace.read("a"))
    assert workspace.picture().files["b"] == b"\xff\x00"


def test_the_file_system_is_imported_late() -> None:
    """Design 13: pyfakefs costs start-up time, so importing the adapter does not import it."""
    program = "import sys, forkproof.adapters.inprocess; sys.exit('pyfakefs' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
