"""`forkproof harness install` and `forkproof harness doctor`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from forkproof.adapters.doctor import Check
    from forkproof.adapters.errors import AdapterError
    from forkproof.adapters.install import Outcome

__all__ = ["harness"]

_FAILED = 1
_USAGE = 3
_SIGNS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "failed": ("✗", "red"), "skipped": ("-", "yellow")}


@click.group()
def harness() -> None:
    """Install a harness that forkproof can drive, or find out why one does not run."""


@harness.command()
@click.argument("wanted", metavar="NAME[@VERSION]")
@click.option("--force", is_flag=True, help="Install again even if it is there.")
@click.option("--progress/--no-progress", default=True, help="Show how far it is (on standard error).")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def install(wanted: str, *, force: bool, progress: bool, as_json: bool) -> None:
    """Put a harness from npm into $FORKPROOF_HOME (default ~/.cache/forkproof).

    Takes the version that forkproof is tested with unless another is named. No install script of the package is run,
    and nothing outside $FORKPROOF_HOME is written. Exit status: 0 it is there, 1 it could not be installed, 3 no such
    harness or version.
    """
    from forkproof.adapters.errors import AdapterError, UnknownHarness
    from forkproof.adapters.install import install as put
    from forkproof.conformance.cli.progress import watch

    try:
        with _interruptible(), watch(sys.stderr, shown=progress, colour=_colours()) as watcher:
            outcome = put(wanted, force=force, progress=watcher)
    except AdapterError as error:
        _fail(error, as_json=as_json, status=_USAGE if isinstance(error, UnknownHarness) else _FAILED)
    except KeyboardInterrupt:
        click.echo("interrupted: nothing was installed, and what was there before is unchanged", err=True)
        sys.exit(_FAILED)
    _tell(outcome, as_json=as_json)


@harness.command()
@click.argument("wanted", metavar="NAME[@VERSION]|acp:PATH")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option("--no-color", is_flag=True, help="No colours (the variable NO_COLOR does the same).")
@click.option("--start/--no-start", default=True, help="Start an agent that speaks ACP, and try what it advertises.")
def doctor(wanted: str, *, as_json: bool, no_color: bool, start: bool) -> None:
    """Say what a harness lacks on this machine, and how to mend it.

    An agent that speaks ACP is started once, with a model of ours, and what it advertises is tried: a warning tells
    where it does something else. A recipe of yours is acp:PATH. Exit status: 0 nothing failed, 1 something did.
    """
    from forkproof.adapters.acp.probe import probe_of
    from forkproof.adapters.doctor import examine

    checks = []
    for check in examine(wanted, probe=probe_of(wanted) if start else None):
        checks.append(check)
        if not as_json:
            _show(check, colour=_colours() and not no_color)
    fine = all(check.status != "failed" for check in checks)
    if as_json:
        _print_json({"harness": wanted, "ok": fine, "checks": [_plain(check) for check in checks]})
    sys.exit(0 if fine else _FAILED)


def _tell(outcome: Outcome, *, as_json: bool) -> None:
    found = outcome.installation
    manifest = found.manifest
    unpacked = manifest.unpacked if manifest else 0
    if as_json:
        _print_json(
            {
                "ok": True,
                "already": outcome.already,
                "seconds": round(outcome.seconds, 2),
                "path": str(found.binary),
                "manifest": _plain(manifest),
            }
        )
    elif outcome.already:
        click.echo(f"{found.name} {found.version} is already installed: {found.binary}")
    else:
        spent = f"{unpacked / 1e6:.0f} MB, {outcome.seconds:.0f} s"
        click.echo(f"installed {found.name} {found.version} ({spent}): {found.binary}")


def _show(check: Check, *, colour: bool) -> None:
    sign, hue = _SIGNS[check.status]
    if not _pretty():
        sign = check.status
    click.secho(sign, fg=hue, nl=False, color=None if colour else False)
    click.echo(f" {check.name}: {check.detail}")
    if check.status == "failed" and check.mend:
        click.echo(f"    to mend it: {check.mend}")


def _fail(error: AdapterError, *, as_json: bool, status: int) -> NoReturn:
    if as_json:
        _print_json({"ok": False, "code": error.code, "cause": error.cause, "hint": error.hint})
    click.echo(f"error: {error}", err=True)
    sys.exit(status)


def _plain(value: Any) -> Any:
    from dataclasses import asdict

    return asdict(value) if value is not None else None


def _print_json(value: object) -> None:
    import json

    click.echo(json.dumps(value, indent=2))


def _pretty() -> bool:
    """Whether standard output is a terminal that can show a check mark."""
    return sys.stdout.isatty() and "utf" in (sys.stdout.encoding or "").lower()


def _colours() -> bool:
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let a TERM, as CI sends it on a cancelled job, clean up as Ctrl-C does."""

    def stop(_number: int, _frame: object) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
