"""Rules for the selftest: what counts as a kill, and what makes it fail."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from forkproof.conformance.cli import main
from forkproof.conformance.selftest import Cell, KillMatrix, MutantRow, Outcome, as_json
from forkproof.conformance.selftest_bench import Bench, ReferenceFails
from forkproof.conformance.selftest_report import as_markdown, grid, summary
from forkproof.conformance.trace.load import discover
from forkproof.reference import mutants
from forkproof.reference.cut import Point
from forkproof.reference.entries import Entry
from forkproof.reference.fork import ForkRequest
from forkproof.reference.harness import Harness
from forkproof.reference.mutants import Mutant
from forkproof.reference.record import Record
from forkproof.reference.refusal import Refusal

BEFORE = "cut/before-a-middle-turn"
AFTER = "cut/after-a-middle-turn"


class _Hangs(Harness):
    async def fork(self, id_: str, point: Point, request: ForkRequest) -> Record | Refusal:
        import asyncio

        await asyncio.Event().wait()
        return await super().fork(id_, point, request)


def _circle(leaf: Entry | None) -> list[Entry]:
    while True:
        pass


HANGS = Mutant("hangs", "CUT-1", None, "A fork never answers.", harness=_Hangs)
SPINS = Mutant("spins", "CUT-1", None, "A prompt is never done.", rules=lambda rules: replace(rules, active=_circle))
RAISES = Mutant("raises", "CUT-1", None, "Nothing works at all.", rules=lambda rules: replace(rules, active=None))  # type: ignore[arg-type]  # a mutant that is itself wrong


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with Bench(discover([AFTER, BEFORE])) as found:
        yield found


def _named(name: str) -> Mutant:
    found = mutants.named(name)
    assert found is not None
    return found


# --- one mutant on real traces ---------------------------------------------------------------------------------------


def test_a_mutant_is_killed_for_the_right_reason_by_a_check_of_its_clause(bench: Bench) -> None:
    """The failing check carries the clause that the mutant breaks."""
    row = bench.row(_named("whole-history"))
    assert row.outcome == "right"
    assert row.cells[AFTER].outcome == "right"
    assert any(check.endswith("CUT-1") for check in row.cells[AFTER].checks)


def test_a_check_of_another_clause_is_the_wrong_reason(bench: Bench) -> None:
    """The same fault under another clause's name is not found by the traces of the first."""
    other = replace(_named("whole-history"), clause="AUT-1")
    assert bench.row(other).outcome == "wrong"


def test_what_a_trace_does_not_look_at_survives(bench: Bench) -> None:
    """Neither trace asks for the permission that an edit's text is given back."""
    assert bench.row(_named("unknown-source-is-new")).outcome == "survived"


