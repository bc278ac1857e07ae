"""Why a harness can't be run here, found step by step, each finding with how to mend it.

Checks come one by one, cheap and basic ones first. One that makes no sense after an earlier failure is skipped, never
passed.
"""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from forkproof.adapters import installation, npm, pypi, registry
from forkproof.adapters.errors import AdapterError, BadRecipe, NotInstalled, UnknownHarness
from forkproof.adapters.installation import Installation
from forkproof.adapters.packages import PACKAGES, Package, platform_tag, request

__all__ = ["Check", "Probe", "examine"]

Probe = Callable[[Installation], "Iterable[Check]"]
"""A deeper check: starts the harness, looks at what it can do, and stops it again. Raises an `AdapterError`."""

_RUN_ROOM = 200 * 10**6
"""Bytes that the homes and workspaces of a run may take."""

_USUAL_ROOM = 600 * 10**6
"""Bytes to install a harness whose size is not known."""


@dataclass(frozen=True, slots=True)
class Check:
    """One finding: what was looked at, how it is, what was seen, and for a failure how to mend it.

    A `warning` is something that a person should know and that keeps nothing from running.
    """

    name: str
    status: Literal["ok", "warning", "failed", "skipped"]
    detail: str
    mend: str = ""


def examine(wanted: str, environment: Mapping[str, str] | None = None, probe: Probe | None = None) -> Iterator[Check]:
    """Examine `NAME` or `NAME@VERSION` with the user's environment (by default the process's); nothing is changed.

    A user's own recipe (`acp:PATH`) is examined too. Harness and machine are fine when no check failed. `probe` adds
    last checks that really start the harness.
    """
    environment = os.environ if environment is None else environment
    try:
        if (entry := registry.find(wanted)).choice.place is not None:
            yield from _own(entry, probe)
            return
        package, version = request(wanted)
    except (UnknownHarness, BadRecipe) as error:
        yield Check("known harness", "failed", error.cause, error.hint)
        return
    yield Check("known harness", "ok", f"{package.name}, pinned version {package.pinned}")
    found, finding = _installed(package, version, environment)
    yield _platform(package, found)
    yield _pip(package, environment, found) if package.source == "pypi" else _npm(environment, found)
    yield finding
    yield _runs(package, found)
    yield _hash(found)
    yield _room(package, version, environment, found)
    yield _loopback()
    yield _writable(environment)
    if probe is not None:
        yield from _starts(probe, found)


def _own(entry: registry.Entry, probe: Probe | None) -> Iterator[Check]:
    """The checks for a recipe of the user's; nothing of it is to be installed by us."""
    from forkproof.adapters.acp import recipe_of
    from forkproof.adapters.acp.program import own

    recipe = recipe_of(entry.choice)
    if recipe is None:
        mend = f"forkproof adapter check {entry.name}"
        yield Check("known harness", "failed", f"{entry.name} is an adapter of yours: the doctor knows none", mend)
        return
    yield Check("known harness", "ok", f"{recipe.name}, your recipe {entry.choice.place}")
    found = None
    try:
        found = own(recipe)
        yield Check("installed", "ok", f"your own program {found.binary}")
    except NotInstalled as error:
        yield Check("installed", "failed", error.cause, error.hint)
    yield _loopback()
    if probe is not None:
        yield from _starts(probe, found)


def _installed(
    package: Package, version: str | None, environment: Mapping[str, str]
) -> tuple[Installation | None, Check]:
    name = "installed"
    try:
        found = installation.installed(package.asked_for, version, environment)
    except NotInstalled as error:
        return None, Check(name, "failed", error.cause, error.hint)
    if found.manifest is None:
        return found, Check(name, "ok", f"{found.version}, your own program {found.binary} ({package.variable})")
    return found, Check(name, "ok", f"{found.version}, {_standing(package, found.version)}, in {found.binary}")


def _standing(package: Package, version: str) -> str:
    """How well forkproof knows a version."""
    if version == package.pinned:
        return "the pinned version"
    tried = "but tried with forkproof" if version in package.tested else "and never tried with forkproof"
    return f"not the pinned {package.pinned} {tried}"


def _platform(package: Package, found: Installation | None) -> Check:
    tag = platform_tag()
    if tag in package.platforms:
        return Check("platform", "ok", tag)
    if found is not None:
        return Check("platform", "ok", f"{tag}: nothing is published for it, but a program is there")
    mend = f"use one of {', '.join(package.platforms)}, or point {package.variable} to a program of your own"
    return Check("platform", "failed", f"{package.name} is not published for {tag}", mend)


