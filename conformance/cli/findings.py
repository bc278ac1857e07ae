"""`forkproof findings`: the page that tells people what the published runs found, made or checked."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from forkproof.conformance.cli.wording import counted, fail

__all__ = ["findings"]

EXAMPLES = """\b
Examples:
  forkproof findings                    renew docs/findings.md from reports/published
  forkproof findings --check            exit 1 if the page is not in step with the runs
"""

STALE = 1


@click.command(epilog=EXAMPLES)
@click.option(
    "--published",
    type=click.Path(exists=True, file_okay=False),
    default="reports/published",
    show_default=True,
    help="Folder of all published runs.",
)
@click.option("--page", "file", type=click.Path(dir_okay=False), default="docs/findings.md", show_default=True)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if the page would change.")
def findings(published: str, file: str, check: bool) -> None:
    """Renew the page of findings; what stands above its mark is kept."""
    from forkproof.conformance.contract import load_contract
    from forkproof.conformance.findings import page
    from forkproof.conformance.published import published_in
    from forkproof.conformance.trace.problem import TraceError
    from forkproof.reports.runlog import RunLogError, read

    place = Path(file)
    try:
        old = place.read_text(encoding="utf-8") if place.exists() else "# Findings\n"
        records = [read(run) for run in published_in(Path(published))]
        new = page(old, records, load_contract())
    except (RunLogError, TraceError) as error:
        fail(str(error))
    except OSError as error:
        fail(f"{file} can't be read: {error.strerror or error}")
    if not records:
        fail(f"no published run below {published}")
    if check:
        if old != new:
            click.echo(f"{file} is not in step with the published runs: run `forkproof findings`", err=True)
        sys.exit(STALE if old != new else 0)
    place.write_text(new, encoding="utf-8")
    click.echo(f"{file}: {counted(len(records), 'run')}")
