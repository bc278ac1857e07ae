"""Abstract tools as shell commands: the work is done to the byte, and only done work carries its end marker."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forkproof.adapters.protocol import ToolUse
from forkproof.adapters.shell import command

SHELLS = {"sh -c": ["/bin/sh", "-c"], "bash -lc": ["/bin/bash", "-lc"], "posix bash": ["/bin/bash", "--posix", "-c"]}
START, END, FAILED = "[fp7f3a1c.go.start]\n", "[fp7f3a1c.go.end]\n", "[fp7f3a1c.go.failed]\n"

NASTY = ["'", '"', "\\", "$x", "`id`", "*", "?", "[a]", "-n", "%s", "!", "ü", "🙂", "\\n", "\\0101", "x"]
PIECES = st.sampled_from([*NASTY, "\n", "\n\n", "\x1b", "\t"])
TEXTS = st.lists(PIECES | st.characters(codec="utf-8", exclude_characters="\0"), max_size=12).map("".join)
NAMES = st.text(st.sampled_from("ab -'\"$*\\ü~#&;|"), min_size=1, max_size=8)


def _use(tool: str, arguments: Any) -> ToolUse:
    return ToolUse("call_1", "go", tool, arguments, START.strip(), END.strip())


def _run(use: ToolUse, workspace: Path, shell: list[str]) -> tuple[str, int]:
    """What the command prints, and its exit code, after a trip through JSON as every harness makes it."""
    text = json.loads(json.dumps(command(use, workspace.parent / "control")))
    done = subprocess.run(
        [*shell, text],
        cwd=workspace,
        env={"PATH": "/usr/bin:/bin", "HOME": str(workspace.parent), "LANG": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
        timeout=60,
    )
    return done.stdout.decode("utf-8", "surrogateescape"), done.returncode


@pytest.fixture(params=SHELLS.values(), ids=SHELLS)
def shell(request: pytest.FixtureRequest) -> list[str]:
    return list(request.param)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    place = tmp_path / "workspace"
    place.mkdir()
    return place


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


@pytest.mark.parametrize("shell", SHELLS.values(), ids=SHELLS)
@settings(max_examples=40, deadline=None)
@given(text=TEXTS, name=NAMES, folder=st.none() | NAMES)
def test_write_makes_the_file_to_the_byte(shell: list[str], text: str, name: str, folder: str | None) -> None:
    """Any text, name and new folder, with quotes, newlines, backslashes or a leading dash, arrives as it is."""
    path = f"{folder}/{name}" if folder else name
    with tempfile.TemporaryDirectory() as place:
        workspace = Path(place, "workspace")
        workspace.mkdir()
        assert _run(_use("write", {path: text}), workspace, shell) == (START + END, 0)
        assert (workspace / path).read_bytes() == _bytes(text)
        assert [p for p in workspace.rglob("*") if p.is_file()] == [workspace / path]


@pytest.mark.parametrize("shell", SHELLS.values(), ids=SHELLS)
@settings(max_examples=40, deadline=None)
@given(before=TEXTS, old=TEXTS.filter(bool), after=TEXTS, new=TEXTS, name=NAMES)
def test_edit_replaces_the_first_occurrence_literally(  # what an edit consists of
    shell: list[str], before: str, old: str, after: str, new: str, name: str
) -> None:
    """As Python's `replace(old, new, 1)`: no pattern, no lost newline. Without `old` it fails, the file untouched."""
    with tempfile.TemporaryDirectory() as place:
        file = Path(place, "workspace", name)
        file.parent.mkdir()
        use = _use("edit", {name: {"old": old, "new": new}})
        text = before + old + after
        file.write_bytes(_bytes(text))
        assert _run(use, file.parent, shell) == (START + END, 0)
        assert file.read_bytes() == _bytes(text.replace(old, new, 1))
        without = text.replace(old, "")
        if old not in without:
            file.write_bytes(_bytes(without))
            assert _run(use, file.parent, shell) == (START + FAILED, 1)
            assert file.read_bytes() == _bytes(without)


def test_edit_keeps_what_is_no_utf8(workspace: Path, shell: list[str]) -> None:
    """Bytes that are no text survive an edit beside them, and a write can make them."""
    (workspace / "f").write_bytes(b"\xff\xfe old \xe9\n\n")
    _run(_use("edit", {"f": {"old": "old", "new": "new"}}), workspace, shell)
    assert (workspace / "f").read_bytes() == b"\xff\xfe new \xe9\n\n"
    _run(_use("write", {"g": b"\xff\n".decode("utf-8", "surrogateescape")}), workspace, shell)
    assert (workspace / "g").read_bytes() == b"\xff\n"


