"""`forkproof list harnesses|traces|clauses|mutants`: what there is, for people and, with --json, for programs."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from forkproof.conformance.cli.wording import counted

if TYPE_CHECKING:
    from forkproof.adapters.registry import Entry
    from forkproof.conformance.contract import Clause, Contract
    from forkproof.conformance.trace.checks import Check
    from forkproof.conformance.trace.load import LoadedTrace

__all__ = ["listing"]

_EXAMPLES = """\b
Examples:
  forkproof list harnesses          which harnesses can be certified, and which are installed
  forkproof list traces cut         the traces of one area
  forkproof list clauses --json     every clause, with the checks that cite it
"""
_as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(name="list", epilog=_EXAMPLES)
def listing() -> None:
    """List harnesses, traces, clauses or mutants."""


@listing.command(
    short_help="The harnesses that can be certified.", epilog="\b\nExample:\n  forkproof list harnesses --json"
)
@_as_json
def harnesses(*, as_json: bool) -> None:
    """The harnesses that `forkproof run` knows, and what each declares if it is installed."""
    from forkproof.adapters.registry import known

    entries = [_harness(entry) for entry in known()]
    if as_json:
        _print_json(entries)
        return
    _print_table([(e["name"], e["version"] if e["installed"] else "not installed", e["summary"]) for e in entries])


@listing.command(
    short_help="The traces, with their checks.",
    epilog="\b\nExamples:\n  forkproof list traces\n  forkproof list traces cut iso --json",
)
@click.argument("targets", nargs=-1, metavar="[AREA|TRACE|PATH]...")
@_as_json
def traces(targets: tuple[str, ...], *, as_json: bool) -> None:
    """The shipped traces, or those of some areas or folders: slug, checks and title."""
    from forkproof.conformance.cli.catalogue import loaded_traces

    found = [_trace(trace) for trace in loaded_traces(targets)]
    if as_json:
        _print_json(found)
        return
    _print_table([(t["slug"], counted(len(t["checks"]), "check"), t["title"]) for t in found])


@listing.command(
    short_help="The clauses of the contract.",
    epilog="\b\nExamples:\n  forkproof list clauses\n  forkproof list clauses CUT TOOL --json",
)
@click.argument("areas", nargs=-1, metavar="[AREA]...")
@_as_json
def clauses(areas: tuple[str, ...], *, as_json: bool) -> None:
    """The clauses of the contract, or of some of its areas: what proves each, and what breaks it.

    Traces cite it, mutants of the reference break it; a clause without a trace has a written reason.
    """
    from forkproof.conformance.cli.catalogue import cited, loaded_traces
    from forkproof.conformance.contract import load_contract, load_untested

    contract = load_contract()
    wanted = _areas(areas, contract)
    checks = cited(loaded_traces())
    untested = load_untested(contract)
    chosen = [clause for clause in contract.clauses.values() if clause.area in wanted]
    found = [_clause(clause, checks.get(clause.id, []), untested) for clause in chosen]
    if as_json:
        _print_json(found)
        return
    rows = [(c["id"], c["level"], c["profile"], counted(len(c["checks"]), "check"), c["text"]) for c in found]
    _print_table(rows)


@listing.command(
    short_help="The named faults of the reference.",
    epilog="\b\nExamples:\n  forkproof list mutants\n  forkproof list mutants CUT --json",
)
@click.argument("areas", nargs=-1, metavar="[AREA]...")
@_as_json
def mutants(areas: tuple[str, ...], *, as_json: bool) -> None:
    """The faults that the reference can be given, or those that break a clause of some areas (`forkproof selftest`)."""
    from forkproof.conformance.contract import load_contract
    from forkproof.reference.mutants import every

    wanted = _areas(areas, load_contract())
    found = [
        {"name": m.name, "clause": m.clause, "kind": m.kind, "summary": m.summary}
        for m in every()
        if m.clause.partition("-")[0] in wanted
    ]
    if as_json:
        _print_json(found)
        return
    _print_table([(str(m["name"]), str(m["clause"]), m["kind"] or "-", str(m["summary"])) for m in found])


def _areas(asked: Iterable[str], contract: Contract) -> frozenset[str]:
    from forkproof.conformance.trace.suggestion import did_you_mean

    wanted = [area.upper() for area in asked] or list(contract.areas)
    for area in wanted:
        if area not in contract.areas:
            hint = did_you_mean(area, contract.areas) or f"; known are {', '.join(contract.areas)}"
            raise click.UsageError(f"no area {area} in the contract{hint}", click.get_current_context())
    return frozenset(wanted)


# --- one entry as data ------------------------------------------------------------------------------------------------


def _harness(entry: Entry) -> dict[str, Any]:
    from forkproof.adapters.errors import AdapterError, NotInstalled
    from forkproof.adapters.packages import pinned

    told: dict[str, Any] = {
        "name": entry.name,
        "summary": entry.summary,
        "pinned": pinned(entry.name),
        "variants": dict(entry.variants),
        "wires": list(entry.wires),
    }
    try:
        described = entry.describe()
    except AdapterError as error:
        told |= {"installed": False, "error": {"code": error.code, "cause": error.cause, "hint": error.hint}}
        if not isinstance(error, NotInstalled):
            return told
        described = entry.declared()
    return {
        "installed": True,
        **told,
        "version": described.version,
        "wire": described.wire,
        "route": described.route,
        "capabilities": sorted(described.capabilities),
        "policies": dict(described.policies),
        "unobservable": sorted(described.unobservable),
    }


def _trace(loaded: LoadedTrace) -> dict[str, Any]:
    from forkproof.conformance.trace.checks import check_ids

    checks = check_ids(loaded)
    return {
        "slug": loaded.slug,
        "title": loaded.trace.title,
        "from": list(loaded.trace.from_),
        "needs": list(loaded.trace.needs),
        "clauses": list(dict.fromkeys(check.clause for check in checks)),
        "checks": [check.id for check in checks],
        "sha256": loaded.sha256,
    }


def _clause(clause: Clause, checks: Sequence[Check], untested: Mapping[str, str]) -> dict[str, Any]:
    from forkproof.reference.mutants import every

    return {
        "id": clause.id,
        "area": clause.area,
        "area_title": clause.area_title,
        "level": clause.level,
        "profile": clause.profile,
        "text": clause.text,
        "sources": list(clause.sources),
        "checks": [check.id for check in checks],
        "traces": list(dict.fromkeys(check.id.partition("::")[0] for check in checks)),
        "mutants": [mutant.name for mutant in every() if mutant.clause == clause.id],
        "untested": untested.get(clause.id),
    }


# --- printing ---------------------------------------------------------------------------------------------------------


def _print_json(data: Sequence[Mapping[str, Any]]) -> None:
    click.echo(json.dumps(data, indent=2, ensure_ascii=False))


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    """Columns side by side; the last one is cut at the terminal's edge, and whole where the output is no terminal."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    edge = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for row in rows:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        click.echo(line if edge is None or len(line) <= edge else f"{line[: edge - 1]}…")