@pytest.mark.parametrize("mutant", [HANGS, SPINS, RAISES], ids=lambda mutant: mutant.name)
def test_a_mutant_that_breaks_everything_is_no_kill(
    mutant: Mutant, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A time-out, a circle and an exception end soon, and prove nothing about the clause."""
    monkeypatch.setattr("forkproof.conformance.selftest_bench.WAIT", 0.2)
    monkeypatch.setattr("forkproof.conformance.selftest_bench.SPIN", 0.2)
    row = bench.row(mutant)
    assert row.outcome == "unclear"
    assert all(cell.reason for cell in row.cells.values())


def test_the_reference_must_pass_first(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """If it does not, a failing check of a mutant means nothing."""
    assert len(bench.reference()) == len(bench.checks)
    from forkproof.adapters.mutated import mutated

    monkeypatch.setattr("forkproof.conformance.selftest_bench.create", lambda: mutated(_named("whole-history")))
    with pytest.raises(ReferenceFails, match=r"cut/after-a-middle-turn::CUT-1 FAIL"):
        bench.reference()


# --- the matrix ------------------------------------------------------------------------------------------------------


def _matrix(**outcomes: tuple[Outcome, Outcome]) -> KillMatrix:
    rows = [
        MutantRow(
            name, "CUT-1", "wrong-cut", "Something.", dict(zip(("cut/a", "iso/b"), map(_cell, both), strict=True))
        )
        for name, both in outcomes.items()
    ]
    return KillMatrix(rows, ["cut/a", "iso/b"], ["cut/a::CUT-1", "iso/b::CUT-1"], {"cpu_seconds": 1.25})


def _cell(outcome: Outcome) -> Cell:
    return Cell(outcome, () if outcome == "survived" else ("cut/a::CUT-1",), "")


def test_all_is_well_where_each_mutant_is_killed_rightly_and_no_trace_is_idle() -> None:
    """One trace for each mutant and one mutant for each trace is enough."""
    assert _matrix(early=("right", "survived"), late=("wrong", "right")).faults() == []


@pytest.mark.parametrize(
    ("both", "said"),
    [
        (("survived", "survived"), "early survives every trace"),
        (("unclear", "survived"), "early survives every trace"),
        (("wrong", "unclear"), "early is killed for the wrong reason only"),
    ],
)
def test_a_mutant_that_is_not_found_is_a_fault(both: tuple[Outcome, Outcome], said: str) -> None:
    """So is one that is found for another reason only, or that only crashes."""
    assert _matrix(early=both, late=("right", "right")).faults() == [said]


def test_a_trace_that_kills_nothing_rightly_is_a_fault_where_all_mutants_were_played() -> None:
    """With some of them it may be that its own are not among them."""
    matrix = _matrix(early=("right", "wrong"))
    assert matrix.faults() == ["iso/b kills no mutant for the right reason"]
    assert matrix.faults(all_mutants=False) == []


def test_some_traces_need_not_find_every_mutant() -> None:
    """The others may be theirs to find."""
    assert _matrix(early=("survived", "survived")).faults(all_mutants=False, all_traces=False) == []


def test_the_json_counts_and_names() -> None:
    """Counts, lists and the cells that say something; what varies stands apart."""
    told = as_json(_matrix(early=("right", "survived"), late=("wrong", "survived"), never=("survived", "survived")))
    assert (told["mutants"], told["killed"], told["right_reason"]) == (3, 2, 1)
    assert (told["survivors"], told["wrong_reason"], told["idle_traces"]) == (["never"], ["late"], ["iso/b"])
    assert told["idle_checks"] == ["iso/b::CUT-1"]
    assert told["matrix"]["early"]["traces"] == {"cut/a": {"outcome": "right", "checks": ["cut/a::CUT-1"]}}
    assert told["volatile"] == {"cpu_seconds": 1.25}


def test_the_grid_has_a_mark_for_each_trace_by_area() -> None:
    """A person sees at once where nothing is found."""
    assert list(grid(_matrix(early=("right", "wrong"), late=("unclear", "survived")))) == [
        "              cut iso",
        "early  CUT-1  #   x",
        "late   CUT-1  ?   .",
    ]


def test_the_page_holds_what_is_wrong_each_mutant_and_the_grid() -> None:
    """It is a job's summary, and the matrix that is published."""
    page = as_markdown(_matrix(early=("right", "survived"), never=("survived", "survived")))
    assert "## Survivors\n\n- never\n" in page
    assert "| early | CUT-1 | wrong-cut | Something. | `cut/a` |" in page
    assert "    early  CUT-1  #   .\n" in page
    assert summary(_matrix(early=("right", "right"))).endswith("0 idle traces; 1.2 CPU-seconds")


# --- the command -----------------------------------------------------------------------------------------------------


def test_the_command_writes_both_files(tmp_path: Path) -> None:
    """Folders are made; the exit code is 0 where the mutants that were named are found."""
    files = tmp_path / "a" / "matrix.json", tmp_path / "b" / "matrix.md"
    asked = ["selftest", "-j", "1", "whole-history", AFTER, "--json", str(files[0]), "--markdown", str(files[1])]
    result = CliRunner().invoke(main, asked)
    assert result.exit_code == 0, result.output
    assert json.loads(files[0].read_text(encoding="utf-8"))["right_reason"] == 1
    assert files[1].read_text(encoding="utf-8").startswith("# Kill matrix\n")
    assert "whole-history  CUT-1  #" in result.output


def test_the_command_ends_with_1_where_a_mutant_survives() -> None:
    """The name of the mutant is on standard error."""
    result = CliRunner().invoke(main, ["selftest", "-j", "1", "unknown-source-is-new", AFTER])
    assert result.exit_code == 1
    assert "unknown-source-is-new survives every trace" in result.output


def test_the_command_knows_what_is_neither_mutant_nor_trace() -> None:
    """A wrong name is a wrong use, and ends with 3."""
    result = CliRunner().invoke(main, ["selftest", "wholehistory"])
    assert result.exit_code == 3
    assert "nor is it a mutant" in result.output


def test_two_processes_give_what_one_gives(tmp_path: Path) -> None:
    """The matrix does not depend on how it was worked out."""
    told = []
    for jobs in ("1", "2"):
        file = tmp_path / f"{jobs}.json"
        CliRunner().invoke(main, ["selftest", "-j", jobs, "whole-history", "prefix-twice", AFTER, "--json", str(file)])
        told.append(json.loads(file.read_text(encoding="utf-8")) | {"volatile": {}})
    assert told[0] == told[1]


def test_list_mutants_tells_name_clause_and_kind() -> None:
    """For programs as JSON, by area if asked."""
    result = CliRunner().invoke(main, ["list", "mutants", "CUT", "--json"])
    found = json.loads(result.output)
    assert {entry["clause"].partition("-")[0] for entry in found} == {"CUT"}
    assert {"name", "clause", "kind", "summary"} == set(found[0])
