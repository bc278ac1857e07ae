"""Every way in which a harness may break, at every phase, by each route: the verdict, the message, and nothing left.

The one place where the matrix stands: a row is a fault of `programs/broken` at a phase, and what becomes of it. Most
rows are played by the engine in this process; `test_whole_runs` plays some by the command itself. Further rows of one
route only (what Codex or an agent may answer) are in tests/codex and tests/acp, those of a single process without any
protocol in tests/test_supervisor.py and tests/test_stop.py. Source: design sections 5 and 11; issue 4, "Bad input and
faults".
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from forkproof.adapters.protocol import Deadlines

from .stage import Broken, broken, play

FORKPROOF = Path(sys.executable).with_name("forkproof")
ROUTES = ("acp", "codex", "pi", "stdio")
PHASES = ("start", "open", "prompt", "fork", "compact", "cancel", "stop")
HANG = 2.0
"""Seconds of the deadline that a fault is expected to miss."""
LATEST = 2.0
"""Seconds after a deadline at which a TIMEOUT stands at the latest (design section 11)."""
LOAD = 5.0
"""Seconds more, for a machine that is busy."""

NAMES = {
    "acp": {
        "start": "initialize",
        "open": "session/new",
        "prompt": "the end of turn plan",
        "fork": "session/fork",
        "compact": "the end of compaction fold",
        "cancel": "the end of turn long",
    },
    "codex": {
        "start": "initialize",
        "open": "thread/start",
        "prompt": "the end of turn plan",
        "fork": "thread/fork",
        "compact": "the end of compaction fold",
        "cancel": "turn/interrupt",
    },
    "pi": {
        "start": "get_state",
        "open": "new_session",
        "prompt": "the end of turn plan",
        "fork": "clone",
        "compact": "the end of compaction fold",
        "cancel": "abort",
    },
    "stdio": {
        "start": "start",
        "open": "session/open",
        "prompt": "the end of turn plan",
        "fork": "the fork alt",
        "compact": "the end of compaction fold",
        "cancel": "session/cancel",
    },
}
"""How a message names the phase that hung."""

OPERATIONS = {"open": "OpenSession", "fork": "Fork", "cancel": "Cancel"}
"""How it is named where the harness took so long to be ended that the suite's own patience was over first."""


@dataclass(frozen=True)
class Row:
    """A fault at a phase, and what becomes of it: the verdict, the error's code, and words of its message."""

    fault: str
    phase: str
    verdict: str
    code: str = ""
    says: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.fault}-{self.phase}"


def crash(fault: str, phase: str, *says: str) -> Row:
    code = "start-failed" if phase == "start" else "harness-died"
    return Row(fault, phase, "CRASH", code, says)


def hang(fault: str, phase: str, *says: str) -> Row:
    return Row(fault, phase, "TIMEOUT", "harness-hung", (f"within {HANG:g} s", *says))


def garbage(fault: str, phase: str, *says: str) -> Row:
    return Row(fault, phase, "CRASH", "garbage", says)


WORKING = PHASES[:-1]
SOME = ("start", "prompt", "fork")
ROWS = (
    Row("none", "start", "PASS"),
    # It hangs, politely or deaf to TERM, with children or without.
    *(hang("hang", phase, "is sleeping", "standard error is empty") for phase in WORKING),
    *(hang("deaf", phase) for phase in SOME),
    hang("family-hang", "prompt", "`/bin/sleep 1000`"),
    hang("family-hang", "fork"),
    # It ends, by itself or by a signal.
    *(crash("exit-0", phase, "ended with exit code 0", "standard error is empty") for phase in WORKING),
    *(crash("exit-7", phase, "ended with exit code 7", "fatal: my database is gone") for phase in WORKING),
    *(crash("killed", phase, "ended by SIGKILL") for phase in WORKING),
    *(crash("family-exit", phase, "ended with exit code 0") for phase in SOME),
    # It writes what no protocol allows, or breaks off.
    *(garbage("garbage", phase, "not JSON", "Segmentation fault, core dumped") for phase in WORKING),
    *(garbage("huge-line", phase, "a line of more than 16777216 bytes that begins 'xxx") for phase in SOME),
    *(crash("half-line-exit", phase, "ended with exit code 3", "in the middle of a line") for phase in SOME),
    *(hang("half-line-hang", phase) for phase in ("start", "fork")),
    hang("flood", "prompt"),
    # It answers, but not what was asked.
    garbage("wrong-id", "start", "an answer to 4711, which waits for none"),
    hang("wrong-id-hang", "start"),
    *(Row("twice", phase, "PASS") for phase in ("start", "open", "prompt", "fork")),
    # It says too much beside, or lets its model's stream stand.
    *(Row("loud", phase, "PASS") for phase in PHASES),
    hang("stall", "prompt"),
    # It does not go when the trial is over: that is no fault of its forks, but nothing may be left.
    *(Row(fault, "stop", "PASS") for fault in ("hang", "deaf", "exit-0", "exit-7", "killed")),
    *(Row(fault, "stop", "PASS") for fault in ("family-hang", "family-exit")),
)

OF_THE_PROTOCOL = frozenset(
    {"none", "hang", "exit-7", "garbage", "half-line-exit", "wrong-id", "wrong-id-hang", "twice", "stall"}
)
"""What each route's own code has to cope with; how a process ends is the supervisor's, and the same for all of them."""

