"""Rules for the turns on a session's path, as a trace means them (clauses NAV-2, NAV-3, CUT-6, RD-4)."""

from __future__ import annotations

from forkproof.conformance.paths import imported_order, imported_paths, moved, rewound
from forkproof.conformance.trace.base import UnknownName
from forkproof.conformance.trace.model import ImportedTurn

MARKS = {"one": ["one"], "two": ["one", "two"], "three": ["one", "two", "three"], "sum": ["one", "two"]}


def _turn(name: str, behind: str | UnknownName | None = None) -> ImportedTurn:
    return ImportedTurn(turn=name, at=1, user="u", say="s", behind=behind)


def test_a_user_message_is_gone_on_before_and_anything_else_from() -> None:
    """NAV-2, NAV-3: calls belong to the turn that made them, summaries to where they were written."""
    assert moved("two.user", MARKS, {}) == ["one"]
    assert moved("one.user", MARKS, {}) == []
    assert moved("two.say.2", MARKS, {}) == ["one", "two"]
    assert moved("look.result", MARKS, {"look": "two"}) == ["one", "two"]
    assert moved("sum.summary", MARKS, {}) == ["one", "two"]


def test_a_rewind_ends_before_its_turn() -> None:
    """CUT-6: the turn itself goes too."""
    assert rewound("two", MARKS) == ["one"]


def test_imported_turns_go_on_from_the_one_before_them() -> None:
    """Without links a history is a line; nothing imported is no path."""
    assert imported_paths([_turn("a"), _turn("b")]) == {"a": ["a"], "b": ["a", "b"]}
    assert imported_paths([]) == {}


def test_a_broken_chain_and_a_circle_begin_anew() -> None:
    """RD-4: an orphan is a root, and of a circle the turn that is stored first."""
    turns = [
        _turn("x", "y"), _turn("y", "x"), _turn("lost", UnknownName(unknown="gone")), _turn("end"),
    ]  # fmt: skip
    assert imported_paths(turns) == {"x": ["x"], "y": ["x", "y"], "lost": ["lost"], "end": ["lost", "end"]}


def test_the_last_path_is_where_the_session_stands() -> None:
    """TRE-1: that of the last stored turn which none goes on from; and parents come before children."""
    turns = [_turn("c", "b"), _turn("a", UnknownName(unknown="none")), _turn("b", "a")]
    paths = imported_paths(turns)
    assert list(paths)[-1] == "c"
    assert paths["c"] == ["a", "b", "c"]
    assert imported_order(turns) == ["a", "b", "c"]
