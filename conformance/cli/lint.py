"""`forkproof lint`: whether traces are well made, without playing them."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forkproof.conformance.cli.wording import counted, fail

if TYPE_CHECKING:
    from forkproof.conformance.trace.problem import Problem

__all__ = ["lint"]

_PROBLEMS = 1

_EXAMPLES = """\b
Examples:
  forkproof lint                    the shipped traces
  forkproof lint my-traces          a folder of your own
  forkproof lint traces/cut --json  one object a problem
  forkproof lint my.yaml --mutants  also: can each check fail? (plays all mutants)
  forkproof explain FPL034          what a code means, and how to mend it

\b
Exit codes: 0 no problem; 1 problems; 3 no such file or folder, or no trace in it.
"""


@click.command(epilog=_EXAMPLES)
@click.argument("paths", nargs=-1, metavar="[PATH|AREA|TRACE]...")
@click.option("--mutants", is_flag=True, help="Play all mutants too, and tell the checks that none of them can fail.")
@click.option("--json", "as_json", is_flag=True, help="Print the problems as a JSON list.")
def lint(paths: tuple[str, ...], *, mutants: bool, as_json: bool) -> None:
    """Check traces without playing them: one line a problem, `file:line:column: code message`."""
    from forkproof.conformance.trace.lint import lint_files_at
    from forkproof.conformance.trace.load import NoTraceError, discover

    try:
        files = discover(paths)
    except NoTraceError as error:
        fail(str(error))
    problems = lint_files_at(files)
    if mutants and not problems:
        problems = _unfailable(files)
    if as_json:
        click.echo(json.dumps([asdict(problem) for problem in problems], indent=2))
    else:
        for problem in problems:
            click.echo(problem)
        # On standard error, so that standard output holds problems only.
        click.echo(f"{counted(len(files), 'trace')}, {counted(len(problems), 'problem')}", err=True)
    sys.exit(_PROBLEMS if problems else 0)


def _unfailable(files: list[Path]) -> list[Problem]:
    from forkproof.conformance.selftest_bench import ReferenceFails
    from forkproof.conformance.unfailable import unfailable

    try:
        return unfailable(files)
    except ReferenceFails as error:
        fail(f"the reference does not pass these traces: {error}", _PROBLEMS)
