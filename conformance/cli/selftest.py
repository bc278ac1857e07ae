"""`forkproof selftest`: whether the suite finds the faults that it is there for."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forkproof.conformance.cli.wording import fail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forkproof.conformance.selftest import KillMatrix, MutantRow
    from forkproof.reference.mutants import Mutant

__all__ = ["selftest"]

FAULTS = 1
SUITE_FAULT = 4

_EXAMPLES = """\b
Examples:
  forkproof selftest                            every trace on every mutant
  forkproof selftest --json out/selftest.json   keep the matrix
  forkproof selftest whole-history              one mutant on every trace
  forkproof selftest cut                        every mutant on the traces of one area
  forkproof list mutants                        what there is

\b
Exit codes: 0 every mutant is killed for the right reason, and every trace kills one;
1 it is not so; 3 usage; 4 the reference itself does not pass.
"""


@click.command(epilog=_EXAMPLES)
@click.argument("names", nargs=-1, metavar="[MUTANT|AREA|TRACE|PATH]...")
@click.option("--json", "json_file", type=click.Path(dir_okay=False), help="Write the kill matrix as JSON.")
@click.option("--markdown", type=click.Path(dir_okay=False), help="Write the kill matrix as a Markdown page.")
@click.option("-j", "--jobs", type=click.IntRange(1), default=None, help="Processes.  [default: one a CPU, at most 4]")
def selftest(names: tuple[str, ...], json_file: str | None, markdown: str | None, jobs: int | None) -> None:
    """Play the traces on the reference with one fault each, and print which trace finds which fault.

    A fault counts as found only by a check of the clause that it breaks. Names narrow it down: then a trace that finds
    none of some mutants, or a mutant that none of some traces finds, is no error.
    """
    from forkproof.conformance.selftest_bench import ReferenceFails
    from forkproof.conformance.selftest_pool import play_all
    from forkproof.conformance.selftest_report import summary
    from forkproof.conformance.trace.load import NoTraceError, TraceError, discover
    from forkproof.reference.mutants import every

    chosen, targets = _chosen(names)
    all_mutants = len(chosen) == len(every())
    try:
        matrix = play_all(discover(targets), chosen, jobs or min(os.cpu_count() or 1, 4), _tell)
    except NoTraceError as error:
        fail(f"{error}; nor is it a mutant (forkproof list mutants)")
    except TraceError as error:
        fail(str(error))
    except ReferenceFails as error:
        fail(f"the reference itself does not pass: {error}", SUITE_FAULT)
    _write(matrix, json_file, markdown)
    _print(matrix)
    faults = matrix.faults(all_mutants=all_mutants, all_traces=not targets or not all_mutants)
    for said in faults:
        click.echo(f"selftest: {said}", err=True)
    click.echo(summary(matrix))
    sys.exit(FAULTS if faults else 0)


def _chosen(names: Sequence[str]) -> tuple[Sequence[Mutant], list[str]]:
    """The mutants that are named (none: all), and the other names, which are traces."""
    from forkproof.reference import mutants

    named = {name: mutants.named(name) for name in names}
    chosen = [mutant for mutant in named.values() if mutant is not None]
    return chosen or mutants.every(), [name for name, mutant in named.items() if mutant is None]


def _tell(row: MutantRow) -> None:
    """Progress, for whoever watches: on standard error, and only where somebody does."""
    if sys.stderr.isatty():
        click.echo(f"\r\x1b[K{row.name}: {row.outcome}", nl=False, err=True)


def _print(matrix: KillMatrix) -> None:
    from forkproof.conformance.selftest_report import LEGEND, grid

    if sys.stderr.isatty():
        click.echo("\r\x1b[K", nl=False, err=True)
    for line in grid(matrix):
        click.echo(line)
    click.echo(LEGEND)


def _write(matrix: KillMatrix, json_file: str | None, markdown: str | None) -> None:
    from forkproof.conformance.selftest_report import as_markdown

    for place, written in ((json_file, _as_json), (markdown, as_markdown)):
        if place is not None:
            try:
                Path(place).parent.mkdir(parents=True, exist_ok=True)
                Path(place).write_text(written(matrix), encoding="utf-8")
            except OSError as error:
                fail(f"{place} can't be written: {error.strerror}")


def _as_json(matrix: KillMatrix) -> str:
    from forkproof.conformance.selftest import as_json

    return json.dumps(as_json(matrix), indent=1, ensure_ascii=False) + "\n"
