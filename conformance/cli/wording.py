"""How commands word counts and faults."""

from __future__ import annotations

import sys
from typing import NoReturn

import click

__all__ = ["counted", "fail"]


def counted(number: int, noun: str) -> str:
    """`1 check`, `2 checks`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def fail(message: str, code: int = 3) -> NoReturn:
    """End the process with one line on standard error; the code is that of a wrong use unless another is given."""
    click.echo(f"forkproof: error: {message}", err=True)
    sys.exit(code)
