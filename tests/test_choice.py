"""What a person asks for on the command line: which harness, version, variant and wire format."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from forkproof.adapters import registry
from forkproof.adapters.choice import Choice
from forkproof.adapters.errors import UnknownHarness
from forkproof.adapters.registry import Entry
from forkproof.conformance.baseline import BaselineError, check_baseline, load_baseline
from forkproof.conformance.baseline_update import write_baseline
from forkproof.conformance.contract import ContractError, load_contract
from forkproof.conformance.verdict import CheckResult, Verdict


@pytest.mark.parametrize(
    ("choice", "slug", "words"),
    [
        (Choice("codex"), "codex", ("codex",)),
        (Choice("codex", "1.2.3", "legacy"), "codex-1.2.3-legacy", ("codex@1.2.3", "--variant", "legacy")),
        (Choice("acp:kimi-code", wire="chat"), "acp-kimi-code-chat", ("acp:kimi-code", "--wire", "chat")),
        (Choice("acp:./a b.toml", place=Path("/x/a b.toml")), "a b", ("'acp:./a b.toml'",)),
    ],
)
def test_a_choice_names_its_folder_and_the_words_that_make_it(
    choice: Choice, slug: str, words: tuple[str, ...]
) -> None:
    assert choice.slug == slug
    assert choice.words == words


def test_a_path_is_an_adapter_and_acp_with_a_path_a_recipe() -> None:
    adapter, recipe = registry.find("./bin/mine@home"), registry.find("acp:./mine.toml")
    assert (adapter.module, adapter.choice.version) == ("forkproof.adapters.stdio", None)
    assert (recipe.module, recipe.choice.place) == ("forkproof.adapters.acp", Path("mine.toml").absolute())


def test_a_recipe_says_itself_in_which_ways_it_comes(tmp_path: Path) -> None:
    """`--variant` and `--wire` are for a user's own recipe too."""
    file = tmp_path / "mine.toml"
    more = '[variants.fast]\nsays = "without checks"\n[wires.responses]\n'
    file.write_text(
        'recipe = 1\nname = "m"\nwire = "chat"\ncommand = ["m"]\ntool.shell.name = "sh"\n' + more, encoding="utf-8"
    )
    entry = registry.find(f"acp:{file}", "fast", "responses")
    assert (entry.variants, entry.wires) == ({"fast": "without checks"}, ("chat", "responses"))
    with pytest.raises(UnknownHarness, match="known are fast"):
        registry.find(f"acp:{file}", "slow")


@pytest.mark.parametrize(
    ("asked", "variant", "wire", "told"),
    [
        ("codx", None, None, "did you mean codex"),
        ("./mine.toml", None, None, "write acp:./mine.toml"),
        ("reference", "legacy", None, "it comes in one way only"),
        ("codex", None, "gemini", "known are responses"),
    ],
)
def test_what_is_not_known_is_said_with_what_is(asked: str, variant: str | None, wire: str | None, told: str) -> None:
    with pytest.raises(UnknownHarness, match=told):
        registry.find(asked, variant, wire)


def test_every_known_harness_is_found_in_each_of_its_ways() -> None:
    for entry in registry.known():
        for variant in (None, *entry.variants):
            for wire in (None, *entry.wires):
                found = registry.find(entry.name, variant, wire)
                assert found == replace(entry, choice=replace(entry.choice, variant=variant, wire=wire))
                assert isinstance(found, Entry)


def test_core_is_a_proper_part_of_the_contract_and_extended_all_of_it() -> None:
    contract = load_contract()
    core, whole = contract.profile("core"), contract.profile("extended")
    assert core < whole == frozenset(contract.clauses) == contract.profile(None)
    with pytest.raises(ContractError, match="known are core, extended"):
        contract.profile("gold")


def test_a_baseline_is_of_one_variant_and_can_be_narrowed_to_a_profile(tmp_path: Path) -> None:
    file = tmp_path / "deviations.yaml"
    failed = CheckResult("cut/a::CUT-1", "cut/a", "CUT-1", "MUST", 0, Verdict.FAIL, "it was seen", fingerprint="0" * 12)
    seen = [replace(failed, id=f"cut/a::{check}") for check in ("CUT-1", "CUT-1#2", "invariant/ISO-1", "NAV-1")]
    write_baseline(file, "codex", "1.0.0", [seen], "legacy")
    check_baseline(file, "codex", "legacy")
    with pytest.raises(BaselineError, match="for codex as legacy, the run is for its default"):
        check_baseline(file, "codex")
    kept = load_baseline(file, date.min).within(frozenset({"CUT-1", "ISO-1"}))
    assert list(kept.deviations) == ["cut/a::CUT-1", "cut/a::CUT-1#2", "cut/a::invariant/ISO-1"]
