"""The kill matrix for people: a grid of one mark a trace, and a Markdown page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from forkproof.conformance.selftest import KillMatrix, MutantRow, Outcome

__all__ = ["LEGEND", "as_markdown", "grid", "summary"]

MARKS: Final[Mapping[Outcome, str]] = {"right": "#", "wrong": "x", "unclear": "?", "survived": "."}
LEGEND: Final = "# killed for the right reason   x for another one   ? could not be judged   . survived"


def grid(matrix: KillMatrix) -> Iterator[str]:
    """A line a mutant: its name, the clause that it breaks, and a mark a trace, grouped by area."""
    areas = _areas(matrix.traces)
    widths = {area: max(len(area), len(slugs)) for area, slugs in areas.items()}
    name = max((len(row.name) for row in matrix.rows), default=0)
    clause = max((len(row.clause) for row in matrix.rows), default=0)
    heads = " ".join(area.ljust(widths[area]) for area in areas)
    yield f"{'':{name}}  {'':{clause}}  {heads}".rstrip()
    for row in matrix.rows:
        marks = " ".join(
            "".join(MARKS[row.cells[slug].outcome] for slug in slugs).ljust(widths[area])
            for area, slugs in areas.items()
        )
        yield f"{row.name:{name}}  {row.clause:{clause}}  {marks}".rstrip()


def summary(matrix: KillMatrix) -> str:
    """The outcome in one line."""
    right = sum(row.outcome == "right" for row in matrix.rows)
    said = [
        f"{len(matrix.rows)} mutants on {len(matrix.traces)} traces",
        f"{right} killed for the right reason",
        f"{len(matrix.wrong_reason)} for another one only",
        f"{len(matrix.survivors)} survived",
        f"{len(matrix.idle_traces)} idle traces",
    ]
    cost = matrix.cost
    return ", ".join(said) + (f"; {cost['cpu_seconds']:.1f} CPU-seconds" if "cpu_seconds" in cost else "")


def as_markdown(matrix: KillMatrix) -> str:
    """The matrix as a page: what is wrong, every mutant with the traces that kill it, and the grid."""
    lines = ["# Kill matrix", "", f"{summary(matrix)}.", ""]
    lines += _list("Survivors", matrix.survivors)
    lines += _list("Killed for the wrong reason only", matrix.wrong_reason)
    lines += _list("Traces that kill no mutant for the right reason", matrix.idle_traces)
    lines += [
        "## Mutants",
        "",
        "| mutant | breaks | kind | what it does | killed by |",
        "| --- | --- | --- | --- | --- |",
    ]
    lines += [_entry(row) for row in matrix.rows]
    lines += [
        "",
        "## Grid",
        "",
        f"    {LEGEND}",
        "",
        *(f"    {line}" for line in grid(matrix)),
        "",
        "Traces, in order:",
        "",
    ]
    lines += [
        f"- {area}: {', '.join(slug.partition('/')[2] for slug in slugs)}"
        for area, slugs in _areas(matrix.traces).items()
    ]
    return "\n".join(lines) + "\n"


def _list(title: str, names: Sequence[str]) -> list[str]:
    return [f"## {title}", "", *(f"- {name}" for name in names), ""] if names else []


def _entry(row: MutantRow) -> str:
    killers = ", ".join(f"`{slug}`" for slug in row.killers("right")) or "nothing"
    return f"| {row.name} | {row.clause} | {row.kind or '-'} | {row.summary} | {killers} |"


def _areas(slugs: Sequence[str]) -> dict[str, list[str]]:
    return {area: list(inside) for area, inside in groupby(slugs, key=lambda slug: slug.partition("/")[0])}
