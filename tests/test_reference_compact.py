"""Compaction: what a summary covers, what stays word for word, and cuts on both sides of it."""

from hypothesis import given
from hypothesis import strategies as st

from forkproof.reference.compact import plan
from forkproof.reference.cut import Place, Point, cut
from forkproof.reference.entries import Checkpoint, Entry, UserSaid, newest_checkpoint
from forkproof.reference.project import active, full_path
from forkproof.reference.prompt import Message, Text
from forkproof.reference.record import checkpoint_id
from forkproof.reference.repair import pair
from tests.reference_histories import Answer, Compaction, Event, Told, Turn, histories_with_turns, told, wild_histories

ASK = Turn((Answer((), ()),), "end_turn")


def words(leaf: Entry | None) -> list[str]:
    """What the person and the model said, and the summaries by their text alone."""
    texts = [part.content for message in pair(active(leaf)) for part in message.parts if isinstance(part, Text)]
    return [text.split("\n")[-1] for text in texts]


@given(histories_with_turns, st.integers(0, 3))
def test_a_plan_parts_the_context_at_a_turn(story: Told, retained: int) -> None:
    """CMP-6: covered and kept make up the whole context, in order; the tail begins with a user message."""
    context = active(story.leaf)
    planned = plan(context, retained)
    assert (planned is not None) is any(isinstance(entry.body, UserSaid) for entry in context)
    if planned is None:
        return
    kept = context[len(planned.covered) :]
    assert [*planned.covered, *kept] == context
    assert any(isinstance(entry.body, UserSaid) for entry in planned.covered)
    assert sum(isinstance(entry.body, UserSaid) for entry in kept) <= retained
    assert planned.tail is (kept[0] if kept else None)
    assert not kept or isinstance(kept[0].body, UserSaid)


def test_nothing_to_compact() -> None:
    """CMP-5: an empty context, or one that is nothing but a summary, is not summarized again."""
    assert plan([], 1) is None
    story = told([ASK, Compaction(0)])
    assert plan(active(story.leaf), 1) is None


@given(wild_histories, st.integers(0, 3))
def test_a_compaction_replaces_what_it_covers_by_the_summary(story: Told, retained: int) -> None:
    """CMP-2, CMP-6: the context becomes the summary and the tail word for word, tool traffic included."""
    context = active(story.leaf)
    planned = plan(context, retained)
    if planned is None:
        return
    story.tell(Compaction(retained))
    tail = pair(context[len(planned.covered) :])
    summary, *rest = pair(active(story.leaf))
    assert _is_summary(summary)
    assert rest == tail


@given(wild_histories)
def test_one_summary_at_most_stands_in_a_context(story: Told) -> None:
    """CMP-4, CMP-5: only the newest compaction on the path is active, and it comes first."""
    summaries = [_is_summary(message) for message in pair(active(story.leaf))]
    assert sum(summaries) == (newest_checkpoint(story.leaf) is not None)
    assert not any(summaries[1:])


@given(wild_histories)
def test_the_original_stays_in_the_tree(story: Told) -> None:
    """CMP-8: a compaction deletes nothing; all turns before it can still be read and cut at."""
    path = full_path(story.leaf)
    assert [entry.turn for entry in path if isinstance(entry.body, UserSaid)] == list(story.turns)
    for entry in path:
        if isinstance(entry.body, Checkpoint):
            ids = [e.id for e in path]
            assert ids.index(entry.body.first) <= ids.index(entry.body.last) < ids.index(entry.id)


def test_an_older_summary_inside_the_tail_is_covered_too() -> None:
    """CMP-4, CMP-5: a tail that reaches behind an older compaction shows its turns once and the older summary never."""
    story = told([ASK, ASK, ASK, Compaction(2), ASK, Compaction(2)])
    third, fourth = list(story.turns)[2:]
    expected = [f"ask {third}", _said(story, third), f"ask {fourth}", _said(story, fourth)]
    summary, *rest = words(story.leaf)
    checkpoint = newest_checkpoint(story.leaf)
    assert checkpoint is not None
    assert isinstance(checkpoint.body, Checkpoint)
    assert (summary, rest) == (checkpoint.body.summary, expected)


def test_a_summary_names_what_it_covers() -> None:
    """CMP-8: conversation and range stand above the summary; a covered summary lends its beginning."""
    story = told([ASK, ASK, ASK, Compaction(1), ASK, ASK, Compaction(1)])
    older, newer = (e.body for e in full_path(story.leaf) if isinstance(e.body, Checkpoint))
    turns = list(story.turns)
    assert (older.session, older.first, older.last) == ("s", story.turns[turns[0]].id, story.after[turns[1]].id)
    assert (newer.first, newer.last) == (older.first, story.after[turns[3]].id)
    text = pair(active(story.leaf))[0].parts[0]
    assert isinstance(text, Text)
    assert text.content.startswith(f"Summary of conversation s, entries {newer.first} to {newer.last}:")


def test_cuts_around_a_compaction() -> None:
    """CMP-2, CMP-3, REC-10: originals before it, the effective context after it, and the record says which."""
    story = told([ASK, ASK, Compaction(1), ASK])
    one, two, three = story.turns
    checkpoint = story.before[three]
    assert checkpoint is not None
    summary = words(checkpoint)[0]
    expected = {
        ("before", one): ([], "none"),
        ("after", one): ([f"ask {one}", _said(story, one)], "none"),
        ("before", two): ([f"ask {one}", _said(story, one)], "none"),
        ("after", two): ([f"ask {one}", _said(story, one), f"ask {two}", _said(story, two)], "none"),
        ("before", three): ([summary, f"ask {two}", _said(story, two)], checkpoint.id),
        ("after", three): (
            [summary, f"ask {two}", _said(story, two), f"ask {three}", _said(story, three)],
            checkpoint.id,
        ),
    }
    for (kind, turn), (texts, id_) in expected.items():
        place = cut(story.leaf, Point("after" if kind == "after" else "before", turn), story.turns)
        assert isinstance(place, Place)
        assert words(place.leaf) == texts
        assert checkpoint_id(place.leaf) == id_


@given(st.lists(st.just(ASK) | st.builds(Compaction, st.integers(0, 2)), max_size=6))
def test_a_fork_may_be_compacted_without_the_source(events: list[Event]) -> None:
    """CMP-4, ISO-1: a compaction on one path is not active on its sibling."""
    story = told([ASK, *events])
    source = words(story.leaf)
    shared = story.leaf
    story.tell(Compaction(0))
    assert words(shared) == source


def _said(story: Told, turn: str) -> str:
    answer = story.after[turn].parent
    assert answer is not None
    assert answer.message is not None
    text = answer.message.parts[0]
    assert isinstance(text, Text)
    return text.content


def _is_summary(message: Message) -> bool:
    part = message.parts[0]
    return isinstance(part, Text) and part.content.startswith("Summary of conversation")
