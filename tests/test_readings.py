"""Rules for judging what a session shows: hostile trees and listings come to a verdict, never to a hang or a pass."""

from __future__ import annotations

from typing import Any

import pytest

from forkproof.adapters.model.items import items_of
from forkproof.adapters.model.markers import Markers
from forkproof.adapters.model.script import SeenRequest
from forkproof.adapters.prompt import Message, Prompt, Text
from forkproof.adapters.protocol import Description, Refused, Unsupported
from forkproof.adapters.readings import (
    CutPoint,
    CutPointsRead,
    EntriesRead,
    Entry,
    HistoryRead,
    SessionsRead,
    TreeNode,
    TreeRead,
)
from forkproof.conformance.judge import RULES
from forkproof.conformance.judge.finding import Case, Finding
from forkproof.conformance.observation import Observation, PartSeen, StepSeen
from forkproof.conformance.provenance import Lineage
from forkproof.conformance.readings import Readings
from forkproof.conformance.trace.load import load_bytes
from forkproof.conformance.trace.model import Expectation

MARKERS = Markers("abcdef")
TRACE = load_bytes(
    b"trace: 1\ntitle: t\nsteps:\n- {turn: a, user: u, model: [{say: s}], expect: [{CUT-1: {requests: 1}}]}\n", slug="t"
).trace


def _entry(id_: str, parent: str | None, *items: str, at: float | None = 1) -> Entry:
    said = Message("user", tuple(Text(MARKERS.mark("x", item)) for item in items))
    return Entry(id_, parent, said if items else None, at=at)


def _judge(kind: str, value: Any, **read: Any) -> Finding:
    none: dict[str, str] = {}
    requests = tuple(read.pop("requests", ()))
    part = PartSeen(MARKERS.nonce, (), requests, frozenset(), {"main": "s1"}, none, {}, {}, none, none)
    seen = StepSeen(0, read.pop("key", "check"), "main", "main", "done", readings=Readings(read))
    observation = Observation("t", Description("h", "1", "w", frozenset()), part, {})
    expectation = Expectation.model_validate({kind: value})
    return RULES[kind](Case(TRACE, observation, Lineage.of(TRACE), seen, expectation))


LINE = EntriesRead((_entry("1", None, "a.user"), _entry("2", "1"), _entry("3", "2", "a.say")), "3")


def test_entries_of_the_harness_s_own_are_not_judged() -> None:
    """What hangs below an entry without items hangs below the nearest one above that has some."""
    assert _judge("entries", ["a.user", "a.say"], entries=LINE).status == "ok"
    assert _judge("entry", {"id": "a.say", "parent": "a.user"}, entries=LINE).status == "ok"
    assert _judge("entry", {"id": "a.user", "parent": "none"}, entries=LINE).status == "ok"
    assert _judge("leaf", "a.say", entries=LINE).status == "ok"


def test_a_wrong_listing_is_bad() -> None:
    """RD-1, RD-3: another order, something twice, something lost, a leaf that is no entry."""
    turned = EntriesRead(LINE.entries[::-1], "9")
    assert _judge("entries", ["a.user", "a.say"], entries=turned).status == "bad"
    assert _judge("entries", ["a.user", "a.say"], entries=EntriesRead(LINE.entries * 2, "3")).status == "bad"
    assert _judge("entries_have", ["b.user"], entries=LINE).status == "bad"
    assert _judge("leaf", "none", entries=turned).status == "bad"
    assert _judge("entry", {"id": "a.say", "from": "a.user"}, entries=LINE).status == "bad"


def test_a_circle_of_parents_ends() -> None:
    """RD-4: the reader of a circle does not hang either."""
    circle = EntriesRead((_entry("1", "2"), _entry("2", "1"), _entry("3", "2", "a.say")), "1")
    assert _judge("leaf", "none", entries=circle).status == "ok"
    assert _judge("entry", {"id": "a.say", "parent": "none"}, entries=circle).status == "ok"


def _tree(*nodes: tuple[str, str | None, str]) -> TreeRead:
    return TreeRead(tuple(TreeNode(_entry(id_, under, *([item] if item else [])), under) for id_, under, item in nodes))


def test_paths_go_from_roots_to_the_last_items() -> None:
    """RD-4: in any order of the paths, whatever the harness puts between the items or behind the last one."""
    tree = _tree(("1", None, "a.user"), ("2", "1", ""), ("3", "2", "a.say"), ("4", "3", ""), ("5", None, "b.user"))
    assert _judge("paths", [["b.user"], ["a.user", "a.say"]], tree=tree).status == "ok"
    assert _judge("paths", [["a.user", "a.say"]], tree=tree).status == "bad"


