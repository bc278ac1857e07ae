"""What a person chose of a harness: which one, in which version and variant, over which wire format.

`forkproof run codex@0.171.0 --variant legacy --wire responses` is one choice; a factory makes an adapter of it.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Choice"]


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to run one harness. None is the harness's own default of that kind.

    `name` is what `forkproof run` takes, without a version: `codex`, `acp:opencode`, `acp:./mine.toml`, `./my-adapter`.
    `version` is a release, `variant` one of the harness's own ways to work (its storage, its engine), `wire` a codec.
    `place` is the user's own file, where the name names one: a recipe, or the program of an adapter. Where it is not
    `to_run`, only what it declares is asked for, and its program need not be there.
    """

    name: str
    version: str | None = None
    variant: str | None = None
    wire: str | None = None
    place: Path | None = None
    to_run: bool = True

    @property
    def asked(self) -> str:
        """The name with its version, as a person types it."""
        return f"{self.name}@{self.version}" if self.version else self.name

    @property
    def slug(self) -> str:
        """A name for a folder: `codex-0.171.0-legacy`, `acp-opencode`, `my-adapter`."""
        base = self.place.stem if self.place is not None else self.name.replace(":", "-")
        return "-".join(part for part in (base, self.version, self.variant, self.wire) if part)

    @property
    def words(self) -> tuple[str, ...]:
        """The part of a `forkproof run` command line that makes this choice, quoted for a shell."""
        options = (("--variant", self.variant), ("--wire", self.wire))
        return (shlex.quote(self.asked), *(word for option, value in options if value for word in (option, value)))
