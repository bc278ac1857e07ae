"""Published runs: records that are kept beside the code for everybody to read and to judge again.

One stands at `HARNESS/VERSION[-VARIANT][-WIRE]/run.jsonl.xz`, without anything that varies or is private. Only a whole
and complete run is published, judged by today's contract and traces, whose every failure is a known deviation with a
reason.
"""

from __future__ import annotations

import lzma
import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from forkproof.adapters.registry import known
from forkproof.conformance.baseline import Baseline, load_baseline
from forkproof.conformance.contract import Contract
from forkproof.conformance.rejudge import Rejudged, Traces, rejudge
from forkproof.conformance.trace.load import discover, load, slug_of
from forkproof.reports.events import Checked, Event, Note, Observed, RunEnded, RunStarted
from forkproof.reports.lines import encode
from forkproof.reports.runlog import PACKED_NAME, RunLogError, RunRecord

__all__ = [
    "UnpublishableRun", "baseline_of", "deviations_in", "packed", "place_of", "private_in", "published_in", "wire_of",
]  # fmt: skip

_PRIVATE: Final = re.compile(
    r"(?<![\w.$}])/(?:home|root|Users|tmp|var/tmp|var/folders|private/var)/[^\s\"'<>\\]+|\bsk-[A-Za-z0-9_-]{20,}"
)
"""Paths of a machine and its people, and keys."""


_SURPRISES: Final = frozenset({"FAIL", "XPASS", "UNTESTABLE", "TIMEOUT", "CRASH", "SUITE_ERROR"})


class UnpublishableRun(RunLogError):
    """A run is not fit for others: not whole, not of today's traces, or with failures that nobody has explained."""

    code = "unpublishable-run"


def published_in(folder: Path) -> list[Path]:
    """The published runs below a folder, in order."""
    return sorted(folder.rglob(PACKED_NAME))


def place_of(started: RunStarted) -> Path:
    """Where a run is published, below the folder of all: `codex/0.171.0-legacy/run.jsonl.xz`."""
    adapter = started.adapter
    entry = next((e for e in known() if e.name.removeprefix("acp:") == started.harness.name), None)
    wire = adapter.wire if entry and len(entry.wires) > 1 and adapter.wire != entry.wires[0] else ""
    name = "-".join(part for part in (started.harness.version, adapter.variant, wire) if part)
    return Path(_plain(started.harness.name)) / _plain(name) / PACKED_NAME


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._+-]+", "-", name)


def baseline_of(started: RunStarted, folder: Path | None = None) -> Baseline | None:
    """The known deviations that come with the adapters for this harness, release and variant; None if there are none.

    Of several files that fit, the one whose name ends with the wire format, the variant or the release counts. Raises
    `BaselineError`.
    """
    adapter = started.adapter
    fitting = [
        found
        for found in deviations_in(folder or Path(str(files("forkproof.adapters"))))
        if found.harness == started.harness.name
        and started.harness.version in found.versions
        and found.variant == adapter.variant
        and wire_of(found.path) in ("", adapter.wire)
    ]
    return max(fitting, key=lambda found: len(found.path.stem), default=None)


@cache
def deviations_in(folder: Path) -> tuple[Baseline, ...]:
    """All known deviations that come with the adapters in this folder. Raises `BaselineError`."""
    places = sorted({*folder.glob("*/deviations*.yaml"), *folder.glob("*/deviations/*.yaml")})
    return tuple(load_baseline(path, date.min) for path in places)


def wire_of(path: Path) -> str:
    """The wire format that a file of deviations is for, as its name tells; empty if it is for the default one."""
    wires = {wire for entry in known() for wire in entry.wires}
    return next((word for word in path.stem.split("-")[1:] if word in wires), "")


def packed(record: RunRecord, contract: Contract, baseline: Baseline | None, traces: Traces | None = None) -> bytes:
    """A published run as the bytes of its file: the same for the same run. Raises `UnpublishableRun`."""
    if not record.complete:
        raise UnpublishableRun(f"{record.path}: the run is not complete", "let it run to its end")
    if record.started.isolation != "trace" or record.started.chaos is not None:
        raise UnpublishableRun(
            f"{record.path}: the run shared a process or was disturbed on purpose", "run it without further options"
        )
    found = rejudge(record, contract, baseline, traces)
    _see_that_it_is_whole(record, found, contract)
    _see_that_all_is_known(record, found)
    text = "".join(f"{encode(_stable(event))}\n" for event in found.events if not isinstance(event, Note))
    private = private_in(text)
    if private:
        raise UnpublishableRun(
            f"{record.path}: holds what is private: {', '.join(private[:3])}", "this is a fault of forkproof: report it"
        )
    return lzma.compress(text.encode("ascii"), preset=9 | lzma.PRESET_EXTREME)


def private_in(text: str) -> list[str]:
    """Paths of a machine and keys that stand in a text, each once."""
    return list(dict.fromkeys(found.group() for found in _PRIVATE.finditer(text)))


def _see_that_it_is_whole(record: RunRecord, found: Rejudged, contract: Contract) -> None:
    if found.changes or found.gone or found.fresh:
        told = [*map(str, found.changes), *found.gone, *found.fresh]
        raise UnpublishableRun(
            f"{record.path}: {len(told)} verdicts are not what was recorded, e.g. {told[0]}", "run the harness again"
        )
    clauses = contract.profile(record.started.profile)
    lacking = sorted(set(_asked(clauses)) - {check.id.partition("::")[0] for check in found.checks})
    if lacking:
        raise UnpublishableRun(
            f"{record.path}: {len(lacking)} shipped traces were not played, e.g. {lacking[0]}",
            "run the harness without naming traces",
        )


def _asked(clauses: frozenset[str]) -> Iterable[str]:
    """The shipped traces that have a check of these clauses."""
    shelf = Traces()
    for path in discover():
        loaded = shelf.find(slug_of(path)) or load(path)
        if any(check.clause in clauses for check in shelf.checks(loaded)):
            yield loaded.slug


def _see_that_all_is_known(record: RunRecord, found: Rejudged) -> None:
    if found.ended.exit == 0:
        return
    stale = [e.text for e in found.events if isinstance(e, Note) and e.level == "error"]
    red = [
        c.id for c in found.checks if c.verdict in {"FAIL", "XPASS", "UNTESTABLE", "TIMEOUT", "CRASH", "SUITE_ERROR"}
    ]
    told = [*stale, *red]
    raise UnpublishableRun(
        f"{record.path}: {len(told)} surprises, e.g. {told[0] if told else 'nothing was checked'}",
        "every failure needs an entry with a reason in the file of deviations (--baseline)",
    )


def _stable(event: Event) -> Event:
    match event:
        case Observed() | Checked() | RunEnded() | RunStarted():
            return replace(event, volatile={})
        case _:
            return event
