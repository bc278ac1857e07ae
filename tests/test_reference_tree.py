"""Rules for a session as a tree: moving, labels, edits, and reading it from outside (clauses NAV, LBL, RD, TRE)."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from forkproof.reference.cut import Point
from forkproof.reference.edits import shown
from forkproof.reference.entries import Edited, Entry, Stamp, UserSaid, append
from forkproof.reference.links import Row, linked
from forkproof.reference.model import Failure, Reply
from forkproof.reference.navigate import left_behind, select, summarizes
from forkproof.reference.past import PastTurn
from forkproof.reference.project import full_path
from forkproof.reference.prompt import Prompt, Text
from forkproof.reference.refusal import Refusal
from forkproof.reference.session import Session
from forkproof.reference.tree import Listing, Moved
from tests.reference_histories import Told
from tests.reference_models import Script
from tests.reference_stage import HEAD, Stage


@st.composite
def trees(draw: st.DrawFn) -> list[Entry]:
    """Entries of one session, each behind an earlier one or a root."""
    entries: list[Entry] = []
    for number in range(draw(st.integers(1, 12))):
        parent = draw(st.sampled_from([None, *entries]))
        entries.append(append(parent, UserSaid(str(number)), Stamp(f"e{number}", "s", f"t{number}", 1000)))
    return entries


@given(trees(), st.data())
def test_what_is_left_is_the_old_path_without_the_new_one(tree: list[Entry], data: st.DataObject) -> None:
    """NAV-8: from the common ancestor, which is not left, to the old leaf, in order."""
    old, new = data.draw(st.sampled_from([None, *tree])), data.draw(st.sampled_from([None, *tree]))
    shared = set(full_path(new))
    assert left_behind(old, new) == [entry for entry in full_path(old) if entry not in shared]


@given(trees())
def test_a_message_of_the_person_is_taken_back(tree: list[Entry]) -> None:
    """NAV-2: it goes on before the message, and its text is given back."""
    for entry in tree:
        assert select(entry) == (entry.parent, entry.body.text if isinstance(entry.body, UserSaid) else "")


@given(trees())
def test_a_summary_needs_consent_and_something_to_say(tree: list[Entry]) -> None:
    """NAV-6: none where it was declined, none where nothing was said."""
    assert not summarizes(tree, accepted=False)
    assert summarizes(tree, accepted=True)
    assert not summarizes([], accepted=True)


keys = st.sampled_from("abcdefgh")


@given(st.lists(st.tuples(keys, st.none() | keys), unique_by=lambda row: row[0], max_size=8))
def test_rows_in_any_order_make_a_forest(rows: list[tuple[str, str | None]]) -> None:
    """RD-4, TRE-1: every row once, parents first; a row is a root only for want of a parent, or to cut a circle."""
    stored = [Row(*row) for row in rows]
    order = linked(stored)
    assert sorted(number for number, _ in order) == list(range(len(stored)))
    place = {number: index for index, (number, _) in enumerate(order)}
    known = {row.key: row.behind for row in stored}
    for number, parent in order:
        row = stored[number]
        if parent is not None:
            assert place[parent] < place[number]
            assert stored[parent].key == row.behind
        elif row.behind in known:
            assert _in_a_circle(row.key, known)


def _in_a_circle(key: str, behind: dict[str, str | None]) -> bool:
    at, been = behind[key], set[str]()
    while at is not None and at in behind and at not in been:
        if at == key:
            return True
        been.add(at)
        at = behind[at]
    return False


@given(st.permutations(range(6)))
def test_the_order_of_rows_changes_no_chain(order: list[int]) -> None:
    """TRE-1: the same links, the same parents, however the rows are stored."""
    rows = [Row(str(number), str(number - 1) if number else None) for number in order]
    parents = {rows[number].key: rows[parent].key for number, parent in linked(rows) if parent is not None}
    assert parents == {str(number): str(number - 1) for number in range(1, 6)}


def test_the_newest_edit_counts_and_the_entry_stays() -> None:
    """LBL-3: a path shows its own edits, the newest of each entry; a path without them shows the original."""
    story = Told()
    said = story.add(UserSaid("one"), "t")
    before = story.leaf
    story.add(Edited(said.id, "two"))
    story.add(Edited(said.id, "three"))
    found = shown([said], story.leaf)
    assert [e.message and e.message.parts for e in found] == [(Text("three"),)]
    assert list(shown([said], before)) == [said]
    assert said.body == UserSaid("one")


def _listing(stage: Stage, session: str = "", since: str | None = None) -> Listing:
    found = stage.harness.tree.entries(session or stage.main, since)
    assert isinstance(found, Listing)
    return found


def test_a_move_writes_nothing_and_is_seen_by_the_next_request() -> None:
    """NAV-1, NAV-4, NAV-6, RD-3: the listing stays, its leaf moves, and the path left is not sent."""

    async def story() -> None:
        stage = Stage()
        await stage.turn("one")
        stood = stage.leaf()
        await stage.turn("two")
        before = _listing(stage)
        assert stood is not None
        asked = len(stage.model.prompts)
        assert await stage.harness.tree.branch(stage.main, stood.id) == Moved(stood.id)
        assert _listing(stage).entries == before.entries
        assert _listing(stage).leaf == stood.id
        assert len(stage.model.prompts) == asked
        await stage.turn("three")
        assert stage.last() == ["one", "ok", "three"]

    asyncio.run(story())


class _NoSummary(Script):
    """A model that is not there when a summary is asked for."""

    async def __call__(self, prompt: Prompt) -> Reply | Failure:
        """Answer one prompt."""
        failed = prompt.settings.get("purpose") == "summary"
        return Failure(503, "overloaded") if failed else await super().__call__(prompt)


def test_a_failed_summary_leaves_the_session_where_it_is() -> None:
    """NAV-1, NAV-5: no summary, no move, no entry."""

    async def story() -> None:
        stage = Stage(_NoSummary())
        await stage.turn("one")
        await stage.turn("two")
        before = _listing(stage)
        refused = await stage.harness.tree.branch(stage.main, before.entries[0].id, summary=True)
        assert isinstance(refused, Refusal)
        assert _listing(stage) == before
        assert isinstance(await stage.harness.tree.branch(stage.main, before.entries[0].id), Moved)

    asyncio.run(story())


def test_unknown_entries_and_sessions_are_refused() -> None:
    """RD-2, ATO-2: a definite no, whatever is asked of what never was."""

    async def story() -> None:
        stage = Stage()
        await stage.turn("one")
        tree, before = stage.harness.tree, stage.state()
        answers = [
            await tree.branch(stage.main, "entry-none"),
            await tree.branch("session-none", "entry-none"),
            tree.rewind(stage.main, "turn-none"),
            tree.label(stage.main, "entry-none", "x"),
            tree.edit(stage.main, "entry-none", "x"),
            tree.entries(stage.main, "entry-none"),
            tree.entries("session-none"),
            tree.nodes("session-none"),
            tree.history("session-none"),
        ]
        assert all(isinstance(answer, Refusal) for answer in answers)
        assert stage.state() == before

    asyncio.run(story())


def test_a_fork_copies_no_entry_and_lists_its_own_past() -> None:
    """RD-1 in a fork: the prefix first, then what was said in it, and the source's listing is its own."""

    async def story() -> None:
        stage = Stage()
        turn = await stage.turn("one")
        await stage.turn("two")
        record = await stage.fork(Point("after", turn))
        prefix = [e for e in _listing(stage).entries if e.turn == turn]
        assert list(_listing(stage, record.session).entries) == prefix
        await stage.turn("three", record.session)
        assert list(_listing(stage, record.session).entries)[: len(prefix)] == prefix
        assert all(e.turn != turn for e in _listing(stage, record.session).entries[len(prefix) :])

    asyncio.run(story())


