"""Where a trace's turns, items and cuts are in a session of pi, and what the record says of a cut that was applied."""

from __future__ import annotations

from typing import Any

import pytest

from forkproof.adapters.pi.path import Held
from forkproof.adapters.pi.record import applied_cut
from forkproof.adapters.protocol import Cut, ItemRef, TurnRef
from forkproof.adapters.tree import EntryRef


def entry(id_: str, parent: str | None, role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "message", "id": id_, "parentId": parent, "message": {"role": role, "content": content, **more}}


def text(words: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": words}]


CALL = {"type": "toolCall", "id": "call_1|fc_1", "name": "bash", "arguments": {}}

ENTRIES = (
    {"type": "model_change", "id": "m", "parentId": None},
    entry("s", "m", "system", "You are."),
    entry("u1", "s", "user", text("Plan. [plan.user]")),
    entry("a1", "u1", "assistant", text("Planned. [plan.say]")),
    entry("u2", "a1", "user", text("Write. [write.user]")),
    entry("a2", "u2", "assistant", [CALL]),
    entry("r2", "a2", "toolResult", text("[edit.start] [edit.end]"), toolCallId="call_1|fc_1"),
    entry("st", "r2", "user", text("Also. [also.user]")),
    entry("a3", "st", "assistant", text("Written. [write.say]")),
    {"type": "label", "id": "l", "parentId": "a3", "targetId": "u1", "label": "[plan.user]"},
    entry("u3", "a1", "user", text("Left. [left.user]")),
)
HELD = Held({}, ENTRIES, "l")
STEERED = {"Also. [also.user]"}


def ref(name: str, *, exists: bool = True) -> TurnRef:
    return TurnRef(name, f"[{name}.user]", 0, exists=exists)


def test_the_path_is_the_active_one() -> None:
    assert [e["id"] for e in HELD.path] == ["m", "s", "u1", "a1", "u2", "a2", "r2", "st", "a3", "l"]
    assert HELD.conversation == ("u1", "a1", "u2", "a2", "r2", "st", "a3")


def test_a_circle_of_entries_has_an_end() -> None:
    circle = (entry("x", "y", "user", "X"), entry("y", "x", "user", "Y"))
    assert [e["id"] for e in Held({}, circle, "y").path] == ["x", "y"]


@pytest.mark.parametrize(
    ("cut", "at"),
    [
        (Cut("before", ref("plan")), "u1"),
        (Cut("before", ref("write")), "u2"),
        (Cut("after", ref("plan")), "a1"),
        (Cut("after", ref("write")), "a3"),
        (Cut("head"), "l"),
        (Cut("at", item=ItemRef("edit.call", "call_1")), "a2"),
        (Cut("at", item=ItemRef("edit.result", "call_1")), "r2"),
        (Cut("at", item=ItemRef("plan.user", "[plan.user]")), "u1"),
        (Cut("at", item=ItemRef("gone.say", "[gone.say]")), None),
    ],
)
def test_a_cut_is_told_by_an_entry(cut: Cut, at: str | None) -> None:
    """A label repeats an entry's words and is not that entry; a steered message does not end its turn."""
    assert HELD.cut(cut, STEERED) == at


def test_what_never_was_gets_an_id_that_no_entry_has() -> None:
    for cut in (Cut("before", ref("x", exists=False)), Cut("at", item=ItemRef("x", "x", exists=False))):
        made = HELD.cut(cut)
        assert made is not None
        assert len(made) == 8
        assert made not in {e["id"] for e in ENTRIES}


def test_a_known_id_comes_before_the_marker() -> None:
    assert HELD.at(EntryRef("plan.user", "[plan.user]", native="u3")) == "u3"
    assert HELD.at(EntryRef("plan.user", "[plan.user]", native="elsewhere")) == "u1"
    assert HELD.at(EntryRef("left.user", "[left.user]")) == "u3", "also off the path"


def copied(upto: str) -> Held:
    ids = [e["id"] for e in HELD.path]
    return Held({}, HELD.path[: ids.index(upto) + 1], upto)


@pytest.mark.parametrize(
    ("cut", "entry_", "child", "applied"),
    [
        (Cut("before", ref("write")), "u2", copied("a1"), {"before": "[write.user]"}),
        (Cut("after", ref("plan")), "a1", copied("a1"), {"after": "[plan.user]"}),
        (Cut("before", ref("write")), "u2", copied("u2"), {"after": "u2"}),
        (Cut("before", ref("plan")), "u1", copied("s"), {"before": "[plan.user]"}),
        (Cut("head"), "l", copied("a3"), {"head": True}),
        (Cut("head"), "l", copied("r2"), {"after": "r2"}),
        (Cut("at", item=ItemRef("edit.result", "call_1")), "r2", copied("r2"), {"at": "call_1"}),
    ],
)
def test_the_record_says_what_was_copied_and_not_what_was_asked(
    cut: Cut, entry_: str, child: Held, applied: dict[str, Any]
) -> None:
    assert applied_cut(cut, HELD, child, entry_, busy=None) == applied


def test_a_turn_that_ran_is_told_as_interrupted() -> None:
    assert applied_cut(Cut("head"), HELD, copied("a3"), "l", busy="[write.user]") == {"interrupted": "[write.user]"}
