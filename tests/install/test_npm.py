"""npm is run for one package only: privately, with nothing of the user's but the way to the registry."""

from __future__ import annotations

import json
import os
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest

from forkproof.adapters import npm
from forkproof.adapters.errors import InstallFailed

from .conftest import Machine

REAL = shutil.which("npm")


def client(machine: Machine, staging: Path, **more: str) -> npm.Npm:
    staging.mkdir()
    return npm.Npm(staging, {**machine.environment, **more})


def test_environment_is_built_from_nothing(machine: Machine, tmp_path: Path) -> None:
    """Only what reaching the registry takes is passed on; keys and all else of the user's are not."""
    wanted = {
        "HTTPS_PROXY": "http://p:1",
        "no_proxy": "x",
        "NODE_EXTRA_CA_CERTS": "/ca",
        "npm_config_strict_ssl": "false",
    }
    scoped = {"npm_config_@a:registry": "http://a/", "npm_config_//a/:_authToken": "token"}
    foreign = {"OPENAI_API_KEY": "secret", "NODE_OPTIONS": "--require=x", "npm_config_ignore_scripts": "false"}
    staging = tmp_path / "staging"
    client(machine, staging, **wanted, **scoped, **foreign).dist("goose@1.0.0")
    (call,) = machine.calls("view")
    assert wanted.items() | scoped.items() <= call["env"].items()
    assert not foreign.keys() & call["env"].keys()
    assert call["env"]["HOME"] == str(staging / "home")
    assert call["env"]["TMPDIR"] == str(staging / "tmp")


def test_the_users_npmrc_keeps_its_meaning(machine: Machine, tmp_path: Path) -> None:
    """The file is pointed to; the variables that it names are passed, and its `~` stays the user's."""
    rc = tmp_path / "user" / ".npmrc"
    rc.write_text("//a/:_authToken=${MY_TOKEN}\ncafile=~/ca.pem\n")
    client(machine, tmp_path / "staging", MY_TOKEN="t", OTHER_TOKEN="o").dist("goose@1.0.0")  # noqa: S106 - no real token
    env = machine.calls("view")[0]["env"]
    assert env["npm_config_userconfig"] == str(rc)
    assert env["MY_TOKEN"] == "t"  # noqa: S105 - no real token
    assert "OTHER_TOKEN" not in env
    assert env["npm_config_cafile"] == str(tmp_path / "user" / "ca.pem")


def test_another_userconfig_is_followed(machine: Machine, tmp_path: Path) -> None:
    """A user who keeps the settings elsewhere says so with `npm_config_userconfig`, in either case."""
    other = tmp_path / "other"
    other.write_text("")
    client(machine, tmp_path / "staging", NPM_CONFIG_USERCONFIG=str(other)).dist("goose@1.0.0")
    assert machine.calls("view")[0]["env"]["npm_config_userconfig"] == str(other)


def test_scripts_are_refused_on_the_command_line(machine: Machine, tmp_path: Path) -> None:
    """`--ignore-scripts` stands in every call, where no configuration file can overrule it."""
    staging = tmp_path / "staging"
    asking = client(machine, staging)
    asking.dist("goose@1.0.0")
    asking.install("@aaif/goose-binary-linux-x64@1.52.0", staging / "prefix", lambda _: None)
    calls = machine.calls("view") + machine.calls("install")
    assert len(calls) == 2
    assert all("--ignore-scripts" in call["argv"] for call in calls)


def package_with_a_script(folder: Path, canary: Path) -> str:
    """A tarball of a package whose postinstall makes the canary file; gives npm's spec for it."""
    source = folder / "package"
    source.mkdir()
    told = {"name": "canary", "version": "1.0.0", "scripts": {"postinstall": f"touch '{canary}'"}}
    (source / "package.json").write_text(json.dumps(told))
    with tarfile.open(folder / "canary.tgz", "w:gz") as tar:
        tar.add(source, "package")
    return f"file:{folder / 'canary.tgz'}"


