"""`forkproof harness install` as a person and as CI meet it: output, exit status, signals, two at once."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from forkproof.adapters.install import install, installed
from forkproof.conformance.cli.harness import harness
from forkproof.conformance.cli.progress import Lines, Terminal

from .conftest import Machine

DEADLINE = 60

pytestmark = pytest.mark.timeout(180)  # a broken install must not keep a FIFO waiting for ever


def call(machine: Machine, *arguments: str) -> Result:
    return CliRunner().invoke(harness, arguments, env=machine.environment)


def blocked(process: subprocess.Popen[str], fifo: Path) -> int:
    """Wait until the fake npm of this process has written its process id to the FIFO; gives the id."""
    with fifo.open() as stream:
        told = stream.read()
    assert process.poll() is None
    return int(told)


def finished(process: subprocess.Popen[str]) -> tuple[str, str]:
    try:
        return process.communicate(timeout=DEADLINE)
    finally:
        process.kill()


def test_install_says_what_and_where(machine: Machine) -> None:
    """The result goes to standard output, each step to standard error, and the second time says so."""
    first = call(machine, "install", "goose")
    assert first.exit_code == 0
    assert first.stdout.startswith("installed goose 1.52.0")
    assert str(machine.shelf) in first.stdout
    assert first.stderr.splitlines()[0] == "asking npm about goose 1.52.0"
    second = call(machine, "install", "goose")
    assert (second.exit_code, second.stderr) == (0, "")
    assert second.stdout.startswith("goose 1.52.0 is already installed")


def test_no_progress_is_silent(machine: Machine) -> None:
    """`--no-progress` leaves standard error empty."""
    assert call(machine, "install", "--no-progress", "goose").stderr == ""


def test_install_tells_programs_in_json(machine: Machine) -> None:
    """`--json` prints one object, for a success and for a failure alike."""
    told = json.loads(call(machine, "install", "--json", "goose").stdout)
    assert (told["ok"], told["already"]) == (True, False)
    assert told["manifest"]["version"] == "1.52.0"
    assert Path(told["path"]) == installed("goose", environment=machine.environment).binary
    machine.order(view={"status": 1, "err": "npm error code ENOTFOUND\nnpm error no such host\n"})
    failed = call(machine, "install", "--json", "--force", "goose")
    assert failed.exit_code == 1
    assert {k: v for k, v in json.loads(failed.stdout).items() if k in {"ok", "code"}} == {
        "ok": False,
        "code": "install-failed",
    }


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["goose@9.9.9"], 1, "No match found"),
        (["goose@newest"], 3, "'newest' is no version of goose"),
        (["gose"], 3, "did you mean goose?"),
        (["reference"], 3, "nothing to install"),
    ],
)
def test_a_failure_is_one_message(machine: Machine, arguments: list[str], status: int, said: str) -> None:
    """Exit status 1 for what failed, 3 for what was typed wrongly; cause and hint, no traceback."""
    machine.order(view={"status": 1, "err": "npm error code E404\nnpm error 404 No match found for version 9.9.9\n"})
    result = call(machine, "install", *arguments)
    assert result.exit_code == status
    assert said in result.stderr
    assert "Traceback" not in result.output
    assert isinstance(result.exception, SystemExit)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_nothing(machine: Machine, fifo: Path, number: signal.Signals) -> None:
    """Ctrl-C, and the TERM of a cancelled CI job, end npm, clear up, say so and exit 1."""
    install("goose", environment=machine.environment)
    machine.order(install={"pause": str(fifo)})
    process = machine.forkproof("install", "--force", "goose")
    npm = blocked(process, fifo)
    process.send_signal(number)
    out, err = finished(process)
    assert process.returncode == 1
    assert out == ""
    assert "interrupted: nothing was installed" in err
    assert "Traceback" not in err
    with pytest.raises(ProcessLookupError):
        os.kill(npm, 0)
    assert machine.left() == ["1.52.0"]
    assert installed("goose", environment=machine.environment).version == "1.52.0"


def test_a_killed_install_is_as_if_it_had_not_been(machine: Machine, fifo: Path) -> None:
    """After a KILL in the middle nothing stands in the final place, and the next install clears up and works."""
    machine.order(install={"pause": str(fifo)})
    process = machine.forkproof("install", "goose")
    npm = blocked(process, fifo)
    try:
        process.kill()
        finished(process)
        assert [name.startswith(".staging-") for name in machine.left()] == [True]
    finally:
        os.kill(npm, signal.SIGKILL)  # its parent could not
    machine.order()
    assert not install("goose", environment=machine.environment).already
    assert machine.left() == ["1.52.0"]


def test_two_installs_at_once_make_one(machine: Machine, fifo: Path) -> None:
    """The second waits, says so, and finds the first one's work."""
    machine.order(install={"gate": str(fifo)})
    first = machine.forkproof("install", "goose")
    assert first.stderr is not None
    while "fetching" not in first.stderr.readline():
        assert first.poll() is None
    second = machine.forkproof("install", "goose")
    assert second.stderr is not None
    assert second.stderr.readline() == "waiting for another install of goose to finish\n"
    fifo.write_text("go on")
    assert finished(first)[0].startswith("installed goose")
    assert finished(second)[0].startswith("goose 1.52.0 is already installed")
    assert (first.returncode, second.returncode) == (0, 0)
    assert len(machine.calls("install")) == 1


def test_lines_tell_the_quarters_once() -> None:
    """Without a terminal there are a few lines, however often the size is looked at; the end is the next step's."""
    stream = io.StringIO()
    lines = Lines(stream)
    lines.step("fetching")
    for done in range(0, 500 * 10**6, 10**6):
        lines.arrived(done, 400 * 10**6)
    assert stream.getvalue().splitlines() == ["fetching", "  25 % of 400 MB", "  50 % of 400 MB", "  75 % of 400 MB"]


def test_lines_tell_megabytes_of_an_unknown_size() -> None:
    """Where the registry gives no size, every hundred megabytes are told."""
    stream = io.StringIO()
    lines = Lines(stream)
    for done in range(0, 250 * 10**6, 10**6):
        lines.arrived(done, None)
    assert stream.getvalue().splitlines() == ["  100 MB so far", "  200 MB so far"]


def test_the_bar_never_claims_the_end_too_early() -> None:
    """A size that proves too small moves the end of the bar; without one the bar pulses."""
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(file=io.StringIO()))
    terminal = Terminal(bar)
    terminal.step("fetching")
    assert bar.tasks[0].total is None
    terminal.arrived(50, 100)
    assert bar.tasks[0].percentage == 50
    terminal.arrived(1000, 100)
    assert bar.tasks[0].percentage < 100
    terminal.step("checking")
    assert [(task.description, task.total) for task in bar.tasks] == [("checking", None)]
