"""A change that a harness refuses spoils what the trace says of it later: nothing is judged on it, for good or ill."""

from __future__ import annotations

import pytest

from forkproof.adapters.inprocess import ReferenceAdapter
from forkproof.adapters.protocol import Answer, Configure, Operation, Refused, Unsupported
from forkproof.conformance.verdict import Verdict
from tests.broken_references import play

CHANGED = """
trace: 1
title: The source's model is changed behind the fork
needs: [fork.head, settings]
steps:
  - turn: plan
    user: Plan.
    model: [{say: Planned.}]
  - fork: alt
    head: true
  - turn: before
    in: alt
    user: Go on.
    model: [{say: Going.}]
    expect:
      - CUT-1: {prompt: [plan.user, plan.say, before.user]}
  - set: main
    model: deep-thinker%s
  - turn: again
    in: alt
    user: Again.
    model: [{say: Fine.}]
    expect:
      - CUT-1: {prompt: [plan.user, plan.say, before.user, before.say, again.user]}
"""
REFUSED = "\n    expect:\n      - SET-1: {refused: true}"


class KeepsItsModel(ReferenceAdapter):
    """Answers every change of settings in one way."""

    answer: Answer = Refused("other", "no such model")

    async def perform(self, operation: Operation) -> Answer:
        """As the reference, but for settings."""
        return self.answer if isinstance(operation, Configure) else await super().perform(operation)


class CannotSet(KeepsItsModel):
    """Has no way to change settings, though it says so."""

    answer = Unsupported("changing settings")


@pytest.mark.parametrize("harness", [KeepsItsModel, CannotSet])
def test_what_follows_a_lost_change_is_untestable_and_what_came_before_stands(harness: type[KeepsItsModel]) -> None:
    checks = play(harness, CHANGED % "").checks
    before, after = (checks[f"area/story::CUT-1{number}"] for number in ("", "#2"))
    assert Verdict(before.verdict) is Verdict.PASS
    assert Verdict(after.verdict) is Verdict.UNTESTABLE
    assert "the set of main at step 3 was" in after.reason


def test_a_refusal_that_the_trace_asks_for_is_no_loss() -> None:
    after = play(KeepsItsModel, CHANGED % REFUSED).checks["area/story::CUT-1#2"]
    assert Verdict(after.verdict) is Verdict.PASS
