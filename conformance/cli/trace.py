"""`forkproof trace`: help for those who write traces."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import click

from forkproof.conformance.cli.wording import counted, fail

__all__ = ["trace"]

EXAMPLES = """\b
Example: write RECORD where you want to see what the reference does, then
  forkproof trace record my-traces/story.yaml            print the trace, filled in
  forkproof trace record my-traces/story.yaml --write    fill the file in
and read every value: the reference proposes, the clause decides.
"""


@click.group()
def trace() -> None:
    """Write traces."""


@trace.command(epilog=EXAMPLES)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--write", is_flag=True, help="Change the file in place of printing it.")
def record(file: Path, *, write: bool) -> None:
    """Fill in the expectations of FILE that say RECORD, from a run on the reference, for review."""
    from forkproof.conformance.trace.problem import TraceError
    from forkproof.conformance.transcribe import filled

    text = file.read_text(encoding="utf-8")
    try:
        values = _values(file)
    except TraceError as error:
        fail(str(error))
    if not values:
        fail(f"{file}: nothing says RECORD, so there is nothing to fill in")
    done = filled(text, values)
    if not write:
        click.echo(done, nl=False)
        return
    file.write_text(done, encoding="utf-8")
    click.echo(f"{file}: {counted(len(values), 'value')} recorded; read each of them before you keep it", err=True)


def _values(file: Path) -> dict[tuple[int, int], Any]:
    """What the reference gives for each placeholder, by its line and column. Raises `TraceError`."""
    from pydantic import ValidationError

    from forkproof.adapters.inprocess import create
    from forkproof.adapters.protocol import Deadlines
    from forkproof.conformance.trace.document import parse
    from forkproof.conformance.trace.load import slug_of
    from forkproof.conformance.trace.model import Trace
    from forkproof.conformance.trace.problem import Problem, TraceError
    from forkproof.conformance.trace.validation import problems_of
    from forkproof.conformance.transcribe import RECORDERS, blanks, without_blanks
    from forkproof.conformance.trial import observe

    document = parse(file.read_bytes(), str(file))
    found = list(blanks(document.value))
    problems = list(document.problems)
    for blank in found:
        if blank.kind not in RECORDERS:
            place = document.place.key(blank.path)
            said = f"`{blank.kind}` can't be recorded; these can: {', '.join(RECORDERS)}"
            problems.append(Problem(str(file), place.line, place.column, "FPL010", said))
    if problems:
        raise TraceError(problems)
    try:
        story = Trace.model_validate(without_blanks(document.value), by_alias=True, by_name=False)
    except ValidationError as error:
        raise TraceError(problems_of(error, document, str(file))) from None
    seen = asyncio.run(observe(create(), story, slug_of(file), 0, Deadlines()))
    steps = {step.index: step for step in seen.main.steps}
    places = {blank: document.place.at(blank.path) for blank in found}
    return {(p.line, p.column): RECORDERS[b.kind](seen, steps[b.step]) for b, p in places.items()}