@pytest.mark.skipif(REAL is None, reason="there is no npm here to ask")
def test_the_real_npm_runs_no_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `--ignore-scripts` means is npm's to say: the same package does run its script without it.

    Not even a user who turned scripts on in `.npmrc` gets them run.
    """
    canary = tmp_path / "canary"
    spec = package_with_a_script(tmp_path, canary)
    user = tmp_path / "user"
    user.mkdir()
    (user / ".npmrc").write_text("ignore-scripts=false\noffline=true\nforeground-scripts=true\n")
    before = (user / ".npmrc").stat()

    def install(name: str) -> Path:
        staging = tmp_path / name
        (staging / "prefix").mkdir(parents=True)
        npm.Npm(staging, {"HOME": str(user), "PATH": os.environ["PATH"]}).install(
            spec, staging / "prefix", lambda _: None
        )
        return staging / "prefix"

    prefix = install("without")
    assert (prefix / "node_modules" / "canary" / "package.json").exists()
    assert (npm.integrity(prefix, "canary") or "").startswith("sha512-")
    assert not canary.exists()
    assert [p.name for p in user.iterdir()] == [".npmrc"]
    assert (user / ".npmrc").stat() == before
    monkeypatch.setattr(npm, "_ALWAYS", tuple(o for o in npm._ALWAYS if o != "--ignore-scripts"))
    install("with")
    assert canary.exists()


ERRORS: list[tuple[str, str, str]] = [
    (
        "npm error code ENOSPC\nnpm error nospc There is not enough space on your system.\n",
        "not enough space",
        "disk is full",
    ),
    (
        "npm ERR! code E404\nnpm ERR! 404 No match found for version 9.9.9\n",
        "No match found",
        "npm view goose versions",
    ),
    (
        "npm error code ETARGET\nnpm error notarget No matching version found\n",
        "No matching version",
        "npm view goose versions",
    ),
    ("npm error code ECONNREFUSED\nnpm error connect ECONNREFUSED 127.0.0.1:9\n", "127.0.0.1:9", "can't be reached"),
    ("npm error code ENOTFOUND\nnpm error request to http://x failed\n", "http://x", "can't be reached"),
    ("npm error code E503\nnpm error 503 Service Unavailable\n", "Service Unavailable", "can't be reached"),
    ("npm error code E401\nnpm error Incorrect or missing password.\n", "missing password", "login"),
    (
        "npm error code SELF_SIGNED_CERT_IN_CHAIN\nnpm error self-signed certificate\n",
        "self-signed",
        "NODE_EXTRA_CA_CERTS",
    ),
    ("npm error code EINTEGRITY\nnpm error sha512 mismatch\n", "mismatch", "differs"),
    ("npm error code EODD\nnpm error something new\n", "something new", "mend it"),
    ("Segmentation fault\n", "Segmentation fault", "mend it"),
]


@pytest.mark.parametrize(("err", "said", "hint"), ERRORS)
def test_an_error_of_npm_is_told_with_a_way_out(
    machine: Machine, tmp_path: Path, err: str, said: str, hint: str
) -> None:
    """The words of npm are kept, its noise is not, and the code decides what the user is advised."""
    noise = "npm error A complete log of this run can be found in: /somewhere\n"
    machine.order(view={"status": 1, "err": noise + err if "code" in err else err})
    with pytest.raises(InstallFailed) as caught:
        client(machine, tmp_path / "staging").dist("goose@1.0.0")
    assert said in caught.value.cause
    assert "asking the registry about goose@1.0.0" in caught.value.cause
    assert "complete log" not in caught.value.cause
    assert hint in caught.value.hint


@pytest.mark.parametrize("out", ["", "[]", "null", "not json", '{"tarball": "x"}', '"text"'])
def test_an_answer_without_integrity_is_refused(machine: Machine, tmp_path: Path, out: str) -> None:
    """An answer that names no integrity is no answer: nothing is fetched on the strength of it."""
    machine.order(view={"out": out})
    with pytest.raises(InstallFailed, match="names no integrity"):
        client(machine, tmp_path / "staging").dist("goose@1.0.0")


@pytest.mark.parametrize(("told", "size"), [(7, 7), (None, None), ("7", None), (-1, None)])
def test_an_odd_size_counts_as_not_known(machine: Machine, tmp_path: Path, told: Any, size: int | None) -> None:
    """Registries often leave the size out; whatever is not a size only costs the bar its end."""
    machine.order(view={"out": json.dumps({"integrity": "sha512-A", "unpackedSize": told})})
    assert client(machine, tmp_path / "staging").dist("goose@1.0.0") == npm.Dist("sha512-A", size)


def test_without_npm_it_says_so(machine: Machine, tmp_path: Path) -> None:
    """No npm on the PATH is the user's to mend, and the message says how."""
    with pytest.raises(InstallFailed, match="not on the PATH"):
        client(machine, tmp_path / "staging", PATH=str(tmp_path)).version()


def test_an_npm_that_does_not_start(machine: Machine, tmp_path: Path) -> None:
    """An npm whose interpreter is gone fails with a message, not a traceback."""
    (tmp_path / "bin" / "npm").write_text("#!/no/such/interpreter\n")
    with pytest.raises(InstallFailed, match="did not start"):
        client(machine, tmp_path / "staging").version()


def test_a_stuck_download_is_given_up(
    machine: Machine, tmp_path: Path, fifo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When nothing arrives any more, npm is ended and the failure says that it hung."""
    monkeypatch.setattr(npm, "_SILENT_SECONDS", 3.0)
    machine.order(install={"pause": str(fifo)})
    staging = tmp_path / "staging"
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(InstallFailed, match="nothing arrived"):
            client(machine, staging).install("@aaif/goose-binary-linux-x64@1.52.0", staging / "prefix", lambda _: None)
        pid = int(os.read(reader, 100))
    finally:
        os.close(reader)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
