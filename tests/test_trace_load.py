"""Loading traces: files found in order, slugs and check ids, every problem of a file at its place, all at once."""

from __future__ import annotations

import hashlib
import os
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkproof.conformance.trace.checks import check_ids
from forkproof.conformance.trace.load import (
    LoadedTrace,
    NoTraceError,
    TraceError,
    discover,
    load,
    load_bytes,
    shipped_root,
    slug_of,
)
from forkproof.conformance.trace.model import TurnStep
from forkproof.conformance.trace.problem import Problem

GOOD = """\
trace: 1
title: Two turns and a fork
needs: [fork.head]
steps:
  - turn: one
    user: Hello.
    model: [{say: Hi.}]
  - fork: alt
    head: true
    expect:
      - OPS-2: {requests: 0}
      - REC-1: {record: {source: main}}
  - turn: two
    in: alt
    user: Go on.
    model: [{say: Going.}]
    expect:
      - CUT-1: {prompt: [one.user, one.say, two.user]}
      - OPS-2: {requests: 1}
"""


def read(text: str) -> LoadedTrace:
    return load_bytes(text.encode("utf-8", "surrogatepass"), slug="t")


def problems(text: str) -> list[str]:
    with pytest.raises(TraceError) as caught:
        read(text)
    return [str(problem).removeprefix("t:") for problem in caught.value.problems]


# --- what is loaded ---------------------------------------------------------------------------------------------------


def test_gives_the_trace_with_its_origin(tmp_path: Path) -> None:
    """Path, slug, hash of the bytes, and the place of everything."""
    path = tmp_path / "traces" / "cut" / "two.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(GOOD, encoding="utf-8")
    loaded = load(path)
    assert (loaded.slug, loaded.path) == ("cut/two", path)
    assert loaded.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert loaded.trace.title == "Two turns and a fork"
    assert loaded.positions.key(("steps", 1, "fork")).line == 8


def test_numbers_checks_by_clause() -> None:
    """An id is the slug and the clause, numbered from the second of a clause on; never a position."""
    checks = check_ids(read(GOOD))
    assert [(c.id, c.step, c.line, c.column) for c in checks] == [
        ("t::OPS-2", 1, 11, 9),
        ("t::REC-1", 1, 12, 9),
        ("t::CUT-1", 2, 18, 9),
        ("t::OPS-2#2", 2, 19, 9),
    ]
    assert [c.expectation.requests for c in checks] == [0, None, None, 1]


def test_ids_do_not_move_with_the_text() -> None:
    """Comments and blank lines change places, not ids."""
    moved = GOOD.replace("steps:", "# a comment\n\nsteps:")
    before, after = check_ids(read(GOOD)), check_ids(read(moved))
    assert [c.id for c in before] == [c.id for c in after]
    assert [c.line + 2 for c in before] == [c.line for c in after]


# --- problems ---------------------------------------------------------------------------------------------------------


def test_tells_all_problems_at_once() -> None:
    """YAML's and the language's own, in the file's order; the error's text is one line each."""
    bad = GOOD.replace("user: Hello.", "user: 12").replace("head: true", "head: yes").replace("title:", "titel:")
    bad = bad.replace("needs: [fork.head]", "needs: &n [fork.head]")
    with pytest.raises(TraceError) as caught:
        read(bad)
    assert [(p.line, p.column, p.code) for p in caught.value.problems] == [
        (1, 1, "FPL012"),
        (2, 1, "FPL011"),
        (3, 8, "FPL003"),
        (6, 11, "FPL010"),
        (9, 11, "FPL010"),
    ]
    assert str(caught.value).splitlines() == [str(p) for p in caught.value.problems]


def test_names_the_file_in_each_line(tmp_path: Path) -> None:
    """`file:line:column: code message`, as editors read it."""
    path = tmp_path / "bad.yaml"
    path.write_text("trace: 1\n", encoding="utf-8")
    with pytest.raises(TraceError) as caught:
        load(path)
    assert str(caught.value).splitlines() == [
        f"{path}:1:1: FPL012 `steps` is missing",
        f"{path}:1:1: FPL012 `title` is missing",
    ]


