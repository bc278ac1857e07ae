"""A harness from PyPI: a virtual environment of its own, made by the user's pip in a private place.

pip gets a HOME of its own, and an environment built from nothing plus what it takes to reach the index: proxies,
certificates, its own `PIP_*` settings and the user's configuration file. Only wheels are taken, so that no package runs
a script while it is installed. The environment is moved into place when it is whole, so nothing in it may be started by
the path in its first line: the program is a small launcher that names the interpreter beside it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forkproof.adapters import child
from forkproof.adapters.errors import InstallFailed
from forkproof.adapters.npm import size

__all__ = ["VARIABLE", "Pip", "interpreter", "ready"]

VARIABLE = "FORKPROOF_PYTHON"
"""The environment variable that points to the Python which an environment is made with."""

_MAKE_SECONDS = 300.0
_FETCH_SECONDS = 3600.0
_TOLD = 4
"""Words that a Python tells of itself in `ready`: three of its version, one of its pip's."""
_PASSED = frozenset(
    (
        *("PATH", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"),
    )
)
_LAUNCHER = """#!/bin/sh
here=$(dirname -- "$0")
exec "$here/../venv/bin/python" -I "$here/../venv/bin/{script}" "$@"
"""


def interpreter(oldest: tuple[int, int], environment: Mapping[str, str] | None = None) -> Path:
    """A Python of at least this version: the named one, our own, or the newest on the PATH. Raises `InstallFailed`."""
    environment = os.environ if environment is None else environment
    if named := environment.get(VARIABLE, "").strip():
        return Path(named).expanduser().absolute()
    if sys.version_info[:2] >= oldest and not sysconfig.is_python_build():
        return Path(sys.executable)
    for minor in range(20, oldest[1] - 1, -1):
        for found in _places(f"{oldest[0]}.{minor}", environment):
            if _runs(found):
                return found
    wanted = ".".join(map(str, oldest))
    raise InstallFailed(
        f"this harness needs Python {wanted} or newer, and none is on the PATH",
        f"install one, or point {VARIABLE} to it",
    )


def ready(spec: str, environment: Mapping[str, str] | None = None) -> str:
    """The Python that this package would be installed with, looked at, in words. Raises `InstallFailed`.

    It must start, be new enough where `FORKPROOF_PYTHON` names it, and be able to make a virtual environment with pip:
    some systems ship Python without that part.
    """
    environment = os.environ if environment is None else environment
    oldest = _oldest(spec)
    python = interpreter(oldest, environment)
    look = "import ensurepip, sys, venv; print(*sys.version_info[:3], ensurepip.version())"
    with tempfile.TemporaryDirectory(prefix="forkproof-") as private:
        alone = {"HOME": private, "TMPDIR": private, "PATH": environment.get("PATH", ""), "LANG": "C.UTF-8"}
        try:
            command = (str(python), "-I", "-c", look)
            ended = child.run(command, environment=alone, directory=Path(private), deadline=_MAKE_SECONDS)
        except OSError as error:
            raise InstallFailed(f"{python} does not start: {error}", f"mend or unset {VARIABLE}") from error
    told = ended.out.split()
    if ended.status != 0 or len(told) != _TOLD:
        said = (ended.err.strip().splitlines() or ["without a word"])[-1]
        mend = "install its venv and ensurepip modules (Debian: python3-venv), or point FORKPROOF_PYTHON to another one"
        raise InstallFailed(f"{python} can't make a virtual environment: {said}", mend)
    if (int(told[0]), int(told[1])) < oldest:
        wanted = ".".join(map(str, oldest))
        raise InstallFailed(f"{python} is Python {'.'.join(told[:3])}, and {wanted} is needed", f"change {VARIABLE}")
    return f"Python {'.'.join(told[:3])} with pip {told[3]} ({python})"


def _places(version: str, environment: Mapping[str, str]) -> Iterator[Path]:
    """Where a Python of this version may be: on the PATH, and where pyenv keeps those that are not its chosen one."""
    if found := shutil.which(f"python{version}", path=environment.get("PATH")):
        yield Path(found)
    root = Path(environment.get("PYENV_ROOT") or Path(environment.get("HOME") or Path.home(), ".pyenv"))
    yield from sorted(root.glob(f"versions/{version}.*/bin/python{version}"))


def _runs(program: Path) -> bool:
    """Whether it starts: a version manager has a name for every Python, whether it is installed or not."""
    try:
        ended = child.run(
            (program, "-c", ""), environment=dict(os.environ), directory=program.parent, deadline=_MAKE_SECONDS
        )
    except OSError:
        return False
    return ended.status == 0


@dataclass(frozen=True, slots=True)
class Pip:
    """pip at work inside `staging`, an existing private directory; `user` is the environment of whoever asked."""

    staging: Path
    user: Mapping[str, str]

    def install(self, spec: str, program: str, prefix: Path, tick: Callable[[int], None]) -> str:
        """Put a package into `prefix/venv`, and a launcher of its script to `prefix/PROGRAM`; gives what pip verified.

        `spec` is `NAME==VERSION`; the script has the last part of `program` as its name. `tick` gets the bytes below
        `prefix`. Raises `InstallFailed`.
        """
        python = interpreter(_oldest(spec), self.user)
        venv = prefix / "venv"
        self._run("making a virtual environment", [str(python), "-m", "venv", str(venv)], _MAKE_SECONDS, None)
        report = self.staging / "report.json"
        command = [
            *(str(venv / "bin" / "python"), "-m", "pip", "install", spec, "--only-binary", ":all:"),
            *("--no-input", "--disable-pip-version-check", "--no-cache-dir", "--quiet", "--report", str(report)),
        ]
        self._run(f"fetching {spec}", command, _FETCH_SECONDS, lambda: tick(size(prefix)))
        launcher = prefix / program
        launcher.parent.mkdir(parents=True, exist_ok=True)
        launcher.write_text(_LAUNCHER.format(script=launcher.name), encoding="utf-8")
        launcher.chmod(0o755)
        return _integrity(report, spec)

    def _run(self, what: str, command: list[str], deadline: float, tick: Callable[[], None] | None) -> None:
        for place in ("home", "tmp"):
            (self.staging / place).mkdir(exist_ok=True)
        environment = {
            **{k: v for k, v in self.user.items() if k.upper() in _PASSED or k.startswith("PIP_")},
            **_settings(self.user),
            "HOME": str(self.staging / "home"),
            "TMPDIR": str(self.staging / "tmp"),
            "LANG": "C.UTF-8",
        }
        try:
            ended = child.run(command, environment=environment, directory=self.staging, deadline=deadline, tick=tick)
        except OSError as error:
            raise InstallFailed(f"{what}: {command[0]} did not start: {error}", "is that Python whole?") from error
        if ended.status != 0:
            how = "did not finish in time" if ended.status is None else f"failed with status {ended.status}"
            said = "; ".join(list(_complaints(ended.err or ended.out))[:3]) or "without a word"
            raise InstallFailed(f"{what}: it {how}: {said}", _hint(ended.err))


def _oldest(spec: str) -> tuple[int, int]:
    """The oldest Python that a package runs on."""
    return {"mistral-vibe": (3, 12)}.get(spec.partition("==")[0], (3, 11))


def _settings(user: Mapping[str, str]) -> dict[str, str]:
    """The user's own pip configuration, by its path, as pip would look for it below another HOME."""
    if "PIP_CONFIG_FILE" in user:
        return {}
    home = Path(user.get("HOME") or Path.home())
    places = (Path(user.get("XDG_CONFIG_HOME") or home / ".config", "pip", "pip.conf"), home / ".pip" / "pip.conf")
    return next(({"PIP_CONFIG_FILE": str(place)} for place in places if place.is_file()), {})


def _integrity(report: Path, spec: str) -> str:
    """The hash of the package's own wheel, from pip's report. Raises `InstallFailed` if it tells none."""
    name = spec.partition("==")[0].lower()
    try:
        told: Any = json.loads(report.read_bytes())
        for item in told["install"]:
            if str(item["metadata"]["name"]).lower() == name:
                return f"sha256-{item['download_info']['archive_info']['hashes']['sha256']}"
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InstallFailed(f"pip's report of {spec} can't be read: {error!r}", "try a newer Python") from error
    raise InstallFailed(f"pip's report does not name {spec}", "try a newer Python")


def _complaints(err: str) -> Iterator[str]:
    lines = [line.strip() for line in err.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    yield from errors or lines[-3:]


def _hint(err: str) -> str:
    if "No matching distribution" in err:
        return "is there such a version for this Python and this platform?"
    if re.search(r"No space left", err):
        return "the disk is full: free some space, or point FORKPROOF_HOME to a larger disk"
    if re.search(r"NewConnectionError|Temporary failure|Connection refused|ReadTimeout", err):
        return "the index can't be reached: check the network, the proxy, and `pip config list`"
    return "what pip says above is the cause; mend it and run this again"