def _npm(environment: Mapping[str, str], found: Installation | None) -> Check:
    with tempfile.TemporaryDirectory(prefix="forkproof-") as private:
        try:
            version = npm.Npm(Path(private), environment).version()
        except AdapterError as error:
            if found is not None:
                return Check("npm", "ok", f"not needed, {found.name} is there ({error.cause})")
            return Check("npm", "failed", error.cause, error.hint)
    return Check("npm", "ok", f"{version} ({npm.program(environment)})")


def _pip(package: Package, environment: Mapping[str, str], found: Installation | None) -> Check:
    """For a harness from PyPI: the Python that its virtual environment is made with, and what pip needs of it."""
    try:
        return Check("pip", "ok", pypi.ready(package.spec, environment))
    except AdapterError as error:
        if found is not None:
            return Check("pip", "ok", f"not needed, {found.name} is there ({error.cause})")
        return Check("pip", "failed", error.cause, error.hint)


def _runs(package: Package, found: Installation | None) -> Check:
    name = "program runs"
    if found is None:
        return Check(name, "skipped", "not installed")
    again = _again(package, found)
    try:
        printed = installation.printed_version(found.binary, needs_node=found.needs_node)
    except AdapterError as error:
        return Check(name, "failed", error.cause, error.hint or again)
    if printed != found.version:
        return Check(name, "failed", f"it prints version {printed}, not {found.version}", again)
    return Check(name, "ok", f"`--version` prints {printed}")


def _hash(found: Installation | None) -> Check:
    name = "program unchanged"
    if found is None:
        return Check(name, "skipped", "not installed")
    if found.manifest is None:
        return Check(name, "skipped", f"your own program has no manifest; its sha256 is {found.sha256}")
    actual = installation.digest(found.binary)
    if actual != found.sha256:
        detail = f"its sha256 is {actual}, the manifest says {found.sha256}"
        return Check(name, "failed", detail, _again(PACKAGES[found.name], found))
    return Check(name, "ok", f"sha256 {actual}, as in the manifest")


def _room(package: Package, version: str | None, environment: Mapping[str, str], found: Installation | None) -> Check:
    place = _existing(installation.home(environment))
    free = shutil.disk_usage(place).free
    needed = _RUN_ROOM
    if found is None:
        unpacked = package.sizes.get((version or package.pinned, platform_tag()))
        needed += unpacked * 4 // 3 if unpacked else _USUAL_ROOM
    detail = f"{free // 10**6} MB free in {place}, about {needed // 10**6} MB needed"
    if free < needed:
        return Check("disk space", "failed", detail, "free some space, or point FORKPROOF_HOME to a larger disk")
    return Check("disk space", "ok", detail)


def _loopback() -> Check:
    name = "loopback"
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            with socket.create_connection(server.getsockname(), timeout=10):
                pass
            return Check(name, "ok", "a port on 127.0.0.1 can be opened and reached")
    except OSError as error:
        mend = "the model server needs 127.0.0.1: allow it in the sandbox or container that this runs in"
        return Check(name, "failed", f"127.0.0.1 can't be used: {error}", mend)


def _writable(environment: Mapping[str, str]) -> Check:
    name = "FORKPROOF_HOME"
    wanted = installation.home(environment)
    place = _existing(wanted)
    try:
        tempfile.TemporaryFile(dir=place).close()
    except OSError as error:
        mend = "mend its permissions, or point FORKPROOF_HOME to a folder of yours"
        return Check(name, "failed", f"{wanted} can't be written to: {error}", mend)
    return Check(name, "ok", f"{wanted} " + ("is writable" if place == wanted else "can be made"))


def _starts(probe: Probe, found: Installation | None) -> Iterator[Check]:
    name = "starts"
    if found is None:
        yield Check(name, "skipped", "not installed")
        return
    try:
        more = tuple(probe(found))
    except AdapterError as error:
        yield Check(name, "failed", error.cause, error.hint)
        return
    yield Check(name, "ok", "it started and stopped")
    yield from more


def _again(package: Package, found: Installation) -> str:
    if found.manifest is None:
        return f"mend or unset {package.variable}"
    typed = package.asked_for if found.version == package.pinned else f"{package.asked_for}@{found.version}"
    return f"forkproof harness install --force {typed}"


def _existing(path: Path) -> Path:
    """The path itself or the nearest parent that exists."""
    return next(p for p in (path, *path.parents) if p.exists())
