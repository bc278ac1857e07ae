"""`forkproof run HARNESS`: play the traces on a harness and say, clause by clause, how its forks behave."""

from __future__ import annotations

import os
import sys
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forkproof.conformance.cli.wording import fail

if TYPE_CHECKING:
    from forkproof.adapters.protocol import Description

__all__ = ["run"]

NOTHING_RAN = 2
"""Exit code: the command was right, but what it needs is not there."""

EXAMPLES = """\b
Examples:
  forkproof run reference                        the contract can be met
  forkproof run codex --out out/codex            certify Codex, keep the record
  forkproof run goose cut iso                    only two areas
  forkproof run codex cut/edit-then-fork-shared  only one trace
  forkproof run codex@0.171.0 --variant legacy   another release or way to work
  forkproof run acp:./mine.toml --profile core   an agent of yours that speaks ACP
  forkproof run ./my-adapter                     one that you wrote an adapter for
  forkproof run codex --baseline adapters/codex/deviations.yaml

\b
Exit codes: 0 all is well; 1 failures, or the baseline is stale; 2 incomplete (timeouts,
crashes, untestable, nothing checked); 3 usage; 4 a fault of forkproof itself.
"""


@click.command(epilog=EXAMPLES)
@click.argument("harness", metavar="HARNESS[@VERSION]")
@click.argument("targets", nargs=-1, metavar="[AREA|TRACE|CHECK|PATH]...")
@click.option("--out", type=click.Path(file_okay=False), help="Folder for run.jsonl.  [default: out/HARNESS]")
@click.option("--variant", metavar="NAME", help="Which of the harness's own ways to work (see list harnesses).")
@click.option("--wire", metavar="NAME", help="The wire format in which it is to speak to its model.")
@click.option("--profile", type=click.Choice(("core", "extended")), help="Only this certification level's clauses.")
@click.option("--baseline", type=click.Path(dir_okay=False), help="Known deviations, strict both ways.")
@click.option("--seed", type=click.IntRange(0), help="Seed of the markers; the same seed gives the same record.")
@click.option("--chaos", type=click.IntRange(0), metavar="SEED", help="Disturb the model's answers on their way.")
@click.option("-j", "--jobs", type=click.IntRange(1), default=1, show_default=True, help="Traces played at once.")
@click.option(
    "--deadline",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="For the start and for each operation.  [default: 60, or what the harness needs]",
)
@click.option(
    "--isolation",
    type=click.Choice(("trace", "run")),
    default="trace",
    show_default=True,
    help="A process for each trace, or one for all that can share it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as one JSON object.")
@click.option("-q", "--quiet", is_flag=True, help="Only unexpected failures and the last line.")
@click.option("--no-progress", is_flag=True, help="A line a trace in place of the live one.")
@click.option("--no-color", is_flag=True, help="No colours (also: NO_COLOR=1).")
def run(  # noqa: PLR0913, PLR0917  # one parameter an option
    harness: str,
    targets: tuple[str, ...],
    out: str | None,
    variant: str | None,
    wire: str | None,
    profile: str | None,
    baseline: str | None,
    seed: int | None,
    chaos: int | None,
    jobs: int,
    deadline: float | None,
    isolation: str,
    as_json: bool,
    quiet: bool,
    no_progress: bool,
    no_color: bool,
) -> None:
    """Play the traces on HARNESS and judge what it sent, left and recorded.

    Without targets all shipped traces are played. Unexpected failures come first, each with what was expected, what was
    seen, and the command that plays it again.
    """
    from forkproof.adapters import registry
    from forkproof.adapters.errors import AdapterError, BadRecipe, UnknownHarness
    from forkproof.conformance.baseline import BaselineError, check_baseline, load_baseline
    from forkproof.conformance.selection import select
    from forkproof.conformance.trace.load import NoTraceError

    try:
        entry = registry.find(harness, variant, wire)
        selection = select(targets)
        if baseline is not None:
            load_baseline(Path(baseline), date.min)
    except (UnknownHarness, BadRecipe, NoTraceError, BaselineError) as error:
        fail(str(error))
    try:
        described = entry.describe()
        if baseline is not None:
            check_baseline(Path(baseline), described.harness, described.variant)
        _must_be_words(described)
    except (BadRecipe, BaselineError) as error:
        fail(str(error))
    except AdapterError as error:
        fail(str(error), NOTHING_RAN)
    if no_color:
        os.environ["NO_COLOR"] = "1"
    folder = Path(out) if out else Path("out") / entry.choice.slug
    _must_be_writable(folder)
    arguments = ["--harness", harness, "--forkproof-out", str(folder)]
    arguments += ["--forkproof-console", _style(as_json=as_json, quiet=quiet, plain=no_progress)]
    arguments += ["--baseline", baseline] if baseline else []
    for option, value in (("variant", variant), ("wire", wire), ("profile", profile)):
        arguments += [f"--forkproof-{option}", value] if value else []
    arguments += ["--forkproof-seed", str(seed)] if seed is not None else []
    arguments += ["--forkproof-chaos", str(chaos)] if chaos is not None else []
    arguments += ["--forkproof-deadline", str(deadline)] if deadline else []
    arguments += ["--forkproof-isolation", isolation]
    for check in selection.checks:
        arguments += ["--forkproof-check", check]
    sys.exit(_pytest(arguments, [str(f) for f in selection.files], jobs))


def _pytest(arguments: list[str], files: list[str], jobs: int) -> int:
    """Run pytest in this process, cut off from the caller's own configuration and plugins."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ.pop("PYTEST_ADDOPTS", None)
    import pytest

    own = ["-p", "forkproof", "-p", "no:terminal", "-p", "no:cacheprovider", "--noconftest", "-s"]
    # Nothing of a run logs or asserts, and both cost: records are caught for each check, and all our modules are read
    # again for their assertions at each start.
    own += ["-p", "no:logging", "--assert=plain"]
    own += ["-c", os.devnull, "--rootdir", os.path.commonpath([Path(f).parent for f in files])]
    if jobs > 1:
        own += ["-p", "xdist", "-n", str(jobs), "--dist", "loadfile"]
    return int(pytest.main([*own, *arguments, *files]))


def _style(*, as_json: bool, quiet: bool, plain: bool) -> str:
    return "json" if as_json else "quiet" if quiet else "plain" if plain else "full"


def _must_be_words(described: Description) -> None:
    """Refuse capabilities that no trace can need: a misspelt one would only make its traces not applicable."""
    from difflib import get_close_matches

    from forkproof.conformance.vocabulary import CAPABILITIES, PLANNED

    # The last one is not for traces to need: it says who made the copy (design section 5).
    known = {*CAPABILITIES, *PLANNED, "workspace.isolated.caller"}
    for word in sorted(described.capabilities - known):
        close = get_close_matches(word, known, n=1)
        hint = f"did you mean {close[0]}?" if close else "docs/adapters.md has the list"
        fail(f"{described.harness} declares {word!r}, which is no capability\n  hint: {hint}")


def _must_be_writable(folder: Path) -> None:
    """See before anything runs that the record can be kept."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fail(f"--out {folder}: {error.strerror or error}")
    if not os.access(folder, os.W_OK):
        fail(f"--out {folder}: no permission to write there")
