"""`forkproof adapter`: for authors of adapters in any language."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forkproof.conformance.cli.wording import fail

if TYPE_CHECKING:
    from forkproof.adapters.stdio.finding import Finding

__all__ = ["adapter"]

_FAILED = 1
_NOTHING_RAN = 2

_CHECK = """\b
Examples:
  forkproof adapter check ./my-adapter         a first story, then everything that an adapter should never be told
  forkproof adapter check adapter.mjs --json   for programs

\b
Exit status: 0 nothing failed, 1 something did, 2 the program can't be started, 3 wrong use.
"""


@click.group()
def adapter() -> None:
    """Write an adapter for your harness, in any language, and find out whether it keeps to the protocol.

    The contract for authors is docs/adapters.md; `forkproof schema adapter` prints the shape of every message.
    """


@adapter.command("serve-reference")
def serve_reference() -> None:
    """Serve the in-memory reference over the adapter protocol, on standard input and output.

    An adapter to compare yours with. It gets the verdicts that the reference gets in process.
    """
    from forkproof.adapters.inprocess import create
    from forkproof.adapters.stdio.serve import serve

    serve(create())


@adapter.command()
@click.option("--lang", type=click.Choice(("python", "node", "shell")), required=True, help="In which language.")
@click.argument("directory", type=click.Path(path_type=Path))
def init(lang: str, directory: Path) -> None:
    """Write an adapter to begin with to DIRECTORY: it works, and drives a tiny harness that stands for yours.

    Nothing that is there already is overwritten.
    """
    from forkproof.adapters.stdio.skeleton import write

    try:
        made = write(lang, directory)
    except OSError as error:
        fail(f"{error.filename or directory}: {error.strerror or error}; nothing was written")
    click.echo(f"wrote {made}")
    click.echo(f"next: forkproof adapter check {made}")
    click.echo(f"then: forkproof run {made if os.sep in str(made) else f'.{os.sep}{made}'} --profile core")


@adapter.command(epilog=_CHECK)
@click.argument("program", type=click.Path(path_type=Path))
@click.option(
    "--deadline",
    type=click.FloatRange(0, min_open=True),
    default=20.0,
    show_default=True,
    metavar="SECONDS",
    help="How long each answer may take.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option("--no-color", is_flag=True, help="No colours (the variable NO_COLOR does the same).")
def check(program: Path, deadline: float, *, as_json: bool, no_color: bool) -> None:
    """Check that PROGRAM keeps to the adapter protocol.

    First a story: it is described, started, runs a turn with a tool call, forks, ends. Then fuzz: half lines, garbage,
    wrong ids, huge messages, unknown methods, requests at wrong times, a closed input. Whether its forks are right is
    for `forkproof run` to say.
    """
    import asyncio

    from forkproof.adapters.errors import AdapterError
    from forkproof.adapters.stdio.program import program as found

    try:
        runs = found(program.absolute())
    except AdapterError as error:
        fail(str(error), _NOTHING_RAN)
    findings: list[Finding] = []

    async def collect() -> None:
        async for finding in _findings(runs, deadline):
            findings.append(finding)
            if not as_json:
                _show(finding, colour=not no_color)

    asyncio.run(collect())
    failed = sum(finding.status == "failed" for finding in findings)
    never_ran = findings[0].status == "failed"
    if as_json:
        _print_json(program, findings, ok=not failed)
    else:
        ok = sum(finding.status == "ok" for finding in findings)
        click.echo(
            f"{'FAILED' if failed else 'OK'}  {program}: {ok} ok, {failed} failed, {len(findings) - ok - failed} absent"
        )
    sys.exit(_NOTHING_RAN if never_ran else _FAILED if failed else 0)


async def _findings(runs: Any, deadline: float) -> AsyncIterator[Finding]:
    import shutil
    import tempfile

    from forkproof.adapters.stdio.fuzz import fuzz
    from forkproof.adapters.stdio.smoke import Smoke

    root = Path(tempfile.mkdtemp(prefix="forkproof-")).resolve()  # noqa: ASYNC240  # nothing else runs yet
    try:
        story_root = root / "story"
        story_root.mkdir()
        smoke = Smoke(runs, story_root, deadline)
        described = smoke.described()
        yield described
        if described.status == "failed":
            return
        async with smoke.served() as endpoint:
            async for finding in smoke.story(endpoint):
                yield finding
            async for finding in fuzz(runs, root, endpoint, deadline):
                yield finding
    finally:
        shutil.rmtree(root, ignore_errors=True)


_SIGNS = {"ok": ("ok    ", "green"), "failed": ("FAILED", "red"), "absent": ("-     ", "yellow")}


def _show(finding: Finding, *, colour: bool) -> None:
    sign, hue = _SIGNS[finding.status]
    plain = not colour or os.environ.get("NO_COLOR") or not sys.stdout.isatty()
    click.secho(sign, fg=hue, nl=False, color=False if plain else None)
    if finding.status == "failed":
        click.echo(f"  {finding.name}")
        click.echo(f"        expected  {finding.expected}")
        click.echo(f"        came      {finding.came}")
        click.echo(f"        hint      {finding.hint}")
    else:
        click.echo(f"  {finding.name}: {finding.came}")


def _print_json(program: Path, findings: list[Finding], *, ok: bool) -> None:
    import json
    from dataclasses import asdict

    click.echo(
        json.dumps({"adapter": str(program), "ok": ok, "findings": [asdict(each) for each in findings]}, indent=2)
    )
