"""Goose's stored rows: where a cut falls, and what an imported history looks like."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkproof.adapters.errors import Garbage
from forkproof.adapters.goose.history import Row, cutoff, parse, to_import
from forkproof.adapters.protocol import Cut, Import, ImportedTurn, TurnRef


@st.composite
def histories(draw: st.DrawFn, *, apart: bool) -> tuple[list[list[Row]], int]:
    """Turns of rows, and the number of one turn; `apart`: each turn begins in a second of its own."""
    now = draw(st.integers(0, 2_000_000_000))
    turns = []
    for number in range(draw(st.integers(1, 6))):
        now += draw(st.integers(1 if apart else 0, 3))
        rows = [Row("user", now, f"question [t{number}]")]
        for _ in range(draw(st.integers(0, 3))):
            now += draw(st.integers(0, 2))
            rows.append(Row(draw(st.sampled_from(["assistant", "user"])), now, ""))
        rows.append(Row("assistant", now, "answer"))
        turns.append(rows)
    return turns, draw(st.integers(0, len(turns) - 1))


def cut(kind: str, turn: int, *, exists: bool = True) -> Cut:
    return Cut(kind, TurnRef(f"t{turn}", f"[t{turn}]", turn, exists=exists))  # type: ignore[arg-type]  # a word from the test


def kept(rows: Sequence[Row], stamp: int | None) -> list[Row]:
    """What Goose keeps for a `conversationBefore`."""
    return [row for row in rows if stamp is None or row.created < stamp]


def flat(turns: Sequence[Sequence[Row]]) -> list[Row]:
    return [row for turn in turns for row in turn]


@given(histories(apart=True))
def test_turns_that_begin_in_seconds_of_their_own_are_cut_exactly(drawn: tuple[list[list[Row]], int]) -> None:
    """Before a turn: all before it and nothing of it; after: all up to its last row (clauses CUT-1, CUT-2)."""
    turns, number = drawn
    rows = flat(turns)
    assert kept(rows, cutoff(cut("before", number), rows)) == flat(turns[:number])
    assert kept(rows, cutoff(cut("after", number), rows)) == flat(turns[: number + 1])


@given(histories(apart=False))
def test_shared_seconds_lose_history_but_never_leak_it(drawn: tuple[list[list[Row]], int]) -> None:
    """Whatever the stamps, nothing from the cut on is kept: rather too much is cut off than too little."""
    turns, number = drawn
    rows = flat(turns)
    before = kept(rows, cutoff(cut("before", number), rows))
    assert before == flat(turns[:number])[: len(before)]
    after = kept(rows, cutoff(cut("after", number), rows))
    assert after == flat(turns[: number + 1])[: len(after)]


def test_a_summary_behind_a_turn_ends_it() -> None:
    """A cut after a turn leaves a later compaction out (clause CMP-4)."""
    rows = [
        Row("user", 10, "q [t0]"),
        Row("assistant", 10, "a"),
        Row("user", 12, "a summary that names [t0]"),
        Row("assistant", 12, "go on"),
        Row("user", 12, "/compact"),
    ]
    assert cutoff(cut("after", 0), rows) == 12


def test_a_turn_that_the_session_does_not_hold_is_told() -> None:
    """No second is made up for it; tool results and the model's words are no user message."""
    rows = [Row("user", 1, "q [t0]"), Row("assistant", 1, "[t7]"), Row("user", 1, "")]
    with pytest.raises(LookupError, match="turn t7"):
        cutoff(cut("before", 7), rows)
    with pytest.raises(LookupError):
        cutoff(Cut("head"), rows)


def test_an_export_is_read_with_its_hidden_rows() -> None:
    """Rows that a compaction hid are still history that can be cut."""
    told = {
        "parent_session_id": "20200101_1",
        "conversation": [
            {"role": "user", "created": 5, "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            {"role": "user", "created": 6, "content": [{"type": "toolResponse", "id": "x"}], "metadata": {"new": 1}},
        ],
    }
    seen = parse(json.dumps(told))
    assert seen.rows == (Row("user", 5, "a\nb"), Row("user", 6, ""))
    assert [row.opens_a_turn for row in seen.rows] == [True, False]
    assert seen.parent == "20200101_1"
    assert parse('{"conversation": null, "parent_session_id": null}').rows == ()


@pytest.mark.parametrize(
    "text",
    ["", "None", "[]", "{}", '{"conversation": [1]}', '{"conversation": [{"role": "user"}]}', '{"conversation": 1}'],
)
def test_an_export_of_another_shape_is_garbage(text: str) -> None:
    """A newer Goose may write other rows: told as such, with a hint, and no traceback."""
    with pytest.raises(Garbage, match="export"):
        parse(text)


texts = st.text(max_size=40)


@given(st.lists(st.builds(ImportedTurn, st.integers(0, 2_000_000_000), texts, texts), max_size=5))
def test_an_imported_history_is_read_back_as_it_was(turns: list[ImportedTurn]) -> None:
    """Order, texts and stamps are the trace's, equal stamps included; the fresh session's settings are kept (CUT-3)."""
    fresh = json.dumps({"id": "x", "extension_data": {"tools": 1}, "conversation": [], "message_count": 0})
    text = to_import(fresh, Import("/w", tuple(turns)))
    rows = parse(text).rows
    assert [(row.role, row.created, row.text) for row in rows] == [
        said for t in turns for said in (("user", t.at, t.user), ("assistant", t.at, t.say))
    ]
    told = json.loads(text)
    assert (told["extension_data"], told["message_count"]) == ({"tools": 1}, 2 * len(turns))
    assert len({message["id"] for message in told["conversation"]}) == 2 * len(turns)


def test_an_imported_turn_keeps_the_id_that_the_trace_chose() -> None:
    """Goose keeps the ids of imported rows, so that order can be told from ids that sort otherwise (clause CUT-4)."""
    turns = (ImportedTurn(5, "a", "b", id="msg-10"), ImportedTurn(5, "c", "d", id="msg-9"), ImportedTurn(5, "e", "f"))
    told = json.loads(to_import('{"conversation": []}', Import("/w", turns)))
    ids = [message["id"] for message in told["conversation"]]
    assert ids == ["msg-10", "msg-10-answer", "msg-9", "msg-9-answer", "imported-2", "imported-2-answer"]


def test_what_was_said_into_a_turn_is_cut_with_it() -> None:
    """It stands under `user` like a message that opens a turn; its id tells it apart (clause QUE-2)."""
    rows = [Row("user", 1, "q [t0]"), Row("user", 2, "and [s]", "steer_7"), Row("user", 3, "q [t1]", "msg_1")]
    assert cutoff(cut("after", 0), rows) == 3
    assert cutoff(cut("after", 1), rows) is None