def test_labels_are_set_anew_in_a_fork_only_where_they_must_be() -> None:
    """LBL-2: a label set behind the cut is written once more, with its own time; one on the path is there already."""

    async def story() -> None:
        stage = Stage()
        turn = await stage.turn("one")
        target = _listing(stage).entries[0]
        await stage.turn("two")
        label = stage.harness.tree.label(stage.main, target.id, "the first")
        assert isinstance(label, Entry)
        early = await stage.fork(Point("after", turn))
        whole = await stage.fork(HEAD)
        for record, extra in ((early, 1), (whole, 0)):
            session = stage.harness.session(record.session)
            assert session is not None
            assert len(session.written) == extra
            kept = session.labels[target.id]
            assert (kept.text, kept.at, kept.target) == ("the first", label.stamp.at, target)

    asyncio.run(story())


def test_an_import_keeps_the_stored_order_and_stands_at_the_last_end() -> None:
    """RD-1, TRE-1: the listing is as stored; the session stands at the last turn that none goes on from."""
    stage = Stage()
    turns = [
        PastTurn(3, "third", "3", "c", "b"),
        PastTurn(1, "first", "1", "a", "nothing"),
        PastTurn(2, "second", "2", "b", "a"),
    ]
    session = stage.harness.import_history("/main", turns)
    assert isinstance(session, Session)
    said = [e.body.text for e in _listing(stage, session.header.id).entries if isinstance(e.body, UserSaid)]
    assert said == ["third", "first", "second"]
    points = [point.text for point in stage.harness.fork_points(session.header.id)]
    assert points == ["first", "second", "third"]
