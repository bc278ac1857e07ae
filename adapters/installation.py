"""A harness's program on this machine: where it is, which version, and the manifest that says how it came.

Layout: `$FORKPROOF_HOME/harnesses/NAME/VERSION/`, with the manifest `forkproof.json` beside `node_modules`. This is the
reading side; `install` writes.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from forkproof.adapters import child, node
from forkproof.adapters.choice import Choice
from forkproof.adapters.errors import NotInstalled, StartFailed
from forkproof.adapters.packages import Package, request

__all__ = [
    "MANIFEST",
    "Installation",
    "Manifest",
    "at",
    "digest",
    "home",
    "installed",
    "printed_version",
    "program",
    "shelf",
]

MANIFEST = "forkproof.json"
_SCHEMA = 1
_VERSION_SECONDS = 180.0


@dataclass(frozen=True, slots=True)
class Manifest:
    """How an installation came to be. `binary` is relative to the manifest's folder; sizes in bytes; time in UTC.

    `integrity` is npm's (SRI), `sha256` the program's own, `size` the program's and `unpacked` the whole folder's.
    """

    name: str
    version: str
    platform: str
    spec: str
    integrity: str
    binary: str
    sha256: str
    size: int
    unpacked: int
    installed_at: str
    needs_node: bool
    schema: int = _SCHEMA

    def write(self, folder: Path) -> None:
        """Put the manifest into an installation's folder."""
        text = json.dumps(dataclasses.asdict(self), indent=2, sort_keys=True) + "\n"
        (folder / MANIFEST).write_text(text, encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """The manifest of an installation's folder. Raises `OSError` or `ValueError`."""
        told = json.loads((folder / MANIFEST).read_bytes())
        fields = {f.name: {"int": int, "bool": bool}.get(str(f.type), str) for f in dataclasses.fields(cls)}
        if not isinstance(told, dict) or told.get("schema") != _SCHEMA or set(told) != set(fields):
            raise ValueError(f"{folder / MANIFEST} is not a manifest of schema {_SCHEMA}")
        if wrong := [name for name, kind in fields.items() if type(told[name]) is not kind]:
            raise ValueError(f"{folder / MANIFEST}: wrong type of {', '.join(wrong)}")
        return cls(**told)


@dataclass(frozen=True, slots=True)
class Installation:
    """A program to run: an installed one, or the user's own, which has no manifest."""

    name: str
    version: str
    binary: Path
    sha256: str
    manifest: Manifest | None = None
    needs_node: bool = False

    @property
    def command(self) -> tuple[str, ...]:
        """How to start the program, before its arguments. Raises `NotInstalled` where it needs Node and has none."""
        return _command(self.binary, needs_node=self.needs_node)


def home(environment: Mapping[str, str] | None = None) -> Path:
    """The absolute path of `$FORKPROOF_HOME`, by default `~/.cache/forkproof`; it need not exist."""
    named = (os.environ if environment is None else environment).get("FORKPROOF_HOME", "").strip()
    return Path(named or "~/.cache/forkproof").expanduser().absolute()


def shelf(name: str, environment: Mapping[str, str] | None = None) -> Path:
    """The folder that holds all versions of one harness."""
    return home(environment) / "harnesses" / name


def installed(name: str, version: str | None = None, environment: Mapping[str, str] | None = None) -> Installation:
    """The program of a harness, the pinned version unless another is asked for.

    `FORKPROOF_<NAME>_BINARY` in the environment (by default the process's) points to the user's own program and comes
    first. Cheap for an installed one: the manifest is trusted, and the doctor compares hashes. Raises `NotInstalled`,
    with what to type, and `UnknownHarness`.
    """
    environment = os.environ if environment is None else environment
    package, wanted = request(f"{name}@{version}" if version else name)
    if own := environment.get(package.variable, "").strip():
        return _own(package, Path(own).expanduser().absolute(), wanted)
    chosen = wanted or package.pinned
    folder = shelf(package.name, environment) / chosen
    typed = package.asked_for if chosen == package.pinned else f"{package.asked_for}@{chosen}"
    try:
        return at(folder)
    except FileNotFoundError:
        others = _others(folder.parent)
        there = f" (there: {', '.join(others)})" if others else ""
        cause = f"{package.name} {chosen} is not installed in {folder.parent}{there}"
        raise NotInstalled(cause, f"forkproof harness install {typed}") from None
    except (OSError, ValueError) as error:
        cause = f"the installation of {package.name} {chosen} is damaged: {error}"
        raise NotInstalled(cause, f"forkproof harness install --force {typed}") from error


def program(name: str, choice: Choice | None) -> Installation:
    """The program of a chosen harness; where only its declarations are asked for, one that is nowhere.

    Raises as `installed`.
    """
    if choice is None or choice.to_run:
        return installed(name, choice.version if choice else None)
    package, version = request(f"{name}@{choice.version}" if choice.version else name)
    return Installation(package.name, version or package.pinned, Path(os.devnull), "")


def at(folder: Path) -> Installation:
    """The installation in a folder. Raises `FileNotFoundError`, or `OSError` or `ValueError` if damaged."""
    manifest = Manifest.read(folder)
    binary = folder / manifest.binary
    there = binary.stat().st_size if binary.is_file() else None
    if there != manifest.size:
        raise ValueError(f"{binary} has {'gone' if there is None else f'{there} bytes'}, not {manifest.size} bytes")
    return Installation(
        manifest.name, manifest.version, binary, manifest.sha256, manifest, needs_node=manifest.needs_node
    )


def digest(file: Path) -> str:
    """The SHA-256 of a file in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def printed_version(binary: Path, *, needs_node: bool = False) -> str:
    """The version that a program prints for `--version`, run with a HOME of its own and a deadline.

    The first `1.2.3` in what it prints counts (`codex-cli 0.171.0`, ` 1.52.0`); some print it to standard error.
    Raises `StartFailed`, and `NotInstalled` where it needs Node and there is none.
    """
    command = (*_command(binary, needs_node=needs_node), "--version")
    with tempfile.TemporaryDirectory(prefix="forkproof-") as private:
        environment = {"HOME": private, "TMPDIR": private, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
        try:
            ended = child.run(command, environment=environment, directory=Path(private), deadline=_VERSION_SECONDS)
        except OSError as error:
            raise StartFailed(f"{binary} does not start: {error}", "is it a program for this machine?") from error
    found = next(filter(None, (re.search(r"\d+\.\d+\.\d+[-.\w]*", said) for said in (ended.out, ended.err))), None)
    if ended.status != 0 or found is None:
        how = "did not end in time" if ended.status is None else f"ended with status {ended.status}"
        said = (ended.err.strip() or ended.out.strip())[-300:] or "nothing"
        raise StartFailed(f"`{binary} --version` {how} and printed no version; it said: {said}")
    return found[0]


def _command(binary: Path, *, needs_node: bool) -> tuple[str, ...]:
    if not needs_node:
        return (str(binary),)
    return (str(node.find().program), str(binary))


def _others(folder: Path) -> list[str]:
    """The versions of a harness that are there."""
    return sorted(p.parent.name for p in folder.glob(f"[0-9]*/{MANIFEST}"))


def _own(package: Package, binary: Path, wanted: str | None) -> Installation:
    """The user's own program, asked for its version. Raises `NotInstalled` when it is not what was asked for."""
    mend = f"mend or unset {package.variable}"
    if not (binary.is_file() and os.access(binary, os.X_OK)):
        raise NotInstalled(f"{package.variable} points to {binary}, which is no executable file", mend)
    state = binary.stat()
    try:
        version, sha256 = _inspect(binary, package.needs_node, state.st_mtime_ns, state.st_size)
    except StartFailed as error:
        raise NotInstalled(f"{package.variable} points to a program that does not work: {error.cause}", mend) from error
    if wanted not in {None, version}:
        cause = f"{package.name} {wanted} was asked for, but {package.variable} points to version {version}"
        raise NotInstalled(cause, mend)
    return Installation(package.name, version, binary, sha256, needs_node=package.needs_node)


@functools.lru_cache(maxsize=16)
def _inspect(binary: Path, needs_node: bool, _modified: int, _size: int) -> tuple[str, str]:
    """Version and hash of a program, once per state of its file: hashing hundreds of megabytes takes a second."""
    return printed_version(binary, needs_node=needs_node), digest(binary)
