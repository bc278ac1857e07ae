"""The start of a program with three pipes, in a session of its own; each failure in words. Source: design section 5."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from forkproof.adapters.errors import StartFailed

__all__ = ["spawn"]


def spawn(
    argv: Sequence[str], directory: Path, environment: Mapping[str, str]
) -> tuple[subprocess.Popen[bytes], tuple[int, int, int]]:
    """Start the program; gives it and our ends of its three streams. Raises `StartFailed`."""
    if not directory.is_dir():
        raise StartFailed(f"{argv[0]} can't start in {directory}: no such directory", "make the directory first")
    fds: list[int] = []
    try:
        for _ in range(3):
            fds += os.pipe()
        in_read, in_write, out_read, out_write, err_read, err_write = fds
        leader = subprocess.Popen(  # noqa: S603  # an argument list of the adapter's own, never a shell
            list(argv),
            cwd=directory,
            env=dict(environment),
            stdin=in_read,
            stdout=out_write,
            stderr=err_write,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        for fd in fds:
            os.close(fd)
        raise _start_failed(argv[0], error) from error
    for fd in (in_read, out_write, err_write):
        os.close(fd)
    return leader, (in_write, out_read, err_read)


def _start_failed(program: str, error: OSError | ValueError) -> StartFailed:
    match error:
        case FileNotFoundError():
            return StartFailed(
                f"there is no program {program}, or none to interpret it",
                "`forkproof harness install NAME` installs a harness; a script's first line must name a program too",
            )
        case PermissionError():
            return StartFailed(f"{program} may not be executed: {error.strerror}", f"try: chmod +x {program}")
        case OSError():
            return StartFailed(
                f"{program} can't be executed: {error.strerror}", "is it made for this system and processor?"
            )
    return StartFailed(f"{program} can't be executed: {error}", "no argument or variable may hold a NUL character")
