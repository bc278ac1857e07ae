"""Entries: immutable nodes, ancestors found fast and rightly, chains of any length."""

import dataclasses
import gc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkproof.reference.entries import (
    Answered,
    Body,
    Entry,
    Stamp,
    TurnEnded,
    UserSaid,
    ancestor_at,
    append,
    last_within,
    on_path,
)
from forkproof.reference.project import full_path
from forkproof.reference.prompt import Text

BODIES: tuple[Body, ...] = (UserSaid("u"), Answered((Text("a"),), ()), TurnEnded("end_turn"))
STAMP = Stamp("e", "s", "t", 0)


@st.composite
def trees(draw: st.DrawFn) -> list[Entry]:
    """Entries of a random tree: each new one goes behind any of those before it."""
    entries: list[Entry] = []
    for number in range(draw(st.integers(1, 60))):
        parent = draw(st.sampled_from([None, *entries[-8:]]))
        body: Body = draw(st.sampled_from(BODIES))
        entries.append(append(parent, body, Stamp(f"e{number}", "s", "t", 0)))
    return entries


@given(trees(), st.data())
def test_ancestors_are_those_of_a_plain_walk(tree: list[Entry], data: st.DataObject) -> None:
    """CUT-6: whether an entry is on a path, and which one is at a depth, is what following the parents gives."""
    leaf = data.draw(st.sampled_from(tree))
    path = full_path(leaf)
    for depth in range(leaf.depth + 2):
        expected = path[depth - 1] if 1 <= depth <= leaf.depth else None
        assert ancestor_at(leaf, depth) is expected
    for entry in tree:
        assert on_path(entry, leaf) is any(entry is p for p in path)


@given(trees(), st.data())
def test_the_last_entry_within_a_count_of_user_messages(tree: list[Entry], data: st.DataObject) -> None:
    """CUT-2: the place behind the n-th user message's turn is the last entry with no later user message before it."""
    leaf = data.draw(st.sampled_from(tree))
    path = full_path(leaf)
    for ordinal in range(leaf.ordinal + 1):
        within = [entry for entry in path if entry.ordinal <= ordinal]
        assert last_within(leaf, ordinal) is (within[-1] if within else None)


def test_a_long_way_is_short() -> None:
    """Issue 3, speed: jump pointers lead from an entry to any of its ancestors in a logarithmic number of steps."""
    leaf = append(None, UserSaid("u"), STAMP)
    for _ in range(1500):
        leaf = append(leaf, UserSaid("u"), STAMP)
    for depth in range(1, leaf.depth):
        steps, entry = 0, leaf
        while entry.depth > depth:
            assert entry.parent is not None
            assert entry.jump is not None
            entry = entry.jump if entry.jump.depth >= depth else entry.parent
            steps += 1
        assert entry is ancestor_at(leaf, depth)
        assert steps <= 3 * leaf.depth.bit_length()


@given(trees())
def test_depth_and_ordinal_count_the_path(tree: list[Entry]) -> None:
    """Design 10: depth counts the entries of the path, ordinal its user messages."""
    for leaf in tree:
        path = full_path(leaf)
        assert leaf.depth == len(path)
        assert leaf.ordinal == sum(isinstance(entry.body, UserSaid) for entry in path)


def test_entries_cannot_be_changed() -> None:
    """Design 10: entries are immutable; what is recorded stays."""
    entry = append(None, UserSaid("u"), STAMP)
    with pytest.raises(dataclasses.FrozenInstanceError):
        entry.parent = entry  # type: ignore[misc]  # the refusal is the point


def test_a_very_long_chain_is_printed_compared_and_freed_without_recursion() -> None:
    """Issue 3, speed: 100,000 entries are an ordinary history; nothing may recurse along it."""
    leaf = append(None, UserSaid("u"), STAMP)
    for _ in range(100_000):
        leaf = append(leaf, Answered((Text("a"),), ()), STAMP)
    assert len(repr(leaf)) < 500
    assert leaf != leaf.parent
    assert len(full_path(leaf)) == 100_001
    del leaf
    gc.collect()
