"""The doctor finds each thing that keeps a harness from running, says how to mend it, and changes nothing."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any, NoReturn

import pytest
from click.testing import CliRunner

from forkproof.adapters import doctor
from forkproof.adapters.doctor import Check, examine
from forkproof.adapters.errors import StartFailed
from forkproof.adapters.install import install
from forkproof.adapters.installation import Installation
from forkproof.conformance.cli.harness import harness

from .conftest import Machine


def findings(machine: Machine, wanted: str = "goose", **more: str) -> dict[str, Check]:
    return {check.name: check for check in examine(wanted, {**machine.environment, **more})}


def failed(found: dict[str, Check]) -> list[str]:
    return [check.name for check in found.values() if check.status == "failed"]


def test_all_is_well_once_it_is_installed(machine: Machine) -> None:
    """A fresh installation passes every check, in the documented order."""
    install("goose", environment=machine.environment)
    found = findings(machine)
    assert list(found) == [
        *("known harness", "platform", "npm", "installed", "program runs"),
        *("program unchanged", "disk space", "loopback", "FORKPROOF_HOME"),
    ]
    assert {check.status for check in found.values()} == {"ok"}
    assert "the pinned version" in found["installed"].detail


def test_nothing_is_changed(machine: Machine) -> None:
    """Looking leaves no trace: not even FORKPROOF_HOME is made."""
    before = sorted(machine.root.rglob("*"))
    findings(machine)
    (machine.root / "bin" / "calls.jsonl").unlink()
    assert sorted(machine.root.rglob("*")) == before


def test_what_is_not_installed_is_not_looked_into(machine: Machine) -> None:
    """The one failure is that it isn't there; what depends on it is skipped, not passed."""
    found = findings(machine)
    assert failed(found) == ["installed"]
    assert found["installed"].mend == "forkproof harness install goose"
    assert found["program runs"].status == found["program unchanged"].status == "skipped"


def test_an_unknown_harness_ends_the_examination(machine: Machine) -> None:
    """With a name that nobody knows there is nothing else to look at."""
    found = findings(machine, "gose")
    assert list(found) == failed(found) == ["known harness"]
    assert "did you mean goose" in found["known harness"].mend


def test_a_changed_program_is_found(machine: Machine) -> None:
    """A program of the same size with other content fails by its hash, and the mend is a new install."""
    binary = install("goose", environment=machine.environment).installation.binary
    binary.write_text(binary.read_text().replace("echo ' ", "echo '@"))
    found = findings(machine)
    assert failed(found) == ["program unchanged"]
    assert found["program unchanged"].mend == "forkproof harness install --force goose"


@pytest.mark.parametrize(("now", "said"), [("echo ' 1.50.0'", "not 1.52.0"), ("exit 3 # 1234", "status 3")])
def test_a_program_that_does_not_run_is_found(machine: Machine, now: str, said: str) -> None:
    """The program is really started: a wrong version and a crash both fail, with the command that mends it."""
    binary = install("goose", environment=machine.environment).installation.binary
    text = binary.read_text()
    binary.write_text(text.replace("echo ' 1.52.0'", now.ljust(len("echo ' 1.52.0'"))))
    assert binary.stat().st_size == len(text)
    check = findings(machine)["program runs"]
    assert check.status == "failed"
    assert said in check.detail
    assert check.mend == "forkproof harness install --force goose"


def test_npm_is_asked_for_only_where_it_is_needed(machine: Machine, tmp_path: Path) -> None:
    """Without npm nothing can be installed; what is installed already does not need it."""
    found = findings(machine, PATH=str(tmp_path))
    assert failed(found) == ["npm", "installed"]
    assert "Node.js" in found["npm"].mend
    install("goose", environment=machine.environment)
    assert failed(findings(machine, PATH=str(tmp_path))) == []


@pytest.mark.parametrize(("version", "tried"), [("1.50.0", "but tried"), ("1.51.0", "and never tried")])
def test_a_version_that_is_not_pinned_is_named_so(machine: Machine, version: str, tried: str) -> None:
    """Another version is fine, but a reader must see that it isn't the one that forkproof is tested with."""
    machine.order(install={"print": version})
    install(f"goose@{version}", environment=machine.environment)
    found = findings(machine, f"goose@{version}")
    assert failed(found) == []
    assert f"not the pinned 1.52.0 {tried}" in found["installed"].detail


def test_the_users_own_program_is_examined(machine: Machine) -> None:
    """It is run, and its hash told, as there is no manifest to compare it with."""
    program = machine.root / "own"
    program.write_text("#!/bin/sh\necho 2.0.0\n")
    program.chmod(0o755)
    found = findings(machine, FORKPROOF_GOOSE_BINARY=str(program))
    assert failed(found) == []
    assert "FORKPROOF_GOOSE_BINARY" in found["installed"].detail
    assert found["program unchanged"].status == "skipped"