def test_says_nothing_of_how_it_was_validated() -> None:
    """Tags of unions and names of validators stay inside; places are those of the file."""
    bad = GOOD.replace("[one.user, one.say, two.user]", "[one.user, one, {two.user: done}]").replace(
        "in: alt", "in: {a: b}"
    )
    said = problems(bad)
    assert [s.split(" ")[0] for s in said] == ["14:9:", "18:36:", "18:41:"]
    assert not any(word in " ".join(said) for word in ("<", "function", "tuple", "constrained", "validat", "Input"))


def test_one_slip_is_one_problem() -> None:
    """A list is not called empty because its only entry was refused, nor a key missing because its value was."""
    assert problems(GOOD.replace("{say: Hi.}", "{sya: Hi.}")) == [
        (
            "7:13: FPL010 a model step is one of say, call, together, fail, think, stall, drop; "
            "did you mean `say` for `sya`?"
        )
    ]
    assert problems(GOOD.replace("user: Hello.", "user:")) == ["6:5: FPL005 `user` has no value"]


def test_refuses_python_names_of_keys() -> None:
    """`in` is a word of the language, `in_` only of its implementation."""
    assert problems(GOOD.replace("in: alt", "in_: alt")) == ["14:5: FPL011 unknown key `in_`; did you mean `in`?"]


def test_keeps_messages_short_and_harmless() -> None:
    """A megabyte in a wrong place, or an escape sequence, does not reach the terminal."""
    (long,) = problems(GOOD.replace("turn: one", f"turn: {'A' * 1_000_000}"))
    assert len(long) < 500
    (escape,) = problems(GOOD.replace("trace: 1", 'trace: 1\n"\\e[31m\\n": x'))
    assert escape.isprintable()
    assert str(Problem("a\nb", 1, 1, "FPL001", "c\x1b")) == "a\\nb:1:1: FPL001 c\\x1b"


@pytest.mark.parametrize("top", ["- a\n", "text\n", "12\n", "true\n", '""\n'])
def test_refuses_what_is_no_mapping(top: str) -> None:
    """A trace is a mapping, and says so."""
    assert problems(top)[0].startswith("1:1: FPL010 a trace is a mapping")


def test_a_file_that_is_gone_is_a_problem(tmp_path: Path) -> None:
    """A file can vanish between finding and reading: no traceback."""
    with pytest.raises(TraceError, match=r"gone\.yaml:1:1: FPL001 can't be read: No such file or directory"):
        load(tmp_path / "gone.yaml")


# --- unusual traces ---------------------------------------------------------------------------------------------------


def test_loads_ten_thousand_steps() -> None:
    """A long trace loads whole, each step at its line."""
    step = (
        "  - turn: t{0}\n    user: Hello {0}.\n    model: [{{say: Hi.}}]\n    expect:\n      - CUT-1: {{requests: 1}}\n"
    )
    loaded = read("trace: 1\ntitle: Long\nsteps:\n" + "".join(step.format(n) for n in range(10_000)))
    checks = check_ids(loaded)
    assert len(loaded.trace.steps) == len(checks) == 10_000
    assert (checks[-1].id, checks[-1].line) == ("t::CUT-1#10000", 3 + 5 * 10_000)


def test_loads_a_megabyte_of_text() -> None:
    """A text of a million characters comes through unchanged."""
    said = "word " * 200_000 + "end."
    (turn, *_) = read(GOOD.replace("user: Hello.", f"user: {said}")).trace.steps
    assert isinstance(turn, TurnStep)
    assert turn.user == said


@pytest.mark.parametrize("name", ["on", "no", "yes", "off", "y", "null-and-void", "true-story", "nan", "e1"])
def test_loads_names_that_look_like_something_else(name: str) -> None:
    """A turn may be called `on` or `no`, as a value and as a key."""
    text = GOOD.replace("turn: one", f"turn: {name}").replace("one.", f"{name}.")
    (turn, *_) = read(text).trace.steps
    assert isinstance(turn, TurnStep)
    assert turn.turn == name


@pytest.mark.parametrize("word", ["true", "null", "12", "1.5"])
def test_refuses_names_that_are_something_else(word: str) -> None:
    """What YAML reads as no text is no name, and is told with its place."""
    assert problems(GOOD.replace("turn: one", f"turn: {word}"))[0].startswith("5:")


