"""Every choice that the contract leaves open can be made: the traces hold under each of the reference's semantics."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from forkproof.adapters.inprocess import ReferenceAdapter
from forkproof.adapters.protocol import Deadlines
from forkproof.conformance.contract import load_contract
from forkproof.conformance.invariants import all_checks
from forkproof.conformance.judge import judge
from forkproof.conformance.moves import forks
from forkproof.conformance.trace.load import discover, load
from forkproof.conformance.trial import observe
from forkproof.conformance.verdict import Verdict
from forkproof.reference.semantics import Semantics

AREAS = ("cmp", "cut", "iso", "prv", "que", "rec", "snap", "tool")
GOOD = (Verdict.PASS, Verdict.NOT_APPLICABLE)

CHOICES = [
    Semantics(prefix="copied"),
    Semantics(prefix="copied", retained_turns=0),
    Semantics(retained_turns=0),
    Semantics(retained_turns=2),
    Semantics(call_group="before"),
    Semantics(call_group="refuse"),
    Semantics(call_group="repair"),
    Semantics(busy_source="refuse"),
    Semantics(busy_source="last-committed"),
    Semantics(busy_source="wait"),
    Semantics(cache_key="own"),
    Semantics(cache_key="none"),
]


async def failures(semantics: Semantics, areas: Sequence[str]) -> list[str]:
    """The checks of these areas that a reference with this semantics does not pass."""
    contract, found = load_contract(), []
    for path in discover():
        loaded = load(path)
        if loaded.slug.partition("/")[0] not in areas:
            continue
        seen = await observe(ReferenceAdapter(semantics), loaded.trace, loaded.slug, 1, Deadlines())
        results = judge(loaded.trace, all_checks(loaded), seen, contract)
        found += [f"{r.id} {r.verdict.value}: {r.reason}" for r in results if r.verdict not in GOOD]
    return found


def name_of(semantics: Semantics) -> str:
    """A short name for a test's id."""
    first = (semantics.busy_source, semantics.call_group, semantics.prefix)
    return "-".join(map(str, (*first, semantics.retained_turns, semantics.cache_key)))


@pytest.mark.parametrize("semantics", CHOICES, ids=name_of)
def test_the_traces_hold_under_every_choice(semantics: Semantics, monkeypatch: pytest.MonkeyPatch) -> None:
    """A trace that passes under one choice only would judge a taste, not the contract."""
    monkeypatch.setattr(forks, "PENDING_AFTER", 0.05)
    assert asyncio.run(failures(semantics, AREAS)) == []
