"""`forkproof rejudge RUN`: what an old recording comes to under today's contract and traces, without the harness."""

from __future__ import annotations

import io
import json
import sys
from contextlib import ExitStack
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forkproof.conformance.cli.wording import counted, fail

if TYPE_CHECKING:
    from forkproof.conformance.rejudge import Rejudged
    from forkproof.reports.events import Consumer, Event
    from forkproof.reports.runlog import RunRecord

__all__ = ["rejudge"]

EXAMPLES = """\b
Examples:
  forkproof rejudge out/codex
  forkproof rejudge out/codex --baseline adapters/codex/deviations.yaml
  forkproof rejudge reports/published/codex/0.171.0 --strict
  forkproof rejudge out/codex --out out/codex-today      a new record

\b
Exit codes are those of `run`, by today's verdicts. With --strict it is 1, too, if any
verdict is another one than was recorded. A trace whose steps have changed since can't be
judged by an old recording: its checks are UNTESTABLE.
"""


@click.command(epilog=EXAMPLES)
@click.argument("run", metavar="RUN", type=click.Path(exists=True))
@click.option("--baseline", type=click.Path(dir_okay=False), help="Known deviations, strict both ways.")
@click.option("--strict", is_flag=True, help="Fail if any verdict is not the recorded one.")
@click.option("--out", type=click.Path(file_okay=False), help="Folder for a run.jsonl with today's verdicts.")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as one JSON object.")
@click.option("-q", "--quiet", is_flag=True, help="Only unexpected failures, changes and the last line.")
def rejudge(run: str, baseline: str | None, strict: bool, out: str | None, as_json: bool, quiet: bool) -> None:
    """Judge RUN (a folder, a run.jsonl or a run.jsonl.xz) again, without the harness.

    Tells which checks come to another verdict than was recorded, and whether the trace, the contract or the judge has
    changed since.
    """
    from forkproof.conformance.baseline import BaselineError, check_baseline, load_baseline
    from forkproof.conformance.contract import ContractError, load_contract
    from forkproof.conformance.rejudge import rejudge as judge_again
    from forkproof.conformance.trace.problem import TraceError
    from forkproof.reports.runlog import RunLogError, read

    try:
        record = read(Path(run))
        known = None
        if baseline is not None:
            check_baseline(Path(baseline), record.started.harness.name, record.started.adapter.variant)
            known = load_baseline(Path(baseline), datetime.now(UTC).date())
        contract = load_contract()
        if known is not None and record.started.profile is not None:
            known = known.within(contract.profile(record.started.profile))
        found = judge_again(record, contract, known)
        code = 1 if strict and found.changes and found.ended.exit == 0 else found.ended.exit
        _tell(record, found, out, as_json=as_json, quiet=quiet)
    except (RunLogError, BaselineError, ContractError, TraceError) as error:
        fail(str(error))
    sys.exit(code)


def _tell(record: RunRecord, found: Rejudged, out: str | None, *, as_json: bool, quiet: bool) -> None:
    """Hand today's events to the log, if one is asked for, and to whoever tells the person."""
    from forkproof.reports.events import Note
    from forkproof.reports.runlog import RunLog

    text = io.StringIO()
    teller = _json(text) if as_json else _console(quiet=quiet)
    said = f"recorded by forkproof {record.started.suite}, judged again by {found.started.suite}: {_summary(found)}"
    events: tuple[Event, ...] = (*found.events[:-1], Note(text=said), found.events[-1])
    with ExitStack() as stack:
        consumers: list[Consumer] = [teller]
        if out is not None:
            consumers.append(stack.enter_context(RunLog(Path(out))))
        for event in events:
            for consumer in consumers:
                consumer.emit(event)
        for consumer in consumers:
            consumer.close()
    if as_json:
        more = {"changes": [asdict(c) for c in found.changes], "gone": list(found.gone), "fresh": list(found.fresh)}
        click.echo(json.dumps(json.loads(text.getvalue()) | more, indent=2))


def _summary(found: Rejudged) -> str:
    said = [counted(len(found.changes), "verdict") + " changed" if found.changes else "no verdict changed"]
    said += [counted(len(found.fresh), "check") + " not recorded then"] if found.fresh else []
    said += [counted(len(found.gone), "recorded check") + " no more"] if found.gone else []
    return ", ".join(said)


def _json(file: io.StringIO) -> Consumer:
    from forkproof.reports.summary import JsonSummary

    return JsonSummary(file)


def _console(*, quiet: bool) -> Consumer:
    from forkproof.conformance.contract import load_contract
    from forkproof.reports.console import Console, Options
    from forkproof.reports.matrix import ClauseText

    clauses = {c.id: ClauseText(c.id, c.area_title, c.text) for c in load_contract().clauses.values()}
    return Console(clauses, Options(quiet=quiet, progress=False))
