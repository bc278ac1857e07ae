"""`forkproof schema`: the JSON Schemas of what crosses forkproof's borders."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module

import click

__all__ = ["SCHEMAS", "schema"]

SCHEMAS: Mapping[str, str] = {
    "trace": "forkproof.conformance.trace.schema:trace_schema",
    "run": "forkproof.reports.lines:run_schema",
    "adapter": "forkproof.adapters.stdio.schema:adapter_schema",
}
"""Name -> where the function is that gives the schema."""

_EXAMPLES = """\b
Examples:
  forkproof schema trace > trace.schema.json   for an editor: `# yaml-language-server: $schema=trace.schema.json`
  forkproof schema run | python -m json.tool   one line of run.jsonl
"""


@click.command(epilog=_EXAMPLES)
@click.argument("name", type=click.Choice(list(SCHEMAS)))
def schema(name: str) -> None:
    """Print a JSON Schema (draft 2020-12): `trace` for a trace file, `run` for a line of run.jsonl.

    `adapter` is for a line of the adapter protocol, in either direction.
    """
    module, _, function = SCHEMAS[name].partition(":")
    click.echo(json.dumps(getattr(import_module(module), function)(), indent=2))
