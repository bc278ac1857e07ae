"""Rules for the mutants: named, described, one change each, and driven as the reference is."""

import re
from pathlib import Path

import pytest

from forkproof.adapters.inprocess import create
from forkproof.adapters.mutated import mutated
from forkproof.conformance.contract import load_contract
from forkproof.conformance.trace.load import discover, load
from forkproof.reference import mutants
from forkproof.reference.harness import Harness
from forkproof.reference.mutants.kinds import KINDS
from forkproof.reference.mutants.mutant import Mutant
from forkproof.reference.rules import RULES
from forkproof.reference.semantics import CONTRACT

ROOT = Path(__file__).parents[1]

each = pytest.mark.parametrize("mutant", mutants.every(), ids=lambda mutant: mutant.name)


@each
def test_a_mutant_changes_exactly_one_thing(mutant: Mutant) -> None:
    """One function of the rules, one choice, or one method: otherwise a kill would not tell which fault was caught."""
    rules, choices = mutant.rules(RULES), mutant.semantics(CONTRACT)
    changed = [f"rules.{name}" for name in RULES.__slots__ if getattr(rules, name) is not getattr(RULES, name)]
    changed += [f"semantics.{n}" for n in CONTRACT.__slots__ if getattr(choices, n) != getattr(CONTRACT, n)]
    own = vars(mutant.harness) if mutant.harness is not Harness else {}
    changed += [f"harness.{name}" for name, value in own.items() if callable(value) and hasattr(Harness, name)]
    assert len(changed) == 1, changed


@each
def test_a_mutant_names_a_clause_and_a_kind_that_exist(mutant: Mutant) -> None:
    """The clause tells the right reason from the wrong one, the kind ties the fault to what was seen in the wild."""
    assert mutant.clause in load_contract().clauses
    assert mutant.kind is None or mutant.kind in KINDS


@each
def test_a_mutant_is_told_in_a_name_and_a_sentence(mutant: Mutant) -> None:
    """They are what the kill matrix shows a person."""
    assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", mutant.name)
    assert re.fullmatch(r"[A-Z][^\n]{15,140}\.", mutant.summary)


@each
def test_a_mutant_declares_what_the_reference_declares(mutant: Mutant) -> None:
    """So that no judge can tell it apart before it does something wrong."""
    assert mutated(mutant).describe() == create().describe()


def test_names_are_unique() -> None:
    """The name is the key of the kill matrix."""
    names = [mutant.name for mutant in mutants.every()]
    assert len(names) == len(set(names)) == len({mutants.named(name) for name in names})


def test_nobody_but_the_selftest_knows_of_mutants() -> None:
    """The judge, the player and the adapters' seam must treat a mutant as they treat any harness."""
    known = re.compile(
        "|".join([r"reference(\.| import )mutants", "mutated", *(f'"{m.name}"' for m in mutants.every())])
    )
    # The commands show them, the selftest plays them, and the linter asks it what no mutant can fail.
    allowed = ("adapters/mutated.py", "conformance/cli/", "conformance/selftest_", "conformance/unfailable.py")
    found = {
        str(path.relative_to(ROOT))
        for folder in ("adapters", "conformance", "reports")
        for path in (ROOT / folder).rglob("*.py")
        if known.search(path.read_text(encoding="utf-8"))
    }
    assert {path for path in found if not path.startswith(allowed)} == set()


def test_every_kind_of_fault_in_the_wild_has_a_mutant_and_a_trace() -> None:
    """What public reports show must be found: each kind is made, and a trace names one of its reports at least."""
    made = {mutant.kind for mutant in mutants.every()}
    told = {report for path in discover() for report in load(path).trace.from_}
    assert set(KINDS) - made == set()
    assert {kind for kind, reports in KINDS.items() if not told & set(reports)} == set()


def test_every_clause_has_a_mutant_that_breaks_it() -> None:
    """A clause that nothing breaks is a clause that nothing tests."""
    assert set(load_contract().clauses) - {mutant.clause for mutant in mutants.every()} == set()


def test_no_report_is_of_two_kinds() -> None:
    """The kinds part the reports."""
    reports = [report for found in KINDS.values() for report in found]
    assert len(reports) == len(set(reports))