@pytest.mark.parametrize("said", ["שלום עולם", "e\u0301\u0323", "\u202eabc", "👩\u200d🚀", "ﷺ"])
def test_carries_unusual_text(said: str) -> None:
    """Combining marks, right-to-left text and joiners arrive as they were written; places count characters."""
    loaded = read(GOOD.replace("{say: Hi.}", f"{{say: '{said}'}}, {{fail: 500}}"))
    (turn, *_) = loaded.trace.steps
    assert isinstance(turn, TurnStep)
    assert turn.model[0].model_dump() == {"say": said}
    assert loaded.positions.at(("steps", 0, "model", 1)).column == len(f"    model: [{{say: '{said}'}}, ") + 1


def test_windows_line_ends_change_nothing() -> None:
    """CRLF reads as LF, with the same ids at the same places."""
    unix, windows = read(GOOD), read(GOOD.replace("\n", "\r\n"))
    assert unix.trace == windows.trace
    assert [(c.id, c.line, c.column) for c in check_ids(unix)] == [(c.id, c.line, c.column) for c in check_ids(windows)]


@given(st.integers(0, 2**32), st.integers(1, 4))
def test_a_damaged_trace_never_breaks_the_loader(seed: int, cuts: int) -> None:
    """Bytes dropped, doubled or moved: a trace comes out, or problems inside the file, never another error."""
    chance = random.Random(seed)  # noqa: S311  # a test's own dice
    data = bytearray(GOOD.encode())
    for _ in range(cuts):
        start, length = chance.randrange(len(data)), chance.randrange(1, 12)
        piece = data[start : start + length]
        del data[start : start + length]
        if chance.random() < 0.5:
            place = chance.randrange(len(data) + 1)
            data[place:place] = piece * chance.randrange(1, 3)
    found: tuple[Problem, ...] = ()
    try:
        steps = load_bytes(bytes(data), slug="t").trace.steps
    except TraceError as error:
        steps, found = (), error.problems
    assert bool(steps) != bool(found)
    lines = bytes(data).count(b"\n") + 1
    assert all(1 <= p.line <= lines + 1 and p.column >= 1 and str(p).isprintable() for p in found)


# --- which files ------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (
        "traces/cut/b.yaml",
        "traces/cut/a.yml",
        "traces/a-b/c.yaml",
        "traces/.hidden/d.yaml",
        "traces/note.txt",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(GOOD, encoding="utf-8")
    (tmp_path / "traces" / "folder.yaml").mkdir()
    return tmp_path / "traces"


def test_discovers_in_order(folder: Path) -> None:
    """Folder by folder, each file once; hidden ones, other files and folders with a trace's name are passed over."""
    wanted = [folder / "a-b" / "c.yaml", folder / "cut" / "a.yml", folder / "cut" / "b.yaml"]
    assert discover([folder]) == wanted
    assert discover([folder / "cut" / "b.yaml", str(folder), folder]) == [wanted[2], wanted[0], wanted[1]]


def test_slug_is_the_same_however_a_trace_is_asked_for(folder: Path) -> None:
    """By folder, by file or from within: the path below the nearest `traces`."""
    here = Path.cwd()
    try:
        os.chdir(folder / "cut")
        slugs = {slug_of(path) for path in (Path("b.yaml"), folder / "cut" / "b.yaml", *discover([Path()])[-1:])}
    finally:
        os.chdir(here)
    assert slugs == {"cut/b"}
    assert slug_of(folder / "cut" / "b.yaml", folder / "cut") == "b"
    assert slug_of(folder.parent / "elsewhere.yaml") == "elsewhere"


def test_discovers_the_shipped_traces_by_name() -> None:
    """Without a path all of them; by an area, or by a slug, some of them."""
    everything = discover()
    assert len(everything) >= 15
    assert all(path.is_relative_to(shipped_root()) for path in everything)
    one = everything[0]
    slug = slug_of(one)
    assert discover([slug]) == [one]
    area = slug.partition("/")[0]
    assert discover([area]) == [p for p in everything if slug_of(p).startswith(f"{area}/")]


def test_a_name_that_means_nothing_is_an_error(tmp_path: Path) -> None:
    """A missing path and a folder without a trace are told apart."""
    with pytest.raises(NoTraceError, match="no such trace file or folder"):
        discover([tmp_path / "nowhere"])
    with pytest.raises(NoTraceError, match="no trace in"):
        discover([tmp_path])
