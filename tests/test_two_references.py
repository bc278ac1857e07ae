"""Random programs on the reference and on the naive one that copies lists: they must agree (design section 9)."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.deep.duel import play
from tests.deep.faults import FAULTS, QUICK
from tests.deep.play import Disagreement
from tests.deep.program import PersonWrites, Program, Round, Setup, ToolCall, Turn, programs

NAIVE: Final = Path(__file__).parents[1] / "reference" / "naive"
SMALL: Final = settings(
    max_examples=200, derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
"""What CI plays. The same programs each time."""

CHAPTERS: Final = 6


@SMALL
@given(programs(CHAPTERS))
def test_the_two_references_agree(program: Program) -> None:
    """Prompts, files, records, lineage, answers and cut points are equal after every step of every program."""
    play(program)


def test_an_edit_that_can_not_be_made_is_none() -> None:
    """A person can't write a file where a folder is; both references refuse it, and the program goes on."""
    folder = Turn(0, (Round(says=True, calls=(ToolCall("run", "mkdir d", ""),), trouble=""),))
    play(Program(Setup(), (folder, PersonWrites(0, "d", "text"))))


@pytest.mark.parametrize("fault", QUICK)
def test_a_faulty_reference_disagrees(fault: str) -> None:
    """The same programs find each of these faults, so that agreement means something."""
    rules, harness = FAULTS[fault]

    @settings(SMALL, phases=[Phase.generate], report_multiple_bugs=False)
    @given(programs(CHAPTERS))
    def all_programs(program: Program) -> None:
        play(program, rules, harness)

    with pytest.raises(Disagreement):
        all_programs()


def test_the_references_share_no_code() -> None:
    """The naive one imports the standard library, itself, and the data types of a prompt."""
    modules = sorted(NAIVE.glob("*.py"))
    found = {
        name
        for path in modules
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in _imported(node)
        if name.startswith(("forkproof", "."))
    }
    others = {name for name in found if not name.startswith("forkproof.reference.naive")}
    assert len(modules) > 1
    assert others == {"forkproof.reference.prompt"}


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return ["." * node.level + (node.module or "")]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
