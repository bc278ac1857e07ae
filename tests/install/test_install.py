"""A harness is installed whole or not at all, and found again by the adapters."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkproof.adapters import install as installing
from forkproof.adapters import installation
from forkproof.adapters.errors import InstallFailed, NotInstalled, UnknownHarness
from forkproof.adapters.install import install, installed
from forkproof.adapters.packages import PACKAGES, Package, platform_tag, request

from .conftest import Machine


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file below a folder with its time and content."""
    files = (p for p in folder.rglob("*") if p.is_file())
    return {str(p.relative_to(folder)): (p.stat().st_mtime_ns, p.read_bytes()) for p in files}


def test_an_installation_is_found_with_its_manifest(machine: Machine) -> None:
    """What was installed is what `installed` gives: version, program, hash, and how it came."""
    outcome = install("goose", environment=machine.environment)
    found = installed("goose", environment=machine.environment)
    assert found == outcome.installation
    assert not outcome.already
    assert found.version == "1.52.0"
    assert found.command == (str(found.binary),)
    manifest = json.loads((machine.shelf / "1.52.0" / "forkproof.json").read_text())
    assert manifest["spec"] == f"@aaif/goose-binary-{platform_tag()}@1.52.0"
    assert manifest["integrity"] == "sha512-AAAA"
    assert manifest["sha256"] == installation.digest(found.binary)
    assert machine.shelf / "1.52.0" / manifest["binary"] == found.binary
    assert manifest["size"] == found.binary.stat().st_size
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", manifest["installed_at"])
    assert manifest["needs_node"] is False


def test_only_the_installation_is_left(machine: Machine) -> None:
    """Staging, npm's cache and its HOME are gone, and the user's HOME was not touched."""
    before = snapshot(machine.root / "user")
    install("goose", environment=machine.environment)
    assert machine.left() == ["1.52.0"]
    assert sorted(p.name for p in (machine.shelf / "1.52.0").iterdir()) == ["forkproof.json", "node_modules"]
    assert snapshot(machine.root / "user") == before


def test_codex_is_its_native_package_alone(machine: Machine) -> None:
    """Npm is asked for this platform's package under the alias that the launcher would use, and for nothing else."""
    codex = PACKAGES["codex"]
    tag = platform_tag()
    program = f"vendor/{codex.platforms[tag]}/bin/codex"
    machine.order(install={"program": program, "print": "codex-cli 0.171.0"})
    found = install("codex", environment=machine.environment).installation
    (call,) = machine.calls("install")
    assert call["argv"][1] == f"@openai/codex-{tag}@npm:@openai/codex@0.171.0-{tag}"
    assert machine.calls("view")[0]["argv"][1] == f"@openai/codex@0.171.0-{tag}"
    assert found.binary.as_posix().endswith(f"codex/0.171.0/node_modules/@openai/codex-{tag}/{program}")


def test_a_second_install_does_nothing(machine: Machine) -> None:
    """What is there stays as it is, without asking npm, even where nothing can be written any more."""
    install("goose", environment=machine.environment)
    before = snapshot(machine.shelf)
    again = install("goose@1.52.0", environment=machine.environment)
    assert again.already
    assert snapshot(machine.shelf) == before
    assert len(machine.calls("view")) == len(machine.calls("install")) == 1


def test_force_installs_again(machine: Machine) -> None:
    """`force` replaces an installation by a new one."""
    install("goose", environment=machine.environment)
    machine.order(install={"print": "goose 1.52.0, rebuilt"})
    assert not install("goose", environment=machine.environment, force=True).already
    assert "rebuilt" in installed("goose", environment=machine.environment).binary.read_text()
    assert machine.left() == ["1.52.0"]


BROKEN: list[tuple[dict[str, dict[str, Any]], str]] = [
    ({"view": {"status": 1, "err": "npm error code E404\nnpm error 404 No match found\n"}}, "No match found"),
    ({"install": {"status": 228, "err": "npm error code ENOSPC\nnpm error nospc no space\n"}}, "no space"),
    ({"install": {"status": 1, "err": "npm error code ECONNRESET\nnpm error aborted\n"}}, "aborted"),
    ({"install": {"print": " 1.50.0"}}, "says that it is version 1.50.0"),
    ({"install": {"print": "hello"}}, "printed no version"),
    ({"install": {"mode": "644"}}, "not executable"),
    ({"install": {"program": "elsewhere/goose"}}, "holds no program at bin/goose"),
]


