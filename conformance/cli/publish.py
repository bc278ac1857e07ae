"""`forkproof publish RUN`: keep a run for others, compressed, without what varies, a reason for each failure."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from forkproof.conformance.cli.wording import fail

__all__ = ["publish"]

EXAMPLES = """\b
Examples:
  forkproof run codex --out out/codex
  forkproof publish out/codex                    reports/published/codex/0.171.0/run.jsonl.xz
  forkproof publish out/mine --baseline deviations.yaml --to published

\b
Only a whole, complete run is published, and only if each of its failures is a known
deviation with a reason. Without --baseline the file of deviations that comes with the
adapter for this release and variant is taken.
"""

SURPRISES = 1


@click.command(epilog=EXAMPLES)
@click.argument("run", metavar="RUN", type=click.Path(exists=True))
@click.option("--baseline", type=click.Path(dir_okay=False), help="Known deviations.  [default: the adapter's own]")
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False),
    default="reports/published",
    show_default=True,
    help="Folder of all published runs.",
)
def publish(run: str, baseline: str | None, folder: str) -> None:
    """Write RUN (a folder or a run.jsonl) to the published runs, as everybody may read it."""
    from forkproof.conformance.baseline import BaselineError, check_baseline, load_baseline
    from forkproof.conformance.contract import load_contract
    from forkproof.conformance.published import UnpublishableRun, baseline_of, packed, place_of
    from forkproof.conformance.trace.problem import TraceError
    from forkproof.reports.runlog import RunLogError, read

    try:
        record = read(Path(run))
        started, contract = record.started, load_contract()
        if baseline is None:
            known = baseline_of(started)
        else:
            check_baseline(Path(baseline), started.harness.name, started.adapter.variant)
            known = load_baseline(Path(baseline), datetime.now(UTC).date())
        if known is not None and started.profile is not None:
            known = known.within(contract.profile(started.profile))
        data = packed(record, contract, known)
    except UnpublishableRun as error:
        fail(str(error), SURPRISES)
    except (RunLogError, BaselineError, TraceError) as error:
        fail(str(error))
    place = Path(folder) / place_of(started)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    except OSError as error:
        fail(f"{place} can't be written: {error.strerror or error}")
    click.echo(f"{place}: {len(data) / 1000:.0f} kB")
