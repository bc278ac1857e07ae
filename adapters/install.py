"""Putting a pinned harness from npm or PyPI into `$FORKPROOF_HOME`, whole or not at all.

Everything is made in a staging folder beside the final place, checked there, and renamed into place. A lock keeps two
installs of one harness apart. A run that was killed leaves at most a staging folder, which the next one clears away.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from forkproof.adapters import installation, npm, pypi
from forkproof.adapters.errors import AdapterError, InstallFailed, NotInstalled
from forkproof.adapters.installation import Installation, Manifest, digest, installed, printed_version
from forkproof.adapters.packages import Release, platform_tag, request

__all__ = ["Installation", "Outcome", "Progress", "install", "installed"]

_STAGING = ".staging-"
_REPLACED = ".replaced-"


class Progress(Protocol):
    """Who watches an installation."""

    def step(self, text: str) -> None:
        """A new step has begun, e.g. `checking codex 0.171.0`."""
        ...

    def arrived(self, done: int, total: int | None) -> None:
        """So many bytes are unpacked, of so many in the end where that is known (an estimate)."""
        ...


class _Unwatched:
    def step(self, text: str) -> None:
        """Nobody looks."""

    def arrived(self, done: int, total: int | None) -> None:
        """Nobody looks."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an install came to; `already` means that it was there and nothing was done."""

    installation: Installation
    already: bool
    seconds: float


