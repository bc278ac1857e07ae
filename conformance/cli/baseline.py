"""`forkproof baseline`: keep the file of known deviations in step with what runs show."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from forkproof.reports.runlog import RunRecord

__all__ = ["baseline"]

EXAMPLES = """\b
Example:
  forkproof run codex --out out/codex
  forkproof baseline update out/codex adapters/codex/deviations.yaml

New entries get a reason that begins with TODO: look at the wire log in run.jsonl until you know
who is wrong, then write the reason down. A run with a baseline that has a TODO fails.

\b
A race shows in some runs only. Play it some times, and say so in its entry; it may pass then:
  sometimes: 3 of 8          # failed in 3 plays of 8
  or: [0123456789ab]         # fingerprints of other ways in which it failed
"""


@click.group()
def baseline() -> None:
    """Known deviations of a harness: strict both ways, each with a reason."""


@baseline.command(epilog=EXAMPLES)
@click.argument("run", type=click.Path(exists=True))
@click.argument("file", type=click.Path(dir_okay=False))
def update(run: str, file: str) -> None:
    """Write the failures of RUN (a folder or a run.jsonl) to FILE, keeping the reasons that still hold.

    Entries of checks that pass now, or that this run did not have, are taken out; a race's (`sometimes`) stay.
    """
    from forkproof.conformance.baseline import BaselineError, write_baseline
    from forkproof.reports.runlog import RunLogError

    try:
        record = _whole(Path(run))
        rows = [
            {"id": c.id, "verdict": c.verdict, "fingerprint": c.fingerprint, "reason": c.reason}
            for c in record.checks
            if c.verdict in {"FAIL", "XFAIL", "UNTESTABLE", "TIMEOUT", "CRASH"}
        ]
        passed = {c.id for c in record.checks if c.verdict == "PASS"}
        stamp, variant = record.started.harness, record.started.adapter.variant
        kept, fresh = write_baseline(Path(file), stamp.name, stamp.version, rows, variant, passed)
    except (BaselineError, RunLogError) as error:
        click.echo(f"forkproof: error: {error}", err=True)
        sys.exit(3)
    click.echo(f"{file}: {kept} kept, {fresh} new" + (" (write down why, in place of TODO)" if fresh else ""))


def _whole(run: Path) -> RunRecord:
    """The record of a complete run: only that can say what is known."""
    from forkproof.conformance.baseline import BaselineError
    from forkproof.reports.runlog import read

    record = read(run)
    if not record.complete:
        raise BaselineError(f"{run}: the run is not complete, so it can't say what is known")
    return record