@pytest.mark.parametrize(
    "tree",
    [
        _tree(("1", "9", "a.user")),
        _tree(("1", "2", "a.user"), ("2", "1", "")),
        _tree(("1", None, "a.user"), ("1", None, "a.user")),
        TreeRead(()),
    ],
    ids=["below what is not there", "in a circle", "twice", "empty"],
)
def test_a_node_that_no_root_leads_to_is_lost(tree: TreeRead) -> None:
    """RD-4: none is lost, and none stands twice."""
    assert _judge("paths", [["a.user"]], tree=tree).status == "bad"


def test_a_label_says_when_it_was_set() -> None:
    """LBL-1: with its time, which is not from before the entries that were there."""

    def tree(label: str | None, at: float | None) -> TreeRead:
        return TreeRead((TreeNode(_entry("1", None, "a.user", at=5), None, label, at),))

    told = MARKERS.mark("good", "mark.label")
    assert _judge("labels", {"a.user": "good"}, tree=tree(told, 6), key="label").status == "ok"
    assert _judge("labels", {"a.user": "good"}, tree=tree(told, 4), key="label").status == "bad"
    assert _judge("labels", {"a.user": "good"}, tree=tree(told, None)).status == "bad"
    assert _judge("labels", {"a.user": "good"}, tree=tree("bad", 6)).status == "bad"
    assert _judge("labels", {}, tree=tree(told, 6)).status == "bad"
    assert _judge("labels", {}, tree=tree(None, None)).status == "ok"


def _sent(*items: str) -> SeenRequest:
    prompt = Prompt((Message("user", tuple(Text(MARKERS.mark("x", item)) for item in items)),))
    return SeenRequest(0, 0, "turn", "main", 0, items_of(prompt, MARKERS), prompt, "/v1")


@pytest.mark.parametrize(
    ("shown", "status"),
    [
        (["a.user", "b.result", "a.result"], "ok"),
        (["a.user", "b.result", "a.result", "a.say"], "ok"),
        (["a.user", "a.result", "b.result", "a.say"], "bad"),
        (["a.user", "b.result", "a.say"], "bad"),
        (["a.user"], "bad"),
        ([], "bad"),
    ],
)
def test_a_history_is_shown_as_it_was_sent(shown: list[str], status: str) -> None:
    """TRE-3: whatever order the request has; what was said since stands behind."""
    history = HistoryRead(tuple(Message("user", (Text(MARKERS.mark("x", item)),)) for item in shown))
    requests = [_sent("a.user"), _sent("a.user", "b.result", "a.result")]
    assert _judge("shown_as_sent", value=True, history=history, requests=requests).status == status
    assert _judge("shown_as_sent", value=True, history=history).status == "untestable"
    assert _judge("shown_as_sent", value=True, history=history, requests=[_sent()]).status == "untestable"
    assert _judge("shown_as_sent", value=True, history=Unsupported("none"), requests=requests).status == "unobservable"


def test_cut_points_bear_their_texts_and_their_entries_ids() -> None:
    """RD-6: the same ids as in the listing, where it shows."""
    points = CutPointsRead((CutPoint("1", MARKERS.mark("Go.", "a.user")),))
    wrong = CutPointsRead((CutPoint("3", MARKERS.mark("Go.", "a.user")),))
    assert _judge("cut_points", {"a.user": "Go."}, points=points, entries=LINE).status == "ok"
    assert _judge("cut_points", {"a.user": "Go."}, points=wrong, entries=LINE).status == "bad"
    assert _judge("cut_points", {"a.user": "Go."}, points=wrong).status == "ok"
    assert _judge("cut_points", {"a.user": "Stop."}, points=points).status == "bad"
    assert _judge("cut_points", {}, points=points).status == "bad"


def test_a_session_that_nobody_made_is_told() -> None:
    """OPS-3: the list holds these sessions and no other."""
    assert _judge("sessions", ["main"], sessions=SessionsRead(("s1",))).status == "ok"
    assert _judge("sessions", ["main"], sessions=SessionsRead(("s1", "s2"))).status == "bad"


def test_no_reading_is_no_pass() -> None:
    """Vacuity: what was not read is untestable, what can't be is unobservable, a refusal is a failure."""
    assert _judge("entries", []).status == "untestable"
    assert _judge("entries", [], entries=Unsupported("listing")).status == "unobservable"
    assert _judge("entries", [], entries=Refused("other", "no")).status == "bad"
