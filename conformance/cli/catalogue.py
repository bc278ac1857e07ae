"""The traces that a command looks at, loaded; a command ends with a message where they can't be."""

from __future__ import annotations

from collections.abc import Iterable

import click

from forkproof.conformance.cli.wording import counted, fail
from forkproof.conformance.trace.checks import Check, check_ids
from forkproof.conformance.trace.load import LoadedTrace, NoTraceError, TraceError, discover, load

__all__ = ["cited", "loaded_traces"]


def loaded_traces(targets: Iterable[str] = ()) -> list[LoadedTrace]:
    """The traces that these paths, areas or slugs mean; without any, the shipped ones.

    Ends the command with exit code 3 if a target names nothing, or if a trace can't be loaded, after all its problems.
    """
    try:
        files = discover(targets)
    except NoTraceError as error:
        fail(str(error))
    loaded, broken = [], 0
    for file in files:
        try:
            loaded.append(load(file))
        except TraceError as error:
            broken += 1
            click.echo(error, err=True)
    if broken:
        fail(f"{broken} of {counted(len(files), 'trace')} can't be read")
    return loaded


def cited(traces: Iterable[LoadedTrace]) -> dict[str, list[Check]]:
    """Clause -> the checks that cite it, in the traces' order."""
    found: dict[str, list[Check]] = {}
    for trace in traces:
        for check in check_ids(trace):
            found.setdefault(check.clause, []).append(check)
    return found
