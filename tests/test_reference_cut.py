"""Cuts: a fork holds the source's context up to the cut and nothing else, at every position."""

from typing import Literal, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkproof.reference.cut import Place, Point, boundary, cut
from forkproof.reference.entries import Answered, Checkpoint, Stop, TurnEnded, UserSaid
from forkproof.reference.project import active, full_path
from forkproof.reference.prompt import Text
from forkproof.reference.refusal import Refusal
from forkproof.reference.repair import pair
from tests.reference_histories import (
    Answer,
    Event,
    Told,
    Turn,
    compactions,
    histories_with_turns,
    plain_histories,
    told,
    turns,
    wild_answers,
)

PLAIN_TURN = Turn((Answer((), ()),), "end_turn")
SIDES: tuple[Literal["before"], Literal["after"]] = ("before", "after")


def place(story: Told, kind: Literal["before", "after", "head"], turn: str = "") -> Place:
    found = cut(story.leaf, Point(kind, turn), story.turns)
    assert isinstance(found, Place)
    return found


@given(plain_histories)
def test_the_prompt_at_a_cut_is_a_prefix_of_the_source_s(story: Told) -> None:
    """CUT-1, CUT-2: at every turn, before and after, the fork's messages are the first ones of the source's."""
    whole = pair(active(story.leaf))
    lengths = []
    for turn in story.turns:
        for kind in SIDES:
            messages = pair(active(place(story, kind, turn).leaf))
            assert messages == whole[: len(messages)]
            lengths.append(len(messages))
    assert lengths == sorted(lengths)
    assert lengths[0] == 0


@given(histories_with_turns)
def test_before_and_after_a_turn(story: Told) -> None:
    """CUT-7, CMP-3: before leaves the user message out and gives it back; after ends with the turn's own last item."""
    for turn, first in story.turns.items():
        before, after = place(story, "before", turn), place(story, "after", turn)
        assert before.leaf is story.before[turn]
        assert isinstance(first.body, UserSaid)
        assert before.editor == first.body.text
        assert before.applied == {"before": turn}
        assert after.leaf is story.after[turn]
        assert after.editor == ""
        assert after.applied == {"after": turn}


@given(histories_with_turns, st.lists(turns(wild_answers) | compactions, max_size=4))
def test_a_cut_does_not_depend_on_what_came_later(story: Told, later: list[Event]) -> None:
    """CMP-3, CMP-4, SNAP-1: the same cut gives the same context before and after more turns and compactions."""
    first = {(k, t): pair(active(place(story, k, t).leaf)) for t in story.turns for k in SIDES}
    for event in later:
        story.tell(event)
    for (kind, turn), messages in first.items():
        assert pair(active(place(story, kind, turn).leaf)) == messages


@given(histories_with_turns)
def test_the_head_is_the_whole_context(story: Told) -> None:
    """CMP-2: a cut at the head, compactions included, gives just what the source itself would send."""
    head = place(story, "head")
    assert head.leaf is story.leaf
    assert head.applied == {"head": True}


@given(histories_with_turns, histories_with_turns)
def test_a_turn_of_another_session_or_of_nobody_is_refused(story: Told, other: Told) -> None:
    """CUT-5, CUT-6: unknown, blank and foreign turns are no cut points; nothing is moved to where it might fit."""
    for turn in ("", " ", "t0", "nobody", *(f"x{t}" for t in story.turns)):
        for kind in SIDES:
            refused = cut(story.leaf, Point(kind, turn), story.turns)
            assert isinstance(refused, Refusal)
            assert refused.reason == "unknown-cut"
    for turn in other.turns:
        assert isinstance(cut(story.leaf, Point("before", turn), other.turns), Refusal)


def test_a_turn_that_was_left_behind_is_no_cut_point() -> None:
    """CUT-6: only the active path counts; a turn on an abandoned sibling is unknown there."""
    story = told([])
    story.tell(PLAIN_TURN)
    fork = story.leaf
    story.tell(PLAIN_TURN)
    abandoned = list(story.turns)[-1]
    story.leaf = fork
    story.tell(PLAIN_TURN)
    assert isinstance(cut(story.leaf, Point("before", abandoned), story.turns), Refusal)
    assert isinstance(cut(story.leaf, Point("after", abandoned), story.turns), Refusal)


def test_after_a_turn_that_has_not_ended_is_refused() -> None:
    """CUT-5: what is not durable yet is no cut point; before that turn is one."""
    story = told([])
    story.turns["t"] = story.add(UserSaid("go"), "t")
    story.add(Answered((Text("…"),), ()), "t")
    refused = cut(story.leaf, Point("after", "t"), story.turns)
    assert isinstance(refused, Refusal)
    assert refused.reason == "unknown-cut"
    assert place(story, "before", "t").leaf is None


@given(histories_with_turns, st.integers(0, 2))
def test_the_boundary_of_a_busy_source(story: Told, answers: int) -> None:
    """SNAP-4, REC-6: interrupt keeps all that was recorded, last-committed leaves the turn out, and both say so."""
    before = story.leaf
    running = story.turns["now"] = story.add(UserSaid("go"), "now")
    leaf = running
    for _ in range(answers):
        leaf = story.add(Answered((Text("…"),), ()), "now")
    kept = boundary(running, leaf, "interrupt")
    assert kept == Place(leaf, {"interrupted": "now"}, "", "now")
    left_out = boundary(running, leaf, "last-committed")
    assert isinstance(left_out, Place)
    assert left_out.leaf is before
    assert before is not None
    if isinstance(before.body, Checkpoint):
        assert left_out.applied == {"before": "now"}
    else:
        assert left_out.applied == {"after": before.turn}
        assert cut(story.leaf, Point("after", before.turn), story.turns) == left_out
    for refused in (boundary(running, leaf, "refuse"), boundary(running, leaf, "wait")):
        assert isinstance(refused, Refusal)
        assert refused.reason == "busy"


def test_a_first_turn_in_flight_leaves_an_empty_prefix() -> None:
    """SNAP-4: with last-committed and nothing committed yet the fork is empty, and its record says where it was cut."""
    story = told([])
    running = story.add(UserSaid("go"), "now")
    assert boundary(running, running, "last-committed") == Place(None, {"before": "now"})


@pytest.mark.parametrize("stop", get_args(Stop))
def test_every_ended_turn_is_a_cut_point(stop: Stop) -> None:
    """SNAP-2, TOOL-3: failed and interrupted turns, also with nothing but the user's message, stay forkable."""
    story = told([])
    story.turns["t"] = story.add(UserSaid("go"), "t")
    end = story.add(TurnEnded(stop), "t")
    assert place(story, "after", "t").leaf is end
    assert full_path(end)[0].message == story.turns["t"].message
