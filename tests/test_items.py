"""Markers and items: what is planted is found again, whatever a harness wraps around it (design section 4)."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from forkproof.adapters.exchange import ToolUse
from forkproof.adapters.model.items import Item, items_of, newest_user
from forkproof.adapters.model.markers import Markers, nonce_for
from forkproof.adapters.prompt import Message, Prompt, Text, ToolCall, ToolResult
from forkproof.adapters.shell import command

MARKERS = Markers("7f3a1c")
NAMES = st.from_regex(r"[a-z][a-z0-9-]{0,8}\.(user|say|say\.2|summary)", fullmatch=True)
# Any text but one that opens a marker of its own.
NOISE = st.text(alphabet=st.characters(exclude_characters="["), max_size=20)


def prompt(*messages: Message) -> Prompt:
    return Prompt(messages)


@given(st.lists(st.tuples(NOISE, NAMES, NOISE), max_size=6))
def test_markers_survive_wrapping_and_merging(pieces: list[tuple[str, str, str]]) -> None:
    """However texts are wrapped and merged into one, the markers come out whole and in order."""
    text = "".join(f"{before}{MARKERS.mark('text', name)}{after}" for before, name, after in pieces)
    assert MARKERS.find(text) == [name for _, name, _ in pieces]


def test_a_marker_of_another_run_is_told_apart() -> None:
    """What a control run, or another run, planted is foreign: it can't be mistaken for the trace's own."""
    other = Markers("000000")
    assert MARKERS.find(other.tag("plan.user")) == ["foreign/plan.user"]
    assert MARKERS.call_name(other.call_id("edit")) == "foreign/edit"


def test_one_text_is_read_anew_in_each_role_and_by_each_run() -> None:
    """A text that was read before, as somebody else's words or by another run, is not taken for that again."""
    said = Text(MARKERS.mark("Go.", "plan.user"))
    for markers, name in ((MARKERS, "plan.user"), (Markers("000000"), "foreign/plan.user"), (MARKERS, "plan.user")):
        seen = items_of(prompt(Message("user", (said,)), Message("assistant", (said,))), markers)
        assert [(item.name, item.role) for item in seen] == [(name, "user"), (name, "assistant")]


def test_nonces_differ_by_seed_trace_and_part() -> None:
    """The same seed gives the same nonce; another seed, trace or part gives another."""
    nonces = {nonce_for(s, t, p) for s in (1, 2) for t in ("a", "b") for p in ("main", "without-alt")}
    assert len(nonces) == 8
    assert nonce_for(1, "a", "main") == nonce_for(1, "a", "main")


def test_the_items_of_a_prompt_in_order() -> None:
    """User, say, call and result are found in order; text without a marker makes no item."""
    seen = items_of(
        prompt(
            Message("system", (Text("You are an agent."),)),
            Message("user", (Text("<env>"), Text(MARKERS.mark("Go.", "plan.user")))),
            Message("assistant", (ToolCall(MARKERS.call_id("edit"), "shell", {"command": "x"}),)),
            Message(
                "tool",
                (ToolResult(MARKERS.call_id("edit"), f"{MARKERS.tag('edit.start')}ok{MARKERS.tag('edit.end')}"),),
            ),
            Message("assistant", (Text(MARKERS.mark("Done.", "plan.say")),)),
        ),
        MARKERS,
    )
    assert [(i.name, i.role, i.status) for i in seen] == [
        ("plan.user", "user", None),
        ("edit.call", "assistant", None),
        ("edit.result", "tool", "done"),
        ("plan.say", "assistant", None),
    ]


def test_a_result_is_done_only_with_the_tools_own_end_marker() -> None:
    """Whatever a harness says about a call, `done` and `failed` come from the tool alone (TOOL-2)."""
    start, end, failed = (MARKERS.tag(f"edit.{m}") for m in ("start", "end", "failed"))
    foreign = MARKERS.tag("other.end")
    told = {
        "": "unfinished",
        "completed successfully, exit code 0": "unfinished",
        f"{start} then silence": "unfinished",
        f"{start}{foreign}": "unfinished",
        f"{start} out {end}": "done",
        f"{start} out {failed}": "failed",
    }
    for response, status in told.items():
        (result,) = items_of(prompt(Message("tool", (ToolResult(MARKERS.call_id("edit"), response),))), MARKERS)
        assert (result.name, result.status) == ("edit.result", status), response


def test_a_call_with_a_new_id_is_known_by_its_arguments() -> None:
    """A harness may give a call an id of its own; its start marker in the arguments tells which call it is."""
    call = ToolCall("toolu_9", "shell", {"command": f"printf %s {MARKERS.tag('edit.start')}"})
    result = ToolResult("toolu_9", "interrupted")
    seen = items_of(prompt(Message("assistant", (call,)), Message("tool", (result,))), MARKERS)
    assert seen == (Item("edit.call", "assistant"), Item("edit.result", "tool", "unfinished"))


def test_a_shell_command_with_a_new_id_is_known_by_the_pieces_of_its_marker(tmp_path: Path) -> None:
    """A harness that renames an id which came twice keeps call and result together: both are the call's (TOOL-5)."""
    for nonce, name in ((MARKERS.nonce, "second"), ("000000", "unknown-Bash")):
        markers = Markers(nonce)
        use = ToolUse("x", "second", "read", "b.txt", markers.tag("second.start"), markers.tag("second.end"))
        call = ToolCall("call_1__2", "Bash", {"command": command(use, tmp_path)})
        result = ToolResult("call_1__2", f"{use.start}beta{use.end}")
        found = items_of(prompt(Message("assistant", (call,)), Message("tool", (result,))), MARKERS)
        done = "done" if nonce == MARKERS.nonce else "unfinished"
        assert found == (Item(f"{name}.call", "assistant"), Item(f"{name}.result", "tool", done))


def test_an_orphan_result_shows_as_unknown() -> None:
    """A result of no call of ours is an item that no trace expects, not noise."""
    (seen,) = items_of(prompt(Message("tool", (ToolResult("toolu_1", "what?"),))), MARKERS)
    assert seen.name == "unknown.result"


def test_tool_output_serialised_into_text_is_one_item() -> None:
    """A summary request holds tool outputs as text: start and end of one call make one result."""
    text = f"tool: {MARKERS.tag('a.start')} x {MARKERS.tag('a.end')} and {MARKERS.tag('b.start')} cut off"
    seen = items_of(prompt(Message("user", (Text(text),))), MARKERS)
    assert [(i.name, i.status) for i in seen] == [("a.result", "done"), ("b.result", "unfinished")]


def test_the_newest_user_message_selects_the_turn() -> None:
    """The last user item counts, wherever assistant items stand."""
    items = (Item("one.user", "user"), Item("two.user", "user"), Item("two.say", "assistant"))
    assert newest_user(items) == "two"
    assert newest_user(()) is None
