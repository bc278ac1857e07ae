"""Programs: what people and models do to a harness, as data, and Hypothesis strategies for them.

Sessions, turns and commands are named by numbers that are taken modulo what there is when a step is played, so that
every program can be played and stays playable while it shrinks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from hypothesis import strategies as st

__all__ = [
    "Branch",
    "Cancel",
    "Compact",
    "Configure",
    "Delete",
    "Fork",
    "Import",
    "Open",
    "PersonWrites",
    "Program",
    "Read",
    "Release",
    "Restart",
    "Reword",
    "Round",
    "Say",
    "Setup",
    "Step",
    "ToolCall",
    "Turn",
    "programs",
]


@dataclass(frozen=True)
class ToolCall:
    """One call. `id` is empty for an id of its own, else an id that other turns use too (clause TOOL-5)."""

    tool: str
    arguments: Any
    id: str = ""


@dataclass(frozen=True)
class Round:
    """One answer of the model: words, calls, both or neither; or no answer at all."""

    says: bool = True
    calls: tuple[ToolCall, ...] = ()
    trouble: Literal["", "fails", "stalls"] = ""


@dataclass(frozen=True)
class Turn:
    """A message to a session, and the model's answers; one of words alone is added where the last one has calls."""

    session: int
    rounds: tuple[Round, ...]


@dataclass(frozen=True)
class Release:
    """One of the waiting commands may end."""

    command: int


@dataclass(frozen=True)
class Cancel:
    """What is under way in a session is interrupted."""

    session: int


@dataclass(frozen=True)
class Compact:
    """A session is compacted; the model answers with a summary, fails, or stalls."""

    session: int
    trouble: Literal["", "fails", "stalls"] = ""


@dataclass(frozen=True)
class Fork:
    """A fork at a turn of the session itself (`where` is own), of any session (any), or one that never was (none).

    With `at`, the number is that of an entry of the session.

    place: the same directory, a new one that is a snapshot, another one that is there, or one that can't be used.
    """

    session: int
    kind: Literal["before", "after", "at", "head"]
    turn: int = 0
    where: Literal["own", "any", "none"] = "own"
    place: Literal["shared", "isolated", "other", "wrong"] = "shared"
    overrides: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Open:
    """A new, empty session in the first directory or in one that is not there."""

    exists: bool = True
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Import:
    """A new session with so many past turns, all of one second where `tied`, else newest first."""

    turns: int
    tied: bool


@dataclass(frozen=True)
class PersonWrites:
    """The person changes a file in a session's workspace."""

    session: int
    path: str
    text: str


@dataclass(frozen=True)
class Say:
    """Something is said to a busy session: into its turn, or to wait for a turn of its own."""

    session: int
    how: Literal["steer", "queue"]
    rounds: tuple[Round, ...] = ()


@dataclass(frozen=True)
class Branch:
    """A session goes on from one of its entries, or from before one of its turns (rewind)."""

    session: int
    entry: int
    how: Literal["declined", "summary", "rewind", "unknown"] = "declined"
    trouble: Literal["", "fails", "stalls"] = ""


@dataclass(frozen=True)
class Reword:
    """An entry gets a name or loses it, or gets other words for the model."""

    session: int
    entry: int
    how: Literal["label", "clear", "edit"]


@dataclass(frozen=True)
class Read:
    """A reader looks at a session, from one of its entries on."""

    session: int
    since: int


@dataclass(frozen=True)
class Restart:
    """The process ends and another one starts; all sessions are resumed but for one in `left`, if it is not 0."""

    kill: bool
    left: int = 0


@dataclass(frozen=True)
class Delete:
    """A session is deleted, or one turn of its path."""

    session: int
    turn: int
    whole: bool


@dataclass(frozen=True)
class Configure:
    """A session's settings are changed."""

    session: int
    settings: tuple[tuple[str, str], ...]


Step: TypeAlias = (
    Turn
    | Say
    | Release
    | Cancel
    | Compact
    | Fork
    | Branch
    | Reword
    | Read
    | Configure
    | Restart
    | Delete
    | Open
    | Import
    | PersonWrites
)


@dataclass(frozen=True)
class Setup:
    """The declared policies that a program is played under."""

    busy_source: Literal["interrupt", "last-committed", "refuse", "wait"] = "interrupt"
    retained_turns: int = 1
    settings_source: Literal["cut", "latest"] = "cut"
    call_group: Literal["refuse", "before", "after", "repair"] = "after"


@dataclass(frozen=True)
class Program:
    """Steps, one after the other; turns that wait are still under way in the steps behind them."""

    setup: Setup
    steps: tuple[Step, ...]


_PATHS = ("a", "b", "d/a", "d", "d/e/b", "./a", "../x", "/main/b", ".hidden")
_paths = st.sampled_from(_PATHS)
_texts = st.sampled_from(("", "one\n", "two\none\n", "onetwo\N{SNOWMAN}\n"))
_settings = st.lists(
    st.sampled_from(
        (
            ("model", "m2"),
            ("effort", "high"),
            ("permissions", "auto"),
            ("permissions", "ask"),
            ("permissions", "read-only"),
            ("tone", "dry"),
        )
    ),
    max_size=2,
    unique_by=lambda pair: pair[0],
).map(tuple)
_sessions = st.sampled_from((0, 0, 0, 1, 1, 2, 3, 5))
"""The oldest ones most often, so that things meet in one session."""


