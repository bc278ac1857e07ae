"""Pairing: whatever was recorded, each call in a prompt has exactly one result and each result a call."""

from itertools import takewhile

from hypothesis import given
from hypothesis import strategies as st

from forkproof.reference.entries import Answered, Entry, ToolEnded, TurnEnded, UserSaid
from forkproof.reference.project import active, full_path
from forkproof.reference.prompt import Message, Text, ToolCall, ToolResult
from forkproof.reference.repair import pair
from forkproof.reference.wording import UNKNOWN_RESULT
from tests.reference_histories import Told, sound_answers, told, turns, wild_histories


def groups(messages: list[Message]) -> list[tuple[list[str], list[str]]]:
    """For each answer the ids that it calls, and the ids of the results right behind it."""
    found: list[tuple[list[str], list[str]]] = []
    for message in messages:
        calls = [p.id for p in message.parts if isinstance(p, ToolCall)]
        results = [p.id for p in message.parts if isinstance(p, ToolResult)]
        if message.role == "tool":
            assert found, "a result before any answer"
            found[-1][1].extend(results)
        else:
            found.append((calls, []))
    return found


@given(wild_histories)
def test_every_call_has_one_result_and_every_result_a_call(story: Told) -> None:
    """TOOL-1: also where results are missing, doubled, out of order or orphaned."""
    for calls, results in groups(pair(active(story.leaf))):
        assert calls == results


def by_position(entries: list[Entry]) -> list[list[str | None]]:
    """For each answer with calls the output of each call: the first one of its id right behind the answer, or none."""
    outputs: list[list[str | None]] = []
    for index, entry in enumerate(entries):
        if isinstance(entry.body, Answered) and entry.body.calls:
            behind = (e.body for e in takewhile(lambda e: isinstance(e.body, ToolEnded), entries[index + 1 :]))
            left = [(body.call, body.output) for body in behind if isinstance(body, ToolEnded)]
            found = []
            for call in entry.body.calls:
                position = next((n for n, (id_, _) in enumerate(left) if id_ == call), None)
                found.append(None if position is None else left.pop(position)[1])
            outputs.append(found)
    return outputs


@given(wild_histories)
def test_each_call_gets_its_own_result(story: Told) -> None:
    """TOOL-2, TOOL-5: the first result of its id behind the answer that made the call, never one of another answer."""
    path = full_path(story.leaf)
    expected = [UNKNOWN_RESULT if o is None else o for outputs in by_position(path) for o in outputs]
    assert [p.response for m in pair(path) for p in m.parts if isinstance(p, ToolResult)] == expected


@given(wild_histories)
def test_nothing_but_results_is_added_or_left_out(story: Told) -> None:
    """CUT-1, CUT-4: pairing changes neither words nor order of anything but results."""
    path = full_path(story.leaf)
    expected = [e.message for e in path if e.message is not None and not isinstance(e.body, ToolEnded)]
    assert [m for m in pair(path) if m.role != "tool"] == expected


@given(st.lists(turns(sound_answers), max_size=6).map(told))
def test_what_is_paired_already_stays_as_it_is(story: Told) -> None:
    """TOOL-4: a history without gaps gets no stand-in result; ids that are used again don't confuse it (TOOL-5)."""
    path = full_path(story.leaf)
    assert pair(path) == [e.message for e in path if e.message is not None]


def answered(*calls: str) -> Answered:
    return Answered(tuple(ToolCall(call, "run", "true") for call in calls), calls)


def results(story: Told) -> list[tuple[str, str]]:
    parts = [part for message in pair(full_path(story.leaf)) for part in message.parts]
    return [(p.id, p.response) for p in parts if isinstance(p, ToolResult)]


def test_an_unfinished_call_is_unknown_and_not_done() -> None:
    """TOOL-2: the stand-in result claims neither success nor failure, and carries no marker of a tool."""
    story = Told()
    for body in (UserSaid("go"), answered("a"), TurnEnded("cancelled")):
        story.add(body)
    assert results(story) == [("a", UNKNOWN_RESULT)]
    assert "unknown" in UNKNOWN_RESULT
    assert ".end]" not in UNKNOWN_RESULT


def test_a_reused_call_id_pairs_by_position() -> None:
    """TOOL-5: the second call `a` is unfinished; the result of the first one is not its own."""
    story = Told()
    for body in (UserSaid("1"), answered("a"), ToolEnded("a", "first"), TurnEnded("end_turn")):
        story.add(body)
    for body in (UserSaid("2"), answered("a"), TurnEnded("cancelled")):
        story.add(body)
    assert results(story) == [("a", "first"), ("a", UNKNOWN_RESULT)]


def test_results_stand_in_the_order_of_their_calls() -> None:
    """TOOL-1: parallel calls that end in another order keep their places."""
    story = Told()
    for body in (UserSaid("1"), answered("a", "b", "c"), ToolEnded("c", "C"), ToolEnded("a", "A")):
        story.add(body)
    assert results(story) == [("a", "A"), ("b", UNKNOWN_RESULT), ("c", "C")]


def test_only_an_interrupted_turn_is_marked() -> None:
    """TOOL-3, TOOL-4: a turn that was cancelled or forked in its middle says so; no other does."""
    for stop, marked in (("end_turn", False), ("failed", False), ("cancelled", True), ("forked", True)):
        story = Told()
        story.add(UserSaid("go"))
        story.add(TurnEnded(stop))  # type: ignore[arg-type]  # the loop runs over all stops
        words = [p.content for m in pair(full_path(story.leaf)) for p in m.parts if isinstance(p, Text)]
        assert any("interrupted" in w for w in words) is marked
