"""The user's own npm, asked for one package in a private place.

npm gets a HOME, a cache and a prefix of its own, and an environment built from nothing plus what it takes to reach the
registry. For the registry's settings it is pointed at the user's `.npmrc` (`npm_config_userconfig`) in place of having
each asked by `npm config get`: that command never prints a token and can't list the scoped and per-host keys, so a
private registry would be out of reach. `npm view` and `npm install` only read that file, and every setting in it that
could change what is installed, or where, or run a script, is overruled by an option on the command line.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forkproof.adapters import child
from forkproof.adapters.errors import InstallFailed

__all__ = ["Dist", "Npm", "integrity", "program", "size"]

_ASK_SECONDS = 180.0
_FETCH_SECONDS = 3600.0
_SILENT_SECONDS = 300.0
_ROOM = 1 << 20

_PASSED = frozenset(
    # where programs are; proxies; certificates
    (
        *("PATH", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "PROXY"),
        *("NODE_EXTRA_CA_CERTS", "NODE_USE_SYSTEM_CA", "SSL_CERT_FILE", "SSL_CERT_DIR"),
        # where a version manager's npm finds its Node once HOME is another
        *("VOLTA_HOME", "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR"),
    )
)
_PASSED_SETTING = re.compile(
    r"npm_config_(@.*|//.*|registry|ca|cafile|cert|key|(https?_)?proxy|no_?proxy|strict_ssl|globalconfig"
    r"|fetch_\w+|maxsockets|before|min_release_age)",
    re.IGNORECASE,
)
_ALWAYS = (
    *("--ignore-scripts", "--location=project", "--no-update-notifier"),
    *("--no-progress", "--no-color", "--loglevel=error"),
)
_INSTALL = (
    *("--no-save", "--no-package-lock", "--no-bin-links", "--no-audit", "--no-fund", "--no-dry-run"),
    *("--install-strategy=hoisted", "--no-json"),
)

_HINTS = {
    "ENOSPC": "the disk is full: free some space, or point FORKPROOF_HOME to a larger disk",
    "EACCES": "that place can't be written to: mend its permissions, or point FORKPROOF_HOME elsewhere",
    "E401": "the registry wants a login: check the token in your .npmrc",
    "E403": "the registry refuses this package: ask whoever runs it to allow it",
    "EINTEGRITY": "what arrived differs from what the registry announced: try again, or check a proxy in between",
}
_UNREACHABLE = re.compile(r"ENOTFOUND|ECONN\w+|EAI_AGAIN|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|E50\d")
_CERTIFICATE = re.compile(r"\w*CERT\w*|\w*ISSUER\w*")
_NOISE = (
    "A complete log of this run",
    "Note that you can also install",
    "tarball, folder, http url",
    "code ",
    "syscall ",
    "errno ",
)


@dataclass(frozen=True, slots=True)
class Dist:
    """What the registry says about a package: its integrity (SRI), and its size in bytes once unpacked, if given."""

    integrity: str
    unpacked: int | None


def program(environment: Mapping[str, str]) -> str:
    """The npm on the user's PATH. Raises `InstallFailed` when there is none."""
    found = shutil.which("npm", path=environment.get("PATH"))
    if found is None:
        raise InstallFailed("npm is not on the PATH", "install Node.js with npm (18 or newer), then run this again")
    return found


