"""`forkproof lint --mutants` finds the checks that nothing can fail (design section 9)."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from forkproof.conformance.cli import main

STORY = """\
trace: 1
title: A fork before a turn, and a check of the files that nobody touches
needs: [fork.before]
files: {notes.md: draft}
steps:
  - turn: plan
    user: Plan.
    model: [{say: Planned.}]
    expect:
      - TOOL-2: {stop: end_turn}
  - turn: write
    user: Write.
    model: [{say: Written.}]
  - fork: alt
    before: write
  - turn: retry
    in: alt
    user: Again.
    model: [{say: Fine.}]
    expect:
      - CUT-1: {prompt: [plan.user, plan.say, retry.user]}
"""


def test_a_check_that_passes_on_every_mutant_is_told(tmp_path: Path) -> None:
    """Cutting wrong fails the prompt's check; that a turn without tools ends as turns do fails on nothing."""
    path = tmp_path / "story.yaml"
    path.write_text(STORY, encoding="utf-8")
    plain = CliRunner().invoke(main, ["lint", str(path)])
    assert plain.exit_code == 0
    told = CliRunner().invoke(main, ["lint", str(path), "--mutants"])
    assert told.exit_code == 1
    problems = [line for line in told.output.splitlines() if "FPL045" in line]
    assert len(problems) == 1
    assert problems[0].startswith(f"{path}:10:9: FPL045 TOOL-2: no mutant can fail this check; ")
