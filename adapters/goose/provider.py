"""Goose with another agent as its model: our scripted agent, put where Goose looks for the program of one it knows.

Goose starts the agent itself, one process for each session of its own, and keeps the agent's session id with every
answer that it stores. What a fork makes of that id is what this variant is for (clauses PRV-1, PRV-2, PRV-7).
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from forkproof.adapters import environment
from forkproof.adapters.goose.extension import GooseExtension
from forkproof.adapters.protocol import Trial

__all__ = ["PROGRAM", "WithAgent"]

PROGRAM = "amp-acp"
"""What Goose's provider of this name starts: a program on the PATH, without arguments or a key."""

_AGENT = Path(__file__).with_name("scripted_agent.py")


class WithAgent(GooseExtension):
    """Installs the agent in the trial's HOME before Goose starts; the recipe's PATH leads there."""

    def begin(self, trial: Trial, /) -> None:
        """As `GooseExtension.begin`; and write the program."""
        super().begin(trial)
        home = trial.root / "home"
        environment.make_home(home)
        program = home / ".local" / "bin" / PROGRAM
        program.parent.mkdir(mode=0o700, exist_ok=True)
        # Isolated from whatever else this Python knows: the agent needs its standard library alone.
        command = shlex.join([sys.executable, "-I", "-S", str(_AGENT)])
        program.write_text(f"#!/bin/sh\nexec {command}\n", encoding="utf-8")
        program.chmod(0o700)