@pytest.mark.parametrize("older", [False, True], ids=["fresh", "older"])
@pytest.mark.parametrize(("orders", "said"), BROKEN)
def test_a_failure_leaves_nothing_behind(
    machine: Machine, orders: dict[str, dict[str, Any]], said: str, *, older: bool
) -> None:
    """One message names harness, version, place and cause; an older installation stays byte for byte."""
    if older:
        install("goose", environment=machine.environment)
    before = snapshot(machine.shelf)
    machine.order(**orders)
    with pytest.raises(InstallFailed) as caught:
        install("goose", environment=machine.environment, force=True)
    assert said in caught.value.cause
    assert f"goose 1.52.0 could not be installed into {machine.shelf}" in caught.value.cause
    assert caught.value.hint or "printed no version" in said
    assert {k: v for k, v in snapshot(machine.shelf).items() if k != ".lock"} == {
        k: v for k, v in before.items() if k != ".lock"
    }
    assert machine.left() == (["1.52.0"] if older else [])


def test_a_full_disk_is_seen_before_the_download(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the registry tells a size that can't fit, nothing is fetched."""
    machine.order(view={"out": json.dumps({"integrity": "sha512-A", "unpackedSize": shutil.disk_usage("/").total * 9})})
    with pytest.raises(InstallFailed, match="MB are needed") as caught:
        install("goose", environment=machine.environment)
    assert "free some space" in caught.value.hint
    assert machine.calls("install") == []
    assert machine.left() == []


def test_a_place_that_cannot_be_written(machine: Machine, tmp_path: Path) -> None:
    """A FORKPROOF_HOME below a file fails with the place and a way out."""
    (tmp_path / "file").write_text("")
    environment = {**machine.environment, "FORKPROOF_HOME": str(tmp_path / "file" / "below")}
    with pytest.raises(InstallFailed, match=r"file/below") as caught:
        install("goose", environment=environment)
    assert "FORKPROOF_HOME" in caught.value.hint


def test_an_install_killed_in_the_swap_is_mended(machine: Machine) -> None:
    """Between the two renames of a swap the old installation stands aside; the next install puts it back."""
    install("goose", environment=machine.environment)
    (machine.shelf / "1.52.0").rename(machine.shelf / ".replaced-1.52.0")
    (machine.shelf / ".staging-dead" / "prefix").mkdir(parents=True)
    assert install("goose", environment=machine.environment).already
    assert machine.left() == ["1.52.0"]


def test_a_swap_that_fails_puts_the_old_one_back(tmp_path: Path) -> None:
    """When the new installation can't be renamed into place, the old one returns to it."""
    (tmp_path / "1.0.0").mkdir()
    (tmp_path / "1.0.0" / "old").write_text("old")
    with pytest.raises(FileNotFoundError):
        installing._put(tmp_path / "gone", tmp_path / "1.0.0")
    assert (tmp_path / "1.0.0" / "old").exists()
    assert [p.name for p in tmp_path.iterdir()] == ["1.0.0"]


DAMAGE = {
    "no program": lambda folder: next(folder.rglob("bin/goose")).unlink(),
    "a shorter program": lambda folder: next(folder.rglob("bin/goose")).write_text("#!"),
    "a torn manifest": lambda folder: (folder / "forkproof.json").write_text('{"schema": 1'),
    "another schema": lambda folder: (folder / "forkproof.json").write_text('{"schema": 99}'),
    "a list": lambda folder: (folder / "forkproof.json").write_text("[]"),
    "a wrong type": lambda folder: (folder / "forkproof.json").write_text(
        json.dumps({**json.loads((folder / "forkproof.json").read_text()), "size": "1"})
    ),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_installation_is_told_and_made_anew(machine: Machine, kind: str) -> None:
    """A damaged installation counts as none: the adapter's error says what to type, and an install mends it."""
    install("goose", environment=machine.environment)
    DAMAGE[kind](machine.shelf / "1.52.0")
    with pytest.raises(NotInstalled, match="damaged") as caught:
        installed("goose", environment=machine.environment)
    assert caught.value.hint == "forkproof harness install --force goose"
    assert not install("goose", environment=machine.environment).already
    assert installed("goose", environment=machine.environment).version == "1.52.0"


def test_not_installed_says_what_to_type(machine: Machine) -> None:
    """The hint is the command that mends it, for the version that was asked for; other versions there are named."""
    with pytest.raises(NotInstalled) as caught:
        installed("goose", environment=machine.environment)
    assert caught.value.hint == "forkproof harness install goose"
    install("goose", environment=machine.environment)
    with pytest.raises(NotInstalled, match=r"there: 1\.52\.0") as caught:
        installed("goose", "1.50.0", machine.environment)
    assert caught.value.hint == "forkproof harness install goose@1.50.0"


def test_versions_stand_side_by_side(machine: Machine) -> None:
    """Another version is installed beside the pinned one, and each is found by its number."""
    install("goose", environment=machine.environment)
    machine.order(install={"print": " 1.50.0"})
    install("goose@1.50.0", environment=machine.environment)
    assert machine.left() == ["1.50.0", "1.52.0"]
    assert installed("goose", environment=machine.environment).version == "1.52.0"
    assert installed("goose", "1.50.0", machine.environment).version == "1.50.0"


# --- The user's own program ----------------------------------------------------------------------------------------


def own(machine: Machine, text: str, mode: int = 0o755) -> dict[str, str]:
    program = machine.root / "own-goose"
    program.write_text(text)
    program.chmod(mode)
    return {**machine.environment, "FORKPROOF_GOOSE_BINARY": str(program)}


def test_the_users_own_program_comes_first(machine: Machine) -> None:
    """`FORKPROOF_GOOSE_BINARY` wins over what is installed; version and hash are the program's own."""
    install("goose", environment=machine.environment)
    found = installed("goose", environment=own(machine, "#!/bin/sh\necho goose 2.0.0-dev\n"))
    assert (found.version, found.manifest) == ("2.0.0-dev", None)
    assert found.sha256 == installation.digest(machine.root / "own-goose")


def test_the_users_own_program_is_asked_once_per_state(machine: Machine) -> None:
    """The answer is kept until the file changes: hashing a large program for each trace would be felt."""
    text = f"#!/bin/sh\necho asked >> {machine.root / 'asked'}\necho 2.0.0\n"
    environment = own(machine, text)
    installed("goose", environment=environment)
    installed("goose", environment=environment)
    assert (machine.root / "asked").read_text() == "asked\n"
    assert installed("goose", environment=own(machine, text.replace("2.0.0", "2.0.1-next"))).version == "2.0.1-next"


@pytest.mark.parametrize(
    ("text", "mode", "said"),
    [
        ("#!/bin/sh\necho 2.0.0\n", 0o644, "no executable file"),
        ("#!/bin/sh\nexit 7\n", 0o755, "status 7"),
        ("#!/no/such/shell\n", 0o755, "does not start"),
    ],
)
def test_a_program_that_does_not_work_is_no_installation(machine: Machine, text: str, mode: int, said: str) -> None:
    """A wrong path or a broken program is told as such, with the variable to mend."""
    with pytest.raises(NotInstalled, match=said) as caught:
        installed("goose", environment=own(machine, text, mode))
    assert "FORKPROOF_GOOSE_BINARY" in caught.value.hint


def test_the_users_own_program_must_have_the_version_asked_for(machine: Machine) -> None:
    """A run of goose@1.50.0 must not quietly be a run of something else."""
    with pytest.raises(NotInstalled, match=r"1\.50\.0 was asked for.*version 2\.0\.0"):
        installed("goose", "1.50.0", own(machine, "#!/bin/sh\necho 2.0.0\n"))


def test_a_program_gets_a_private_home(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking a program for its version shows it neither the user's HOME nor the user's variables."""
    for name, value in machine.environment.items():
        monkeypatch.setenv(name, value)
    text = '#!/bin/sh\ntouch "$HOME/.touched"\n[ -z "$FORKPROOF_HOME" ] && echo 2.0.0\n'
    before = snapshot(machine.root / "user")
    assert installed("goose", environment=own(machine, text)).version == "2.0.0"
    assert snapshot(machine.root / "user") == before


# --- Names, versions, platforms ------------------------------------------------------------------------------------


VERSIONS = [
    "",
    "latest",
    "^1.0.0",
    "1.52",
    "../../x",
    "--x",
    "1.52.0/../../x",
    "1.52.0\n",
    "1.52.0 ",
    "1.52.0@1.50.0",
    "1.0.0-",
]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_is_a_full_version(version: str) -> None:
    """Tags, ranges, options and paths are refused before npm or the file system sees them."""
    with pytest.raises(UnknownHarness, match="is no version of"):
        request(f"goose@{version}")


def test_the_reference_needs_no_installation() -> None:
    """The embedded reference is known and says that there is nothing to install."""
    with pytest.raises(UnknownHarness, match="part of forkproof"):
        request("reference")


@given(st.text(alphabet="0123456789.-+@/\\ax \n", max_size=20))
def test_an_accepted_version_is_one_safe_path_segment(version: str) -> None:
    """Whatever passes as a version names one folder, is nothing that npm takes for an option, and hides nothing."""
    try:
        _, accepted = request(f"goose@{version}")
    except UnknownHarness:
        return
    assert accepted is not None
    assert accepted == version
    assert Path(accepted).name == accepted
    assert not accepted.startswith((".", "-"))
    assert not re.search(r"[\s@/\\]", accepted)


@pytest.mark.parametrize(
    ("system", "machine_", "tag"),
    [
        ("Linux", "x86_64", "linux-x64"),
        ("Linux", "aarch64", "linux-arm64"),
        ("Darwin", "arm64", "darwin-arm64"),
        ("Linux", "riscv64", "linux-riscv64"),
        ("Windows", "AMD64", "windows-x64"),
    ],
)
def test_platforms_have_npms_names(system: str, machine_: str, tag: str) -> None:
    """Python's names of systems and machines become those of the packages."""
    assert platform_tag(system, machine_) == tag


def test_an_unsupported_platform_is_told(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing is published, the message names the platforms that have something and the way around."""
    monkeypatch.setattr(installing, "platform_tag", lambda: "linux-riscv64")
    with pytest.raises(InstallFailed, match=r"linux-riscv64.*linux-x64") as caught:
        install("goose", environment=machine.environment)
    assert "FORKPROOF_GOOSE_BINARY" in caught.value.hint
    assert machine.calls("view") == []


def test_a_harness_that_is_a_script_for_node_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package may hold a script in place of a program: Node runs it, and the newest known layout wins."""
    node = tmp_path / "bin" / "node"
    node.parent.mkdir()
    node.write_text('#!/bin/sh\n[ "$1" = --version ] && echo v999.0.0 && exit\nexec /bin/sh "$@"\n')
    node.chmod(0o755)
    monkeypatch.setenv("PATH", f"{node.parent}{os.pathsep}/usr/bin:/bin")
    package = Package(
        name="scripted",
        pinned="1.6.0",
        spec="@x/scripted@{version}",
        asked="@x/scripted@{version}",
        folder="@x/scripted",
        programs=("dist/bundle/cli.js", "dist/cli.js"),
        platforms={"linux-x64": ""},
        needs_node=True,
    )
    for place in package.programs:
        script = tmp_path / "prefix" / "node_modules" / "@x" / "scripted" / place
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text("echo 1.6.0\n")
    prefix = tmp_path / "prefix"
    folder = prefix / "node_modules" / package.folder
    manifest = installing._check(package.release(None, "linux-x64"), prefix, folder, "sha512-A")
    manifest.write(tmp_path / "prefix")
    found = installation.at(tmp_path / "prefix")
    assert found.command == (str(node), str(tmp_path / "prefix/node_modules/@x/scripted/dist/bundle/cli.js"))
    monkeypatch.setenv("FORKPROOF_NODE", str(tmp_path / "nothing"))
    with pytest.raises(NotInstalled, match=r"script for Node\.js .* does not run"):
        _ = found.command
