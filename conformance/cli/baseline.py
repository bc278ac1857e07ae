"""`forkproof baseline`: keep the file of known deviations in step with what runs show."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from forkproof.conformance.cli.wording import fail

if TYPE_CHECKING:
    from forkproof.reports.runlog import RunRecord

__all__ = ["baseline"]

EXAMPLES = """\b
Examples:
  forkproof run codex --out out/codex
  forkproof baseline update out/codex adapters/codex/deviations.yaml

New entries get a reason that begins with TODO: look at the wire log in run.jsonl until you know
who is wrong, then write the reason down. A run with a baseline that has a TODO fails.

\b
A race of the harness is lost in some runs only. From several runs, whole ones or of the traces that
vary, its entry says in how many plays it failed (`sometimes: 3 of 8`); it may pass then:
  forkproof baseline update out/kimi-1 out/kimi-2 out/kimi-3 kimi-code.yaml
"""


@click.group()
def baseline() -> None:
    """Known deviations of a harness: strict both ways, each with a reason."""


@baseline.command(epilog=EXAMPLES)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=click.Path(exists=True))
@click.argument("file", type=click.Path(dir_okay=False))
def update(runs: tuple[str, ...], file: str) -> None:
    """Write the failures of each RUN (a folder or a run.jsonl) to FILE, keeping the reasons that still hold.

    Entries of checks that pass now, or that no run had, are taken out; those of a race stay.
    """
    from forkproof.conformance.baseline import BaselineError
    from forkproof.conformance.baseline_update import write_baseline
    from forkproof.reports.runlog import RunLogError

    try:
        records = [_complete(Path(run)) for run in runs]
        ((harness, version, variant),) = _driven(records)
        kept, fresh = write_baseline(Path(file), harness, version, [record.checks for record in records], variant)
    except (BaselineError, RunLogError) as error:
        fail(str(error))
    click.echo(f"{file}: {kept} kept, {fresh} new" + (" (write down why, in place of TODO)" if fresh else ""))


def _complete(run: Path) -> RunRecord:
    """The record of a complete run: only that can say what is known."""
    from forkproof.conformance.baseline import BaselineError
    from forkproof.reports.runlog import read

    record = read(run)
    if not record.complete:
        raise BaselineError(f"{run}: the run is not complete, so it can't say what is known")
    return record


def _driven(records: list[RunRecord]) -> set[tuple[str, str, str]]:
    """The one harness, version and variant that all these runs drove. Raises `BaselineError`."""
    from forkproof.conformance.baseline import BaselineError

    found = {(r.started.harness.name, r.started.harness.version, r.started.adapter.variant) for r in records}
    if len(found) > 1:
        told = " and ".join(" ".join(filter(None, each)) for each in sorted(found))
        raise BaselineError(f"the runs are of {told}: a baseline is of one harness, in one version and variant")
    return found
