"""`--chaos SEED`, from the command line to the record (design section 4)."""

from pathlib import Path
from typing import Any

import pytest

from tests.test_run_command import events, forkproof

TRACE = "cut/edit-then-fork-shared"


def played(tmp_path: Path, *options: str) -> tuple[dict[str, Any], list[str]]:
    """The header of a run, and the commands that play its checks again."""
    run = forkproof(tmp_path, "run", "reference", TRACE, "--seed", "5", *options)
    assert run.returncode == 0, run.stdout + run.stderr
    lines = events(tmp_path)
    return lines[0], [line["replay"] for line in lines if line["event"] == "check"]


@pytest.mark.parametrize(("options", "chaos"), [((), None), (("--chaos", "3"), 3), (("--chaos", "0"), 0)])
def test_a_record_tells_of_its_chaos(tmp_path: Path, options: tuple[str, ...], chaos: int | None) -> None:
    """The header holds the seed, None without chaos, and whoever plays a check again gets the same chaos."""
    header, replays = played(tmp_path, *options)
    assert header["chaos"] == chaos
    assert replays
    assert all((f"--chaos {chaos}" in replay) == (chaos is not None) for replay in replays)


def test_a_seed_of_chaos_is_a_number(tmp_path: Path) -> None:
    """Anything else is wrong use."""
    run = forkproof(tmp_path, "run", "reference", TRACE, "--chaos", "wild")
    assert run.returncode == 3, run.stdout + run.stderr
    assert "chaos" in run.stdout + run.stderr