def _commands() -> st.SearchStrategy[str]:
    plain = st.sampled_from(("pwd", "ls", "true", "false", "echo one  'two three'", "ls a", "rm", "bad"))
    one = st.tuples(st.sampled_from(("rm", "mkdir")), _paths).map(" ".join)
    two = st.tuples(st.just("mv"), _paths, _paths).map(" ".join)
    return st.one_of(plain, one, two)


def _edits() -> st.SearchStrategy[Mapping[str, Any]]:
    change = st.fixed_dictionaries(
        {"old": st.sampled_from(("one", "two")), "new": st.sampled_from(("three", "one one"))}
    )
    return st.dictionaries(_paths, change, min_size=1, max_size=2)


_shared_ids = st.sampled_from(("", "", "x", "y"))
_calls = st.one_of(
    st.builds(ToolCall, st.just("count"), st.sampled_from(("n", "k")), _shared_ids),
    st.builds(ToolCall, st.just("write"), st.dictionaries(_paths, _texts, min_size=1, max_size=2), _shared_ids),
    st.builds(ToolCall, st.just("wait"), st.sampled_from(("release", "release", "forever"))),
    st.builds(ToolCall, st.just("edit"), _edits(), _shared_ids),
    st.builds(ToolCall, st.just("read"), _paths, _shared_ids),
    st.builds(ToolCall, st.just("run"), _commands(), _shared_ids),
)


def _once(calls: list[ToolCall]) -> tuple[ToolCall, ...]:
    """Within one answer no id stands twice; no provider takes that."""
    seen: set[str] = set()
    kept = []
    for call in calls:
        if not call.id or call.id not in seen:
            kept.append(call)
            seen.add(call.id)
    return tuple(kept)


_rounds = st.builds(
    Round,
    st.booleans(),
    st.lists(_calls, max_size=3).map(_once),
    st.sampled_from(("", "", "", "", "", "", "fails", "stalls")),
)
_waits = st.lists(_calls, max_size=2).map(lambda calls: _once([ToolCall("wait", "release"), *calls]))
_entries = st.integers(0, 31)
_own = st.sampled_from(("shared", "shared", "isolated", "isolated", "other"))
_odd = st.sampled_from(("shared", "isolated", "other", "wrong"))
_trouble = st.sampled_from(("", "", "", "fails", "stalls"))


def _apart(strategy: st.SearchStrategy[Step]) -> st.SearchStrategy[Step]:
    """As one way among others: Hypothesis would take each way of an inner choice as one of the outer choice."""
    return strategy.map(lambda step: step)


_steps: st.SearchStrategy[Step] = st.one_of(
    st.builds(Turn, _sessions, st.just(())),
    st.builds(Turn, _sessions, st.tuples(_rounds)),
    st.builds(Turn, _sessions, st.lists(_rounds, min_size=2, max_size=3).map(tuple)),
    st.builds(Turn, _sessions, st.tuples(_rounds, st.builds(Round, st.booleans(), _waits))),
    st.builds(Fork, _sessions, st.just("head"), st.just(0), st.just("own"), _own, _settings),
    st.builds(Fork, _sessions, st.sampled_from(("before", "after")), st.integers(0, 7), st.just("own"), _own),
    st.builds(Fork, _sessions, st.just("at"), _entries, st.just("own"), _own),
    st.builds(Compact, _sessions, _trouble),
    st.builds(Branch, _sessions, _entries, st.sampled_from(("declined", "summary", "summary", "rewind")), _trouble),
    st.builds(Reword, _sessions, _entries, st.sampled_from(("label", "label", "clear", "edit", "edit"))),
    st.builds(Say, _sessions, st.sampled_from(("steer", "queue")), st.lists(_rounds, max_size=1).map(tuple)),
    st.builds(Release, st.integers(0, 3)),
    st.builds(Cancel, _sessions),
    st.builds(Configure, _sessions, _settings),
    _apart(
        st.one_of(
            st.builds(
                Fork,
                _sessions,
                st.sampled_from(("before", "after")),
                st.integers(0, 15),
                st.sampled_from(("any", "any", "none")),
                _odd,
                _settings,
            ),
            st.builds(PersonWrites, _sessions, st.sampled_from(("a", "d/a")), _texts),
            st.builds(Branch, _sessions, _entries, st.just("unknown")),
            st.builds(Read, _sessions, _entries),
            st.builds(Restart, st.booleans(), st.sampled_from((0, 0, 0, 1, 2))),
            st.builds(Delete, _sessions, st.integers(0, 7), st.sampled_from((False, False, False, True))),
            st.builds(Open, st.booleans(), _settings),
            st.builds(Import, st.integers(1, 3), st.booleans()),
        )
    ),
)
_chapters = st.lists(_steps, min_size=1, max_size=6)
_setups = st.builds(
    Setup,
    st.sampled_from(("interrupt", "last-committed", "refuse", "wait")),
    st.integers(0, 2),
    st.sampled_from(("cut", "cut", "latest")),
    st.sampled_from(("after", "before", "refuse", "repair")),
)


def programs(chapters: int) -> st.SearchStrategy[Program]:
    """Programs of at most so many chapters of up to six steps each."""
    told = st.lists(_chapters, min_size=1, max_size=chapters)
    return st.builds(Program, _setups, told.map(lambda lists: tuple(step for steps in lists for step in steps)))
