"""Verdicts on interruptions, busy input, questions, processes and summaries: what was not tested does not pass."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forkproof.adapters.inprocess import ReferenceAdapter
from forkproof.adapters.mutated import mutated
from forkproof.adapters.protocol import Acknowledged, Adapter, Answer, Compact, Operation, Queue, Refused
from forkproof.reference import mutants
from tests.broken_references import Broken, play

ASKED = """
trace: 1
title: Expectations whose subject is not there
needs: [fork.before, state, tool.background, tool.write]
steps:
  - turn: one
    user: Start.
    model: [{call: up, background: server}, {say: Started.}]
    expect:
      - ENV-9: {processes: {server: [main]}}
  - turn: two
    user: Write.
    model: [{call: save, write: {a.txt: x}}, {say: Written.}]
    expect:
      - CUT-8: {withdrawn: save}
      - TOOL-4: {no_interruption: one}
  - fork: alt
    before: one
  - turn: three
    in: alt
    user: Again.
    model: [{say: Fine.}]
    expect:
      - TOOL-4: {no_interruption: one}
"""

COMPACTED = """
trace: 1
title: A compaction that is waited for
needs: [compact, queue]
steps:
  - turn: one
    user: Start.
    model: [{say: Started.}]
  - compact: press
    model: [{say: It started.}]
    until: asked
  - queue: two
    user: And then?
    model: [{say: Then this.}]
    expect:
      - CMP-7: {done: true}
  - release: press
  - await: press
    expect:
      - CMP-8: {summary_covers: {conversation: main, first: one.user, last: one.say}}
  - await: two
    expect:
      - CMP-7: {prompt_has: [press.summary, two.user]}
"""


class KeepsSilent(Broken):
    """States nothing of a summary."""

    async def perform(self, operation: Operation) -> Answer:
        answer = await super().perform(operation)
        return (
            Acknowledged(answer.native)
            if isinstance(operation, Compact) and isinstance(answer, Acknowledged)
            else answer
        )


class RefusesToQueue(Broken):
    """Takes no message while it is busy."""

    async def perform(self, operation: Operation) -> Answer:
        return Refused("busy", "not now") if isinstance(operation, Queue) else await super().perform(operation)


def verdicts(factory: Callable[[], Adapter], trace: str) -> dict[str, str]:
    """Check -> verdict, without the invariants."""
    found = play(factory, trace).checks
    return {id_.partition("::")[2]: check.verdict for id_, check in found.items() if "invariant" not in id_}


def test_what_was_never_there_is_untestable() -> None:
    """Design 6: a question that nobody asked, and a turn that the request does not hold, prove nothing."""
    assert verdicts(ReferenceAdapter, ASKED) == {
        "ENV-9": "PASS",
        "CUT-8": "UNTESTABLE",
        "TOOL-4": "PASS",
        "TOOL-4#2": "UNTESTABLE",
    }


@pytest.mark.parametrize(
    ("factory", "expected"),
    [
        (ReferenceAdapter, {"CMP-7": "PASS", "CMP-8": "PASS", "CMP-7#2": "PASS"}),
        (KeepsSilent, {"CMP-7": "PASS", "CMP-8": "WARN", "CMP-7#2": "PASS"}),
    ],
)
def test_a_summary_that_states_nothing_is_a_warning(factory: Callable[[], Adapter], expected: dict[str, str]) -> None:
    """CMP-8 is a SHOULD: a harness that does not say what a summary covers is warned."""
    assert verdicts(factory, COMPACTED) == expected


def test_a_message_that_is_not_taken_fails() -> None:
    """CMP-7: a refusal is neither queued nor saved; what it would have become can't be looked at."""
    found = verdicts(RefusesToQueue, COMPACTED)
    assert (found["CMP-7"], found["CMP-7#2"]) == ("FAIL", "UNTESTABLE")


def test_a_marker_behind_a_whole_turn_fails() -> None:
    """TOOL-4: by the words that the harness puts behind a turn that ended by itself."""
    mutant = mutants.named("every-turn-marked-interrupted")
    assert mutant is not None
    assert verdicts(lambda: mutated(mutant), ASKED)["TOOL-4"] == "FAIL"