@dataclass(frozen=True, slots=True)
class Npm:
    """npm at work inside `staging`, an existing private directory; `user` is the environment of whoever asked."""

    staging: Path
    user: Mapping[str, str]

    def version(self) -> str:
        """The version of npm. Raises `InstallFailed` when there is no npm or it does not run."""
        return self._run("asking npm for its version", ["--version"], deadline=60.0).out.strip()

    def dist(self, asked: str) -> Dist:
        """What the registry says about a package, `NAME@VERSION`. Raises `InstallFailed`."""
        # One retry: a registry that is not there should be told in seconds, not after minutes of npm's patience.
        command = ["view", asked, "dist", "--json", "--fetch-retries=1", "--fetch-retry-mintimeout=1000"]
        what = f"asking the registry about {asked}"
        ended = self._run(what, command, deadline=_ASK_SECONDS)
        try:
            told = json.loads(ended.out)
            return Dist(str(told["integrity"]), _count(told.get("unpackedSize")))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            cause = f"{what}: npm's answer names no integrity: {ended.out[:200]!r}"
            raise InstallFailed(cause, _no_such_version(asked)) from error

    def install(self, spec: str, prefix: Path, tick: Callable[[int], None]) -> None:
        """Put a package into `prefix/node_modules`, running none of its scripts. Raises `InstallFailed`.

        `tick` gets the bytes below `prefix` several times a second; npm unpacks while it downloads, so they grow
        steadily. When nothing has grown for five minutes the download counts as stuck.
        """
        seen = (0, time.monotonic())

        def look() -> None:
            nonlocal seen
            there = size(prefix)
            tick(there)
            moving = there + size(self.staging / "cache")
            if moving != seen[0]:
                seen = (moving, time.monotonic())
            elif time.monotonic() - seen[1] > _SILENT_SECONDS:
                raise InstallFailed(
                    f"npm stopped fetching {spec}: nothing arrived for {_SILENT_SECONDS:.0f} seconds",
                    "check the network or the proxy, then run this again",
                )

        command = ["install", spec, "--prefix", str(prefix), *_INSTALL]
        self._run(f"fetching {spec}", command, deadline=_FETCH_SECONDS, tick=look)

    def _run(
        self, what: str, arguments: list[str], *, deadline: float, tick: Callable[[], None] | None = None
    ) -> child.Ended:
        npm = program(self.user)
        command = [npm, *arguments, "--cache", str(self.staging / "cache"), *_ALWAYS]
        environment = _environment(self.user, self.staging)
        try:
            ended = child.run(command, environment=environment, directory=self.staging, deadline=deadline, tick=tick)
        except OSError as error:
            raise InstallFailed(f"{what}: {npm} did not start: {error}", "reinstall Node.js with npm") from error
        if ended.status != 0:
            raise self._failure(what, ended, arguments)
        return ended

    def _failure(self, what: str, ended: child.Ended, arguments: list[str]) -> InstallFailed:
        lines = list(_complaints(ended.err))
        said = "; ".join(lines[:3]) or "without a word"
        how = "did not finish in time" if ended.status is None else f"failed with status {ended.status}"
        return InstallFailed(f"{what}: npm {how}: {said}", self._hint(ended.err, arguments))

    def _hint(self, err: str, arguments: list[str]) -> str:
        code = found[1] if (found := re.search(r"^npm (?:error|ERR!) code (\S+)", err, re.MULTILINE)) else ""
        if code in {"E404", "ETARGET"}:
            return _no_such_version(arguments[1])
        if _UNREACHABLE.fullmatch(code):
            return "the registry can't be reached: check the network, HTTPS_PROXY, and `npm config get registry`"
        if _CERTIFICATE.fullmatch(code):
            return "the registry's certificate is not trusted: set NODE_EXTRA_CA_CERTS, or npm's `cafile`"
        # On a full disk npm's own words may be lost, as they too go to a file.
        full = not code and shutil.disk_usage(self.staging).free < _ROOM
        return (
            _HINTS["ENOSPC"]
            if full
            else _HINTS.get(code, "what npm says above is the cause; mend it and run this again")
        )


def _environment(user: Mapping[str, str], staging: Path) -> dict[str, str]:
    """Only what reaching the registry takes, and private places for everything that npm writes."""
    passed = {k: v for k, v in user.items() if k.upper() in _PASSED or _PASSED_SETTING.fullmatch(k.replace("-", "_"))}
    private = {"HOME": str(staging / "home"), "TMPDIR": str(staging / "tmp"), "LANG": "C.UTF-8"}
    for place in ("home", "tmp"):
        (staging / place).mkdir(exist_ok=True)
    return {**passed, **_settings(user), **private}


def _settings(user: Mapping[str, str]) -> dict[str, str]:
    """What makes the user's `.npmrc` mean the same from another HOME: its path, the variables it names, its `~`."""
    homes = user.get("HOME") or str(Path.home())
    named = next((v for k, v in user.items() if k.lower() == "npm_config_userconfig"), "")
    path = Path(named or Path(homes, ".npmrc"))
    try:
        text = path.read_text(errors="replace")
    except OSError:
        return {}
    settings = {name: user[name] for name in re.findall(r"\$\{(\w+)\??\}", text) if name in user}
    if tilde := re.search(r"^\s*cafile\s*=\s*\"?(?:~|\$\{HOME\})/([^\"\n]+)", text, re.MULTILINE):
        settings["npm_config_cafile"] = str(Path(homes, tilde[1].strip()))
    return {**settings, "npm_config_userconfig": str(path)}


def _no_such_version(spec: str) -> str:
    package = spec.rpartition("npm:")[2].rpartition("@")[0]
    return f"is there such a version for this platform? `npm view {package} versions` lists what there is"


def integrity(prefix: Path, folder: str) -> str | None:
    """The integrity that npm verified for the package in `node_modules/FOLDER`, from the record that it keeps there."""
    try:
        record: Any = json.loads((prefix / "node_modules" / ".package-lock.json").read_bytes())
        return str(record["packages"][f"node_modules/{folder}"]["integrity"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def size(directory: Path) -> int:
    """The bytes of all files below a directory, which may change meanwhile."""
    total = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            with suppress(OSError):  # gone again: npm moves things about
                total += os.lstat(os.path.join(folder, name)).st_size  # noqa: PTH118 - four times a second
    return total


def _complaints(err: str) -> Iterator[str]:
    """The lines of npm's complaint that say something, without their prefix; all lines if npm broke before it spoke."""
    lines = re.findall(r"^npm (?:error|ERR!)[ \t]*(?:\d{3}\b)?(.*)$", err, re.MULTILINE)
    words = [line.strip() for line in lines]
    kept = [w for w in words if w and not w.startswith(_NOISE)]
    yield from kept or err.strip()[-300:].splitlines()


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None
