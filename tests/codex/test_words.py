"""What the Codex adapter makes of the app-server's words: pure functions (docs/codex.md)."""

from __future__ import annotations

import tomllib
import uuid
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkproof.adapters.codex import configuration
from forkproof.adapters.codex.answers import StoredTurn, refusal, thread_state
from forkproof.adapters.codex.prompts import YIELD_MS, classify, shell_call
from forkproof.adapters.codex.record import applied_cut
from forkproof.adapters.codex.turns import find_turn, unknown_id
from forkproof.adapters.errors import Garbage
from forkproof.adapters.prompt import Message, Prompt, Text
from forkproof.adapters.protocol import Cut, Refused, TurnRef, Unknown


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("lastTurnId '01a2' identifies an in-progress turn", "busy"),
        ("turn not found: 01a2", "unknown-cut"),
        ("beforeTurnId '01a2' was not found in the source thread", "unknown-cut"),
        ("no rollout found for thread id 01a2", "unknown-session"),
        ("thread not found: 01a2", "unknown-session"),
        ("thread not loaded: 01a2", "unknown-session"),
        ("invalid session id: invalid character: expected an optional prefix", "unknown-session"),
        ("no active turn to interrupt", "other"),
    ],
)
def test_error_words_give_the_reason(message: str, reason: str) -> None:
    """Codex uses one code for nearly all errors, so its words tell busy, unknown cut and unknown session apart."""
    assert refusal(-32600, message) == Refused(reason, message)  # type: ignore[arg-type]  # a literal's value


def test_an_internal_error_is_not_a_definite_no() -> None:
    """After an internal error nobody knows what was done: the answer is Unknown, not Refused."""
    assert isinstance(refusal(-32603, "turn not found: 01a2"), Unknown)


@pytest.mark.parametrize("answer", [None, [], {}, {"thread": {}}, {"thread": {"id": 7}}, {"thread": "01a2"}])
def test_an_answer_without_a_thread_is_garbage(answer: Any) -> None:
    """An answer that names no thread is a protocol error with a hint, never a KeyError."""
    with pytest.raises(Garbage) as caught:
        thread_state(answer)
    assert "docs/codex.md" in caught.value.hint


def test_settings_are_what_the_answer_states() -> None:
    """Settings are read as stated, a null as None; objects count by the name of the choice."""
    state = thread_state(
        {
            "thread": {"id": "t", "forkedFromId": None},
            "model": "m",
            "reasoningEffort": None,
            "sandbox": {"type": "readOnly", "networkAccess": False},
            "approvalPolicy": {"granular": {"rules": True}},
        }
    )
    assert state.settings == {"model": "m", "effort": None, "sandbox": "readOnly", "approval-policy": "granular"}
    assert (state.directory, state.forked_from, state.parent) == (None, None, None)


IDS = st.lists(st.uuids().map(str), min_size=1, max_size=6, unique=True)


@given(ids=IDS, place=st.integers(0, 5), kind=st.sampled_from(["before", "after", "head"]))
def test_the_cut_asked_for_is_named_only_where_the_listings_agree(ids: list[str], place: int, kind: Any) -> None:
    """The derived cut is the one asked for if the child holds just that prefix, else where it really ends (REC-6)."""
    place %= len(ids)
    source = [StoredTurn(i) for i in ids]
    kept = {"before": place, "after": place + 1, "head": len(ids)}[kind]
    turn = None if kind == "head" else ids[place]
    cut = Cut(kind, None if turn is None else TurnRef("t", "[t]", place, turn))
    asked = {"head": True} if kind == "head" else {kind: turn}
    for held in range(len(ids) + 1):
        applied = applied_cut(cut, turn, source, source[:held])
        if held == kept:
            assert applied == asked
        else:
            assert applied == ({"after": ids[held - 1]} if held else {"before": ids[0]})


def test_a_running_turn_that_was_copied_is_named_interrupted() -> None:
    """A head fork of a busy source says in which turn it cut, unless the turn ended before the fork (SNAP-4)."""
    ran, runs = StoredTurn("a"), StoredTurn("b", "inProgress")
    cut = Cut("head")
    assert applied_cut(cut, None, [ran, runs], [ran, StoredTurn("b", "interrupted")]) == {"interrupted": "b"}
    assert applied_cut(cut, None, [ran, runs], [ran, StoredTurn("b", "completed")]) == {"head": True}
    assert applied_cut(cut, None, [], []) == {"head": True}


def test_a_cut_that_never_was_is_not_named() -> None:
    """A harness that takes an unknown cut and copies everything does not get the cut that it was asked for (CUT-5)."""
    turns = [StoredTurn("a"), StoredTurn("b")]
    assert applied_cut(Cut("before", TurnRef("t", "[t]", 2)), "never", turns, turns) == {"after": "b"}


def test_a_turn_is_found_by_its_id_and_else_by_its_marker() -> None:
    """A fork that renumbers its turns can still be cut: the marker in the user's message finds the turn."""
    stored = [StoredTurn("a", users=("One [fp1.one]",)), StoredTurn("b", users=("Two [fp1.two]", "More"))]
    assert find_turn(stored, TurnRef("two", "[fp1.two]", 1, "a")) == "a"
    assert find_turn(stored, TurnRef("two", "[fp1.two]", 1, "gone")) == "b"
    assert find_turn(stored, TurnRef("three", "[fp1.three]", 2, "gone")) is None


def test_made_up_ids_look_like_codex_s_own() -> None:
    """An id for something that never was has the form of Codex's ids, so that only its being unknown can be refused."""
    made = [uuid.UUID(unknown_id()) for _ in range(50)]
    assert {(i.version, i.variant) for i in made} == {(7, uuid.RFC_4122)}
    assert len(set(made)) == len(made)


def test_only_a_compaction_request_is_a_summary() -> None:
    """A summary request offers no tools and ends in the built-in compaction prompt; nothing else is classified."""
    order = "You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary"
    user = Message("user", (Text("Plan it. [fp1.plan.user]"),))
    compaction = Message("user", (Text(order),))
    assert classify(Prompt((user, compaction))) == "summary"
    assert classify(Prompt((compaction, user))) is None
    assert classify(Prompt((user, compaction), tools=("exec_command",))) is None
    assert classify(Prompt((user, Message("assistant", (Text(order),))))) is None
    assert classify(Prompt(())) is None


def test_tools_block_as_long_as_codex_allows() -> None:
    """The native call asks for the longest wait that Codex grants, so that a waiting command keeps its turn busy."""
    call = shell_call("true")
    assert (call.name, call.freeform) == ("exec_command", False)
    assert call.arguments == {"cmd": "true", "yield_time_ms": YIELD_MS}


def test_the_configuration_is_toml_and_points_to_us_only() -> None:
    """config.toml names our server as the only provider, with retries, updates, plugins and telemetry off."""
    told = tomllib.loads(configuration.render("http://127.0.0.1:41234/"))
    provider = told["model_providers"][told["model_provider"]]
    assert provider["base_url"] == "http://127.0.0.1:41234/v1"
    assert provider["env_key"] == configuration.KEY_VARIABLE
    assert (provider["request_max_retries"], provider["stream_max_retries"]) == (0, 0)
    off = (told["check_for_update_on_startup"], told["analytics"]["enabled"], told["features"]["plugins"])
    assert off == (False, False, False)