def test_an_unsupported_platform_is_found(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """It fails with the platforms that would do, unless a program is there all the same."""
    monkeypatch.setattr(doctor, "platform_tag", lambda: "linux-riscv64")
    assert "linux-x64" in findings(machine)["platform"].mend
    install("goose", environment=machine.environment)
    assert findings(machine)["platform"].status == "ok"


def test_a_full_disk_is_found(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bar is what an install, or once installed a run, will take."""
    room = doctor._RUN_ROOM + 10**6

    class Usage:
        free = room

    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _: Usage)
    assert findings(machine)["disk space"].status == "failed"
    monkeypatch.undo()
    install("goose", environment=machine.environment)
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _: Usage)
    assert findings(machine)["disk space"].status == "ok"


def test_a_place_that_cannot_be_written_is_found(machine: Machine, tmp_path: Path) -> None:
    """A FORKPROOF_HOME below a file can't be made."""
    (tmp_path / "file").write_text("")
    found = findings(machine, FORKPROOF_HOME=str(tmp_path / "file" / "below"))
    assert "FORKPROOF_HOME" in failed(found)


def test_a_machine_without_loopback_is_found(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sandbox that forbids 127.0.0.1 keeps the model server from working."""

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise PermissionError(1, "not permitted")

    monkeypatch.setattr(socket, "create_server", refuse)
    found = findings(machine)
    assert found["loopback"].status == "failed"
    assert "127.0.0.1" in found["loopback"].mend


def test_a_probe_starts_the_harness_last(machine: Machine) -> None:
    """A probe gets the installation; its error becomes a finding; without an installation it is not called."""

    def refuse(found: Installation) -> NoReturn:
        raise StartFailed(f"{found.version} said no", "mend it")

    def last(probe: doctor.Probe) -> Check:
        return list(examine("goose", machine.environment, probe))[-1]

    assert last(refuse) == Check("starts", "skipped", "not installed")
    install("goose", environment=machine.environment)
    assert last(refuse) == Check("starts", "failed", "1.52.0 said no", "mend it")
    assert last(lambda _: ()) == Check("starts", "ok", "it started and stopped")
    told = Check("session/fork", "warning", "not advertised, and there")
    assert last(lambda _: (told,)) == told


def test_the_command_tells_people_and_programs(machine: Machine) -> None:
    """Exit status 1 and the mend while something fails, 0 once all is well; no colours where there is no terminal."""
    sick = CliRunner().invoke(harness, ["doctor", "goose"], env=machine.environment)
    assert sick.exit_code == 1
    assert "failed installed: goose 1.52.0 is not installed" in sick.stdout
    assert "    to mend it: forkproof harness install goose" in sick.stdout
    assert "\x1b" not in sick.stdout
    install("goose", environment=machine.environment)
    well = CliRunner().invoke(harness, ["doctor", "--json", "--no-start", "goose"], env=machine.environment)
    told = json.loads(well.stdout)
    assert (well.exit_code, told["ok"], len(told["checks"])) == (0, True, 9)


def test_the_command_to_type_is_one_that_works(machine: Machine) -> None:
    """An agent over ACP is asked for by its whole name: `harness install kimi-code` would know none of that name."""
    found = findings(machine, "acp:kimi-code")
    assert found["known harness"].status == "ok"
    assert found["installed"].mend == "forkproof harness install acp:kimi-code"
    assert findings(machine, "acp:kimi-code@2.0.9")["installed"].mend == "forkproof harness install acp:kimi-code@2.0.9"


def test_a_harness_from_pypi_needs_a_python_and_no_npm(machine: Machine, tmp_path: Path) -> None:
    """The Python that would make its environment is looked at; npm is not asked for at all."""
    program = python(tmp_path, "3 12 4 25")
    found = findings(machine, "acp:mistral-vibe", PATH=str(tmp_path), FORKPROOF_PYTHON=str(program))
    assert "npm" not in found
    assert found["pip"] == Check("pip", "ok", f"Python 3.12.4 with pip 25 ({program})")
    assert list(found)[2:4] == ["pip", "installed"]


@pytest.mark.parametrize(
    ("told", "problem", "mend"),
    [
        ("3 11 9 25", "is Python 3.11.9, and 3.12 is needed", "change FORKPROOF_PYTHON"),
        ("", "can't make a virtual environment", "python3-venv"),
    ],
)
def test_a_python_that_will_not_do_is_found(
    told: str, problem: str, mend: str, machine: Machine, tmp_path: Path
) -> None:
    """One that is too old, and one without the modules that make an environment, each with its mend."""
    check = findings(machine, "acp:mistral-vibe", FORKPROOF_PYTHON=str(python(tmp_path, told)))["pip"]
    assert check.status == "failed"
    assert problem in check.detail
    assert mend in check.mend


def test_no_python_at_all_is_found(machine: Machine, tmp_path: Path) -> None:
    """A FORKPROOF_PYTHON that is no program is told, not a fault of ours."""
    check = findings(machine, "acp:mistral-vibe", FORKPROOF_PYTHON=str(tmp_path / "nowhere"))["pip"]
    assert check.status == "failed"
    assert "does not start" in check.detail


def python(folder: Path, told: str) -> Path:
    """A program that answers as a Python of this version would; without one, as a Python that lacks a module."""
    program = folder / "python"
    program.write_text(f"#!/bin/sh\n{f'echo {told}' if told else 'echo No module named ensurepip >&2; exit 1'}\n")
    program.chmod(0o755)
    return program