def install(
    wanted: str,
    *,
    environment: Mapping[str, str] | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Outcome:
    """Install `NAME` or `NAME@VERSION`, or find it installed; `force` makes it anew.

    `environment` is the user's (by default the process's): PATH, proxies, npm's settings, `FORKPROOF_HOME`. Raises
    `UnknownHarness` for a wrong name or version, and `InstallFailed` for everything else; then, and on an interrupt,
    nothing half-made is left and an older installation stays as it was.
    """
    environment = os.environ if environment is None else environment
    progress = progress or _Unwatched()
    package, version = request(wanted)
    release = package.release(version, platform_tag())
    shelf = installation.shelf(release.name, environment)
    started = time.monotonic()
    # First without the lock: an installation appears by one rename, and its place may be read-only by now.
    found = None if force else _present(shelf / release.version)
    if found is None:
        with _plainly(release, shelf), _locked(shelf, progress):
            _clear(shelf)
            found = None if force else _present(shelf / release.version)
            made = found or _make(release, shelf, environment, progress)
    else:
        made = found
    return Outcome(made, already=found is not None, seconds=time.monotonic() - started)


def _present(folder: Path) -> Installation | None:
    """What is installed in a folder; None also for a damaged installation, which is to be made anew."""
    try:
        return installation.at(folder)
    except (OSError, ValueError):
        return None


def _make(release: Release, shelf: Path, user: Mapping[str, str], progress: Progress) -> Installation:
    with _staging(shelf) as staging:
        prefix = staging / "prefix"
        prefix.mkdir()
        if release.source == "pypi":
            _has_room(shelf, release.unpacked)
            progress.step(f"fetching {release.name} {release.version} and what it needs from PyPI")
            pip = pypi.Pip(staging, user)
            verified = pip.install(
                release.spec, release.programs[0], prefix, lambda done: progress.arrived(done, release.unpacked)
            )
            progress.step(f"checking {release.name} {release.version}")
            _check(release, prefix, prefix, verified).write(prefix)
            _put(prefix, shelf / release.version)
            return installation.at(shelf / release.version)
        client = npm.Npm(staging, user)
        progress.step(f"asking npm about {release.name} {release.version}")
        dist = client.dist(release.asked)
        total = dist.unpacked or release.unpacked
        _has_room(shelf, total)
        progress.step(f"fetching {release.name} {release.version} for {release.platform}")
        client.install(release.spec, prefix, lambda done: progress.arrived(done, total))
        progress.step(f"checking {release.name} {release.version}")
        folder = prefix / "node_modules" / release.folder
        _check(release, prefix, folder, npm.integrity(prefix, release.folder) or dist.integrity).write(prefix)
        _put(prefix, shelf / release.version)
    return installation.at(shelf / release.version)


def _has_room(shelf: Path, total: int | None) -> None:
    """Fail before the download where it can't fit: npm keeps the packed file too, about a third as large."""
    needed = (total or 0) * 4 // 3
    free = shutil.disk_usage(shelf).free
    if free < needed:
        raise OSError(
            errno.ENOSPC, f"{free // 10**6} MB are free and about {needed // 10**6} MB are needed", str(shelf)
        )


def _check(release: Release, prefix: Path, folder: Path, integrity: str) -> Manifest:
    """Look at what came, in `folder`, before anyone may use it. Raises `InstallFailed` if it is not what was asked."""
    binary = next((folder / p for p in release.programs if (folder / p).is_file()), None)
    if binary is None:
        raise InstallFailed(
            f"{release.spec} holds no program at {' or '.join(release.programs)}",
            "this version may be laid out differently; try the pinned one",
        )
    if not (release.needs_node or os.access(binary, os.X_OK)):
        raise InstallFailed(
            f"{binary.relative_to(prefix)} of {release.spec} is not executable", "try the pinned version"
        )
    try:
        printed = printed_version(binary, needs_node=release.needs_node)
    except AdapterError as error:
        raise InstallFailed(f"{release.spec} came, but does not run: {error.cause}", error.hint) from error
    if printed != release.version:
        raise InstallFailed(
            f"{release.spec} came, but its program says that it is version {printed}",
            "the registry or a mirror serves another version; check `npm config get registry`",
        )
    return Manifest(
        name=release.name,
        version=release.version,
        platform=release.platform,
        spec=release.spec,
        integrity=integrity,
        binary=binary.relative_to(prefix).as_posix(),
        sha256=digest(binary),
        size=binary.stat().st_size,
        unpacked=npm.size(prefix),
        installed_at=datetime.now(UTC).isoformat(timespec="seconds"),
        needs_node=release.needs_node,
    )


# --- The folder: lock, staging, swap -------------------------------------------------------------------------------


@contextmanager
def _locked(shelf: Path, progress: Progress) -> Iterator[None]:
    """Keep other installs of this harness out; the lock ends with the process, however that ends."""
    shelf.mkdir(parents=True, exist_ok=True)
    with (shelf / ".lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.step(f"waiting for another install of {shelf.name} to finish")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def _staging(shelf: Path) -> Iterator[Path]:
    """A private folder on the same file system as the final place, gone afterwards."""
    staging = Path(tempfile.mkdtemp(prefix=_STAGING, dir=shelf))
    try:
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _put(made: Path, target: Path) -> None:
    """Rename the new installation into place; one that is there is moved aside first, and back should that fail."""
    aside = target.parent / (_REPLACED + target.name)
    with suppress(FileNotFoundError):
        target.rename(aside)
    try:
        made.rename(target)
    except BaseException:  # an interrupt too must not leave the place empty
        with suppress(FileNotFoundError):
            aside.rename(target)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _clear(shelf: Path) -> None:
    """Undo what a killed install left: staging folders go, and an installation caught aside in the swap comes back."""
    for aside in shelf.glob(_REPLACED + "*"):
        target = shelf / aside.name.removeprefix(_REPLACED)
        if target.exists():
            shutil.rmtree(aside, ignore_errors=True)
        else:
            aside.rename(target)
    for left in shelf.glob(_STAGING + "*"):
        shutil.rmtree(left, ignore_errors=True)


@contextmanager
def _plainly(release: Release, shelf: Path) -> Iterator[None]:
    """Name the harness and the place in every failure, and tell an `OSError` as one."""
    where = f"{release.name} {release.version} could not be installed into {shelf}"
    try:
        yield
    except NotInstalled as error:
        raise InstallFailed(f"{where}: {error.cause}", error.hint) from error
    except InstallFailed as error:
        raise InstallFailed(f"{where}: {error.cause}", error.hint) from error
    except OSError as error:
        full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        hint = "free some space" if full else "check that you may write there"
        what = error.strerror or str(error)
        which = f" ({error.filename})" if error.filename not in {None, str(shelf)} else ""
        raise InstallFailed(f"{where}: {what}{which}", f"{hint}, or point FORKPROOF_HOME elsewhere") from error
