"""Verdicts on side state and directories: one example that passes, one that fails, one that shows nothing."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from forkproof.adapters.inprocess import ReferenceAdapter
from forkproof.adapters.prompt import Message, Prompt, Text
from forkproof.adapters.protocol import Answer, Operation, Unsupported
from forkproof.adapters.side import FilesPutBack, PutBack, ReadState, StateRead
from forkproof.conformance.engine import Played
from forkproof.conformance.judge import state
from tests.broken_references import play

if TYPE_CHECKING:
    from forkproof.adapters.model.script import SeenRequest
    from forkproof.conformance.judge.finding import Case

WHERE = """
trace: 1
title: Where a fork works
needs: [fork.head, tool.run, workspace.isolated]
steps:
  - turn: one
    user: Go.
    model: [{say: Gone.}]
    expect:
      - ENV-4: {works_in: main}
  - fork: alt
    head: true
    workspace: isolated
  - turn: two
    in: alt
    user: Where?
    model: [{call: here, run: pwd}, {say: Here.}]
    expect:
      - ENV-4: {works_in: alt}
      - ENV-3: {works_in: main}
"""

STATE = """
trace: 1
title: What is told of a session
needs: [fork.head, state, tool.schedule, tool.todo]
steps:
  - turn: one
    user: Plan.
    model:
      - {call: list, todo: [a, b]}
      - {call: ring, schedule: {after: 5, message: Ring., model: [{say: Rang.}]}}
      - {say: Planned.}
    expect:
      - STA-1: {todo: [a, b]}
      - STA-2: {schedules: [ring]}
      - STA-3: {usage: 3}
  - fork: alt
    head: true
    expect:
      - STA-1: {todo: [b]}
      - STA-2: {schedules: [ring]}
      - STA-3: {usage: 6}
"""

RESTORE = """
trace: 1
title: What is told of a restore
needs: [restore, tool.write]
files: {a.txt: a0}
steps:
  - turn: one
    user: Write.
    model: [{call: change, write: {a.txt: a1, b.txt: b1}}, {say: Written.}]
  - restore: back
    before: one
    expect:
      - ENV-7: {accounts_for: [a.txt, b.txt]}
"""

FOLDED = """
trace: 1
title: Who said it
needs: [delegate, fold]
steps:
  - delegate: think
  - turn: review
    in: think
    role: critic
    user: Judge it.
    model: [{say: It is too long.}]
  - fold: think
  - turn: go
    user: Go on.
    model: [{say: Shorter now.}]
    expect:
      - FLD-2: {prompt_has: [review.say as user(critic)]}
      - FLD-3: {prompt_has: [review.say as user(author)]}
      - FLD-1: {prompt_has: [review.say as assistant]}
"""


class Quiet(ReferenceAdapter):
    """Tells nothing of a session's side state."""

    async def perform(self, operation: Operation) -> Answer:
        """Carry out anything else."""
        return Unsupported("state") if isinstance(operation, ReadState) else await super().perform(operation)


class Boastful(ReferenceAdapter):
    """Puts nothing back and says that it put everything back; charges for nothing."""

    async def perform(self, operation: Operation) -> Answer:
        """Carry out anything else."""
        if isinstance(operation, PutBack):
            return FilesPutBack(("a.txt", "b.txt"))
        answer = await super().perform(operation)
        return replace(answer, usage=0) if isinstance(answer, StateRead) else answer


class Silent(ReferenceAdapter):
    """Puts nothing back, and names nothing."""

    async def perform(self, operation: Operation) -> Answer:
        """Carry out anything else."""
        return FilesPutBack(()) if isinstance(operation, PutBack) else await super().perform(operation)


class Candid(ReferenceAdapter):
    """Puts nothing back, and says so."""

    async def perform(self, operation: Operation) -> Answer:
        """Carry out anything else."""
        return (
            FilesPutBack((), ("a.txt", "b.txt")) if isinstance(operation, PutBack) else await super().perform(operation)
        )


def verdicts(played: Played) -> dict[str, str]:
    return {id_.partition("::")[2]: event.verdict for id_, event in played.checks.items() if "invariant" not in id_}


def test_directories_are_compared_where_a_command_showed_one() -> None:
    """ENV-4: the right place passes, another one fails, and without `pwd` there is nothing to say."""
    assert verdicts(play(ReferenceAdapter, WHERE)) == {"ENV-4": "UNTESTABLE", "ENV-4#2": "PASS", "ENV-3": "FAIL"}


def test_side_state_is_what_the_harness_tells() -> None:
    """STA-1 to STA-3: the right list passes, another one fails (a SHOULD warns)."""
    assert verdicts(play(ReferenceAdapter, STATE)) == {
        "STA-1": "PASS", "STA-2": "PASS", "STA-3": "PASS",
        "STA-1#2": "FAIL", "STA-2#2": "FAIL", "STA-3#2": "WARN",
    }  # fmt: skip


def test_a_harness_that_tells_nothing_passes_nothing() -> None:
    """Design section 6: declared but not shown is never a pass."""
    assert set(verdicts(play(Quiet, STATE)).values()) == {"UNTESTABLE"}


@pytest.mark.parametrize(
    ("harness", "verdict"), [(ReferenceAdapter, "PASS"), (Candid, "PASS"), (Boastful, "FAIL"), (Silent, "FAIL")]
)
def test_a_restore_may_leave_files_and_must_not_hide_it(harness: type[ReferenceAdapter], verdict: str) -> None:
    """ENV-7: what is said has to be true; that everything is put back is not asked."""
    assert verdicts(play(harness, RESTORE)) == {"ENV-7": verdict}


def test_an_author_is_named_in_the_prompt() -> None:
    """FLD-2: the role and the author of folded words are part of what is expected."""
    assert verdicts(play(ReferenceAdapter, FOLDED)) == {"FLD-2": "PASS", "FLD-3": "FAIL", "FLD-1": "FAIL"}


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("You work in /w/main.", "/w/main"),
        ("You work in /w/main. Environment update: /w/alt (was /w/main)", "/w/alt"),
        ("You work in /w/main, and next to it is /w/alt", "/w/alt"),
        ("Nothing of the kind.", None),
        ("[fpabcdef.one.user] /w/main", None),
    ],
)
def test_the_newest_statement_is_of_now(text: str, stated: str | None) -> None:
    """ENV-4: the last directory that the harness names counts, not the one that it says it was in before."""
    part = SimpleNamespace(nonce="abcdef", directories={"main": "/w/main", "alt": "/w/alt"})
    request = SimpleNamespace(prompt=Prompt((Message("system", (Text(text),)),)))
    assert state._stated(cast("Case", SimpleNamespace(part=part)), cast("SeenRequest", request)) == stated