PLAYED = [("acp", row) for row in ROWS] + [
    (route, row)
    for route in ("codex", "pi", "stdio")
    for row in ROWS
    if row.fault in OF_THE_PROTOCOL or row.phase == "prompt"
]


@pytest.mark.parametrize(("route", "row"), PLAYED, ids=str)
def test_the_fault_is_told_and_nothing_is_left(route: str, row: Row, tmp_path: Path) -> None:
    """One clear message with a hint, a TIMEOUT at its time, no process, not even a hidden one, and no file left."""
    made = broken(tmp_path, route, row.fault, row.phase)
    hangs = row.verdict == "TIMEOUT"
    waits = hangs or row.fault == "wrong-id"
    deadlines = Deadlines(
        start=HANG if waits and row.phase == "start" else 60.0,
        operation=HANG if waits and row.phase != "start" else 60.0,
        stop=4.0,
    )
    (outcome,) = play(made, deadlines)
    assert len(made.notes("fault")) == 1, "the fault did not happen"
    assert outcome.played.notes == ()
    verdicts = {check.verdict for check in outcome.played.checks.values()}
    assert row.verdict in verdicts <= {row.verdict, "PASS"}
    error = outcome.played.observed.error
    assert (error.code if error else "") == row.code
    if error is not None:
        assert [words for words in row.says if words not in error.cause] == []
        assert error.hint
    if hangs:
        assert error is not None
        names = (NAMES[route][row.phase], f"to {OPERATIONS.get(row.phase, '?')}")
        assert any(name in error.cause for name in names), error.cause
        assert outcome.took < HANG + LATEST + LOAD
    assert made.left() == []


def test_a_closed_output_is_the_end_though_the_process_lives(tmp_path: Path) -> None:
    """No answer can come any more: the trial does not wait for its deadline, and the message says why."""
    for route in ROUTES:
        folder = tmp_path / route
        folder.mkdir()
        made = broken(folder, route, "mute", "prompt")
        (outcome,) = play(made, Deadlines(start=60, operation=60, stop=4))
        error = outcome.played.observed.error
        assert error is not None
        assert (error.code, error.verdict) == ("harness-died", "CRASH")
        assert "closed its standard output, though it still runs" in error.cause
        assert outcome.took < 30
        assert made.left() == []


WHOLE = (
    ("none", "start", 0, {"PASS"}, "PASS"),
    ("hang", "start", 2, {"TIMEOUT"}, "did not answer {start} within 2 s"),
    ("deaf", "fork", 2, {"PASS", "TIMEOUT"}, "within 2 s"),
    ("stall", "prompt", 2, {"TIMEOUT"}, "no answer within 2 s to the end of turn plan"),
    ("killed", "compact", 2, {"PASS", "CRASH"}, "ended by SIGKILL"),
    ("family-exit", "prompt", 2, {"CRASH"}, "ended with exit code 0"),
    ("garbage", "cancel", 2, {"PASS", "CRASH"}, "Segmentation fault, core dumped"),
    ("family-hang", "stop", 0, {"PASS"}, "PASS"),
)
OF_EACH_ROUTE = frozenset({"hang", "garbage"})
"""Faults that the command itself is played with by every route; the rest of it knows nothing of routes."""


@pytest.mark.parametrize(
    ("route", "fault", "phase", "code", "verdicts", "says"),
    [(route, *row) for route in ROUTES for row in WHOLE if route == "acp" or row[0] in OF_EACH_ROUTE],
)
def test_whole_runs(
    route: str, fault: str, phase: str, code: int, verdicts: set[str], says: str, tmp_path: Path
) -> None:
    """The command: exit code, one message, a whole record, and nothing left of the harness when it has ended."""
    made = broken(tmp_path, route, fault, phase)
    done = _run(made, *(["--deadline", f"{HANG:g}"] if "TIMEOUT" in verdicts else []))
    assert done.returncode == code, done.stdout + done.stderr
    assert says.format(**NAMES[route]) in " ".join(done.stdout.split())
    assert "Traceback" not in done.stdout + done.stderr
    lines = [json.loads(line) for line in (tmp_path / "out" / "run.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {line["verdict"] for line in lines if line["event"] == "check"} == verdicts
    assert (lines[-1]["event"], lines[-1]["complete"], lines[-1]["exit"]) == ("end", True, code)
    assert made.left() == []


@pytest.mark.parametrize(("options", "seconds"), [((), 2), (("--deadline", "3"), 3)])
def test_a_harness_can_ask_for_a_deadline_of_its_own(options: tuple[str, ...], seconds: int, tmp_path: Path) -> None:
    """A recipe's holds where the person names none."""
    made = broken(tmp_path, "acp", "hang", "start")
    recipe = Path(made.asked.removeprefix("acp:"))
    recipe.write_text(recipe.read_text(encoding="utf-8").replace("[tool", "deadline = 2\n\n[tool", 1), encoding="utf-8")
    done = _run(made, *options)
    assert done.returncode == 2, done.stdout + done.stderr
    assert f"did not answer initialize within {seconds} s" in " ".join(done.stdout.split())


def _run(made: Broken, *options: str) -> subprocess.CompletedProcess[str]:
    """The command on a broken harness, in its folder."""
    own = {"HOME": str(made.folder), "TMPDIR": str(made.temporary), "FORKPROOF_HOME": str(made.folder / "fp")}
    return subprocess.run(
        [FORKPROOF, "run", made.asked, str(made.trace), "--out", "out", "--no-progress", *options],
        cwd=made.folder,
        env={"PATH": os.environ["PATH"], **own, **made.variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
