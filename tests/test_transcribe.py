"""`forkproof trace record` fills in what the reference does, and nothing else of the file changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from forkproof.conformance.cli import main
from forkproof.conformance.trace.load import load

STORY = """\
trace: 1
title: A fork before an edit   # a comment that stays
needs: [fork.before, tool.write]
steps:
  - turn: plan
    user: Plan.
    model: [{say: Planned.}]
  - turn: write
    user: Write.
    model: [{call: edit, write: {parser.py: v1}}, {say: Written.}]
    expect:
      - TOOL-2: {result: {edit: done}}
  - fork: alt
    before: write
    expect:
      - REC-1: {record: RECORD}
      - OPS-2: {requests: RECORD}
  - turn: retry
    in: alt
    user: Again.
    model: [{say: Fine.}]
    expect:
      - CUT-1: {prompt: RECORD}
      - ENV-2: {files: RECORD}
  - check: main
    expect:
      - ENV-1: {files: RECORD}
"""


def record(path: Path, *more: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["trace", "record", str(path), *more])
    return done.exit_code, done.output


def test_placeholders_become_what_was_seen(tmp_path: Path) -> None:
    """Prompt, files, record and counts in the trace's own words; the result is a trace that loads."""
    path = tmp_path / "story.yaml"
    path.write_text(STORY, encoding="utf-8")
    code, text = record(path)
    assert code == 0
    expected = (
        STORY.replace("record: RECORD", "record: {source: main, cut: {before: write}, workspace: shared}")
        .replace("requests: RECORD", "requests: 0")
        .replace("prompt: RECORD", "prompt: [plan.user, plan.say, retry.user]")
        .replace("files: RECORD", "files: {parser.py: v1}")
    )
    assert text == expected
    assert path.read_text(encoding="utf-8") == STORY, "without --write the file stays as it is"
    assert record(path, "--write")[0] == 0
    assert path.read_text(encoding="utf-8") == expected
    assert load(path).trace.steps[2].fork == "alt"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (STORY.replace("RECORD", "[]"), "FPL"),
        (STORY.replace("{prompt: RECORD}", "{paired: RECORD}"), "`paired` can't be recorded"),
        (STORY.replace("before: write", "befor: write"), "FPL011"),
        ("steps: [", "FPL002"),
    ],
)
def test_what_can_not_be_recorded_is_told_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    """Exit 3, the place in the file, and the file as it was."""
    path = tmp_path / "story.yaml"
    path.write_text(text, encoding="utf-8")
    code, told = record(path)
    assert code == 3
    assert said in told
    assert path.read_text(encoding="utf-8") == text


def test_a_trace_without_placeholders_is_told(tmp_path: Path) -> None:
    """There is nothing to do, and that is no success."""
    path = tmp_path / "story.yaml"
    path.write_text(STORY.replace("RECORD", "0").replace("prompt: 0", "prompt: [retry.user]"), encoding="utf-8")
    code, told = record(path)
    assert code == 3
    assert "story.yaml" in told
