"""The contract's file: complete, well formed, and one with the vocabulary that traces use."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import MutableMapping
from dataclasses import FrozenInstanceError, fields
from importlib.resources import files
from typing import cast

import pytest

from forkproof.adapters.protocol import ForkRecord
from forkproof.adapters.registry import find
from forkproof.conformance.contract import Clause, ContractError, load_contract, read_contract
from forkproof.conformance.trace.tools import TOOLS, ToolArguments
from forkproof.conformance.vocabulary import CAPABILITIES, COMMANDS, POLICIES, RECORD_FIELDS

SMALL = """
revision: 3
areas:
  - id: CUT
    title: Cut boundary
    clauses:
      - {id: CUT-1, level: MUST, profile: core, text: Nothing from after it., sources: [codex-1]}
      - {id: CUT-2, level: SHOULD, profile: extended, text: "Yes, really."}
"""


def test_holds_every_clause() -> None:
    """126 clauses in 21 areas, of which 65 are core MUSTs: the catalogue's own figures."""
    contract = load_contract()
    assert contract.revision == 1
    assert (len(contract.areas), len(contract.clauses)) == (21, 126)
    counted = Counter((c.level, c.profile) for c in contract.clauses.values())
    assert counted == {
        ("MUST", "core"): 65,
        ("MUST", "extended"): 50,
        ("SHOULD", "extended"): 9,
        ("SHOULD", "core"): 2,
    }


def test_ids_run_without_a_gap() -> None:
    """Within an area the clauses are numbered from 1, in order: a lost clause would leave a gap."""
    contract = load_contract()
    for area in contract.areas:
        numbers = [int(c.id.partition("-")[2]) for c in contract.clauses.values() if c.area == area]
        assert numbers == list(range(1, len(numbers) + 1)), area


def test_clauses_are_whole_sentences_with_a_source() -> None:
    """A clause is one statement that ends; only SET-2 comes from nowhere but ourselves."""
    clauses = load_contract().clauses.values()
    assert [c.id for c in clauses if not re.fullmatch(r"[A-Z'].*\.", c.text)] == []
    assert [c.id for c in clauses if not c.sources] == ["SET-2"]


def test_is_read_once_and_frozen() -> None:
    """Nobody can change the contract that others judge by."""
    contract = load_contract()
    assert load_contract() is contract
    clause = contract.clauses["CUT-1"]
    with pytest.raises(FrozenInstanceError):
        clause.level = "SHOULD"  # type: ignore[misc]  # that it can't be set is the point
    with pytest.raises(TypeError):
        cast("MutableMapping[str, Clause]", contract.clauses)["CUT-1"] = clause


def test_names_the_bytes_that_were_read() -> None:
    """The hash in a run's record is that of the installed file."""
    data = files("forkproof.conformance").joinpath("contract.yaml").read_bytes()
    assert load_contract().sha256 == hashlib.sha256(data).hexdigest()


def test_reads_a_contract_of_its_own() -> None:
    """Areas, clauses and sources keep the file's order and words."""
    contract = read_contract(SMALL.encode())
    assert contract.revision == 3
    assert list(contract.clauses) == ["CUT-1", "CUT-2"]
    assert contract.clauses["CUT-1"] == Clause(
        "CUT-1", "CUT", "Cut boundary", "MUST", "core", "Nothing from after it.", ("codex-1",)
    )
    assert contract.clauses["CUT-2"].sources == ()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("id: CUT-2", "id: CUT-1", "stands twice"),
        ("id: CUT-2", "id: ISO-2", "wrong area: ISO-2"),
        ("SHOULD", "MAY", "level"),
        ("extended", "optional", "profile"),
        ("codex-1]", "a friend]", "sources"),
        ("revision: 3", "revision: three", "revision"),
        ("title: Cut boundary", "title: Cut boundary\n    title: Again", "stands twice"),
        ("areas:", "areas: {", "FPL002"),
        ("text: Nothing from after it.", "text: ''", "text"),
    ],
)
def test_refuses_a_damaged_file(old: str, new: str, said: str) -> None:
    """A malformed contract is a fault of the suite and says what is wrong with it."""
    assert old in SMALL
    with pytest.raises(ContractError, match=said):
        read_contract(SMALL.replace(old, new, 1).encode())


def test_record_fields_are_those_of_the_protocol() -> None:
    """The names that a trace's `record` may use and the adapter protocol's fork record are one table."""
    assert set(RECORD_FIELDS) == {field.name for field in fields(ForkRecord)}


def test_capabilities_cover_the_tools_and_the_reference() -> None:
    """Each abstract tool has its capability, and what the reference declares is known to the linter."""
    described = find("reference").describe()
    assert {f"tool.{tool}" for tool in TOOLS} < set(CAPABILITIES)
    assert described.capabilities <= set(CAPABILITIES)
    assert all(choice in POLICIES[policy] for policy, choice in described.policies.items() if policy in POLICIES)


def test_commands_are_those_that_the_language_names() -> None:
    """The `run` tool's docstring, which the JSON Schema carries, lists the vocabulary."""
    listed = re.findall(r"`([a-z]+)(?: [A-Z ]+)?`", (ToolArguments.__doc__ or "").partition("vocabulary")[2])
    assert [c for c in listed if c not in ("release", "forever")] == list(COMMANDS)
