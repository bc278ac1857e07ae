"""What holds beside a history: notes, wake-ups, usage, and what a restore of files decides. Pure functions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from forkproof.reference.entries import Answered, Entry, Stamp, UserSaid, append
from forkproof.reference.notes import Note, memories, notes_at, statement, todo
from forkproof.reference.prompt import Text
from forkproof.reference.schedules import Schedule, after_fork, due
from forkproof.reference.session import Header, Session
from forkproof.reference.undo import Change, told, undo
from forkproof.reference.usage import usage


def chain(*bodies: str, session: str = "s", parent: Entry | None = None) -> Entry:
    """A path of turns with one answer each; the entry of the last answer."""
    leaf = parent
    for body in bodies:
        leaf = append(leaf, UserSaid(body), Stamp(f"{session}.{body}", session, body, 0))
        leaf = append(leaf, Answered((Text(body),), ()), Stamp(f"{session}.{body}.a", session, body, 0))
    assert leaf is not None
    return leaf


def test_notes_are_those_of_the_path() -> None:
    """STA-1: what was noted behind the cut, or on another branch, does not count."""
    early = chain("one")
    late, other = chain("two", parent=early), chain("three", parent=early)
    kept = Note("todo", ("a",), early), Note("todo", ("a", "b"), late), Note("memory", ("zebra",), other)
    assert todo(notes_at(kept, late)) == ("a", "b")
    assert todo(notes_at(kept, other)) == ("a",)
    assert memories(notes_at(kept, late)) == ()
    assert notes_at(kept, None) == ()


def test_the_newest_todo_list_replaces_and_memories_add_up() -> None:
    """A todo call writes the whole list; a memory is one more thing."""
    leaf = chain("one")
    notes = [Note("memory", ("m1",), leaf), Note("todo", ("a",), leaf), Note("memory", ("m2",), leaf)]
    assert todo([*notes, Note("todo", (), leaf)]) == ()
    assert memories(notes) == ("m1", "m2")
    assert statement(notes) == (Text("Todo:\n- a\nRemember:\n- m1\n- m2"),)
    assert statement([]) == ()


def test_a_fork_neither_doubles_nor_moves_wake_ups() -> None:
    """STA-2: they stay as they are."""
    kept = [Schedule("main", 5, "w"), Schedule("other", 3, "x")]
    assert after_fork(kept, "main", "alt") == kept


@given(st.lists(st.tuples(st.integers(0, 9), st.text(max_size=3))), st.integers(0, 9))
def test_every_wake_up_is_due_once(times: list[tuple[int, str]], now: int) -> None:
    """None is lost, none comes early, and those that are due come in the order of their time."""
    kept = [Schedule("main", at, text) for at, text in times]
    ready, left = due(kept, now)
    assert sorted([*ready, *left], key=repr) == sorted(kept, key=repr)
    assert [s.at for s in ready] == sorted(s.at for s in kept if s.at <= now)
    assert all(s.at > now for s in left)


def test_a_copied_prefix_is_not_charged_for_again() -> None:
    """STA-3: the source paid for it."""
    source = chain("one", "two")
    child = Session(Header("child", "/w", {}), chain("three", session="child", parent=source))
    assert usage(Session(Header("s", "/w", {}), source)) + usage(child) == 3


def change(path: str, before: str | None, after: str | None, turn: str = "t", *, known: bool = True) -> Change:
    return Change(turn, "/w", path, before, after, known)


def test_a_restore_takes_back_what_its_turns_changed_and_no_more() -> None:
    """ENV-6: the oldest content of those turns; a file that they made goes; other paths are not touched."""
    changes = [
        change("early", None, "e", "earlier"),
        change("a", "a0", "a1"),
        change("a", "a1", "a2"),
        change("new", None, "n"),
    ]
    done = undo(changes, {"t"}, {"early": "e", "a": "a2", "new": "n", "mine": "m"})
    assert done.contents == {"a": "a0", "new": None}
    assert done.left == ()
    assert told(done) == done


def test_a_restore_names_what_it_leaves() -> None:
    """ENV-7: a path that a command changed, and one that somebody else has changed since, stay and are named."""
    changes = [change("cmd", "c", None, known=False), change("shared", "s0", "s1"), change("b", "b0", "b1")]
    done = undo(changes, {"t"}, {"shared": "theirs", "b": "b1"})
    assert done.contents == {"b": "b0"}
    assert done.left == ("cmd", "shared")


def test_a_path_that_both_a_command_and_a_tool_changed_is_left() -> None:
    """ENV-7: what the command did in between is not known, so nothing is claimed."""
    changes = [change("p", "p0", "p1"), change("p", "p1", None, known=False), change("p", None, "p2")]
    assert undo(changes, {"t"}, {"p": "p2"}).left == ("p",)
