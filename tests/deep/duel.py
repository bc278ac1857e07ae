"""One program on the two references."""

from __future__ import annotations

from forkproof.reference.harness import Harness
from forkproof.reference.rules import RULES, Rules
from tests.deep.first_side import FirstSide
from tests.deep.naive_side import NaiveSide
from tests.deep.play import Play
from tests.deep.program import Program

__all__ = ["play"]


def play(program: Program, rules: Rules = RULES, harness: type[Harness] = Harness) -> int:
    """Play a program on both; how many steps it had. Raises `Disagreement`."""
    scene = Play(program.setup, FirstSide(program.setup, rules, harness), NaiveSide(program.setup))
    try:
        scene.run(program.steps)
    finally:
        scene.close()
    return scene.story.played
