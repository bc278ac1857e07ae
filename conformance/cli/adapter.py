"""`forkproof adapter`: for authors of adapters in any language."""

from __future__ import annotations

import click

__all__ = ["adapter"]


@click.group()
def adapter() -> None:
    """Write an adapter for your harness, in any language, and find out whether it keeps to the protocol."""


@adapter.command("serve-reference")
def serve_reference() -> None:
    """Serve the in-memory reference over the adapter protocol, on standard input and output.

    An adapter to compare yours with. It gets the verdicts that the reference gets in process.
    """
    from forkproof.adapters.inprocess import create
    from forkproof.adapters.stdio.serve import serve

    serve(create())
