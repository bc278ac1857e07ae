"""What can go wrong while a harness is driven: one class per phase, each with a code, a cause and a hint.

The codes are stable; `forkproof explain CODE` prints a class's docstring. `verdict` is what a trace gets when the error
ends it (design section 6).
"""

from __future__ import annotations

from typing import ClassVar, Literal

__all__ = [
    "AdapterError",
    "BadRecipe",
    "Garbage",
    "HarnessDied",
    "HarnessHung",
    "InstallFailed",
    "NotInstalled",
    "StartFailed",
    "UnknownHarness",
    "codes",
]


class AdapterError(Exception):
    """A harness could not be driven. `cause` says what happened and where, `hint` what to do about it."""

    code: ClassVar[str] = "adapter-error"
    verdict: ClassVar[Literal["CRASH", "TIMEOUT"]] = "CRASH"

    def __init__(self, cause: str, hint: str = "") -> None:
        self.cause = cause
        self.hint = hint
        super().__init__(f"[{self.code}] {cause}" + (f"\n  hint: {hint}" if hint else ""))


class UnknownHarness(AdapterError):
    """No harness of that name is known. `forkproof list harnesses` prints the names that `forkproof run` takes."""

    code = "unknown-harness"


class BadRecipe(AdapterError):
    """A recipe can't be used: not TOML, a key missing, unknown or of the wrong kind, an unknown placeholder."""

    code = "bad-recipe"


class NotInstalled(AdapterError):
    """The harness is known but its program is not there.

    `forkproof harness install NAME` puts a pinned version into $FORKPROOF_HOME.
    """

    code = "not-installed"


class InstallFailed(AdapterError):
    """A harness could not be installed; nothing half-made is left behind and an older installation stays as it was."""

    code = "install-failed"


class StartFailed(AdapterError):
    """The harness's program did not start, or ended or refused before it was ready.

    `forkproof harness doctor NAME` looks for the cause.
    """

    code = "start-failed"


class HarnessDied(AdapterError):
    """The harness's process ended in the middle of a trace. What was seen up to then is kept in run.jsonl."""

    code = "harness-died"


class HarnessHung(AdapterError):
    """The harness did not answer within the phase's deadline; it was ended with all its descendants."""

    code = "harness-hung"
    verdict = "TIMEOUT"


class Garbage(AdapterError):
    """The harness wrote something that its protocol does not allow."""

    code = "garbage"


def codes() -> dict[str, type[AdapterError]]:
    """Every error class by its code."""
    classes = (
        AdapterError,
        UnknownHarness,
        BadRecipe,
        NotInstalled,
        InstallFailed,
        StartFailed,
        HarnessDied,
        HarnessHung,
        Garbage,
    )
    return {c.code: c for c in classes}