def test_several_files_in_one_call(workspace: Path, shell: list[str]) -> None:
    """All of a call's files are written or edited; the first that can't be fails the call."""
    assert _run(_use("write", {"a": "1\n", "d/b": "2\n"}), workspace, shell) == (START + END, 0)
    changes = {"a": {"old": "1", "new": "one"}, "d/b": {"old": "2", "new": ""}}
    assert _run(_use("edit", changes), workspace, shell) == (START + END, 0)
    assert ((workspace / "a").read_text(), (workspace / "d/b").read_text()) == ("one\n", "\n")
    assert _run(_use("write", {"a/b": "below a file"}), workspace, shell) == (START + FAILED, 1)
    assert _run(_use("edit", {"none": {"old": "x", "new": "y"}}), workspace, shell) == (START + FAILED, 1)


def test_read_prints_the_file_between_its_markers(workspace: Path, shell: list[str]) -> None:
    """`read` gives the content as it is; a file that is not there is a failure."""
    (workspace / "-").write_text("draft\n\n")
    assert _run(_use("read", "-"), workspace, shell) == (f"{START}draft\n\n{END}", 0)
    assert _run(_use("read", "gone"), workspace, shell) == (START + FAILED, 1)


def test_the_vocabulary_of_run(workspace: Path, shell: list[str]) -> None:
    """Each command of the trace language does what its name says, with its arguments taken literally."""

    def run(line: str) -> str:
        output, code = _run(_use("run", line), workspace, shell)
        assert output.startswith(START)
        assert output.endswith(END if code == 0 else FAILED)
        return output.removeprefix(START)

    assert run("pwd") == f"{workspace}\n{END}"
    assert run("true") == END
    assert run("false") == FAILED
    assert run("echo -n  '*'  $HOME a\\\\b") == f"-n * $HOME a\\b\n{END}"
    assert run("mkdir -x") == END
    assert run("mkdir -x") == FAILED
    (workspace / "-f").write_text("x")
    assert run("mv -f 'a b'") == END
    assert run("ls") == f"-x\na b\n{END}"
    assert run("rm 'a b'") == END
    assert run("rm 'a b'") == FAILED
    assert [p.name for p in workspace.iterdir()] == ["-x"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("run", "ls -la"), ("run", "curl http://example.com"), ("run", "rm a b"), ("run", ""), ("run", "echo 'open"),
        ("run", "rm ../x"), ("run", "mv a /etc/b"), ("run", "true; rm x"),
        ("write", {}), ("write", {"../x": ""}), ("write", {"/x": ""}), ("write", {"a": "\0"}), ("write", {"a\nb": ""}),
        ("read", ""), ("wait", "later"), ("count", "../x"), ("sing", "la"),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_tool_of_the_language_is_refused(tool: str, arguments: Any) -> None:
    """A command outside the vocabulary or a path out of the workspace never reaches a shell."""
    with pytest.raises(ValueError, match=r"\S"):
        command(_use(tool, arguments), Path("/control"))


@given(
    text=TEXTS,
    use=st.sampled_from(["write", "edit", "run", "wait", "count", "read"]),
)
def test_an_echo_of_the_command_proves_nothing(text: str, use: str) -> None:
    """No marker, nor what could be taken for one, stands in the command; it is one line without control characters."""
    arguments = {
        "write": {"f": text},
        "edit": {"f": {"old": text, "new": text}},
        "run": "echo hello",
        "wait": "release",
        "count": "runs",
        "read": "f",
    }[use]
    line = command(_use(use, arguments), Path("/a place/control"))
    assert not any(m.strip() in line for m in (START, END, FAILED))
    assert "fp7f3a1c.go" not in line
    assert all(c >= " " and c != "\x7f" for c in line)


def test_an_end_marker_is_needed() -> None:
    """A marker that does not end in `.end]` has no failed form: a mistake of the suite, said at once."""
    with pytest.raises(ValueError, match="not an end marker"):
        command(ToolUse("c", "go", "read", "f", "[a.start]", "[a.stop]"), Path("/control"))
