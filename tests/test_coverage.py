"""The whole contract is tested: every clause has traces that prove it and mutants that break it (design section 9)."""

from __future__ import annotations

from collections import defaultdict

import pytest

from forkproof.conformance.contract import ContractError, load_contract, load_untested
from forkproof.conformance.trace.checks import check_ids
from forkproof.conformance.trace.load import discover, load
from forkproof.reference.mutants import every

CONTRACT = load_contract()
UNTESTED = load_untested(CONTRACT)


def traces() -> dict[str, set[str]]:
    """Clause -> the traces that cite it."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in discover():
        loaded = load(path)
        for check in check_ids(loaded):
            found[check.clause].add(loaded.slug)
    return found


CITED = traces()


@pytest.mark.parametrize("clause", CONTRACT.clauses)
def test_each_clause_has_traces_and_mutants(clause: str) -> None:
    """A core MUST has two traces at least, any other clause one; each has a mutant; an exception has its reason."""
    asked = CONTRACT.clauses[clause]
    least = 2 if (asked.level, asked.profile) == ("MUST", "core") else 1
    if clause in UNTESTED:
        assert not CITED[clause], "it has traces by now: take it off the list"
        return
    assert len(CITED[clause]) >= least
    assert any(mutant.clause == clause for mutant in every())


def test_a_reason_must_say_something(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list of exceptions takes known clauses and whole sentences only."""
    for text, said in (("CUT-99: A clause that is none of the contract's.", "CUT-99"), ("CUT-1: later", "CUT-1")):
        monkeypatch.setattr("forkproof.conformance.contract._untested_text", lambda text=text: text.encode())
        with pytest.raises(ContractError, match=said):
            load_untested(CONTRACT)
