"""The evidence of a trace as it stands in run.jsonl, and back from there to what the judge reads."""

from __future__ import annotations

import json
from functools import cache
from hashlib import sha256
from typing import Any, Final

from forkproof.adapters.errors import AdapterError, codes
from forkproof.adapters.model.items import Item
from forkproof.adapters.prompt import Message, Prompt
from forkproof.adapters.protocol import Description
from forkproof.adapters.readings import Entry
from forkproof.conformance.evidence_code import Coder, Coders, MalformedEvidence, Tables
from forkproof.conformance.observation import Observation, PartSeen, StepSeen
from forkproof.conformance.trace.model import Trace
from forkproof.reports.events import JsonObject, RunStarted

__all__ = ["VERSION", "MalformedEvidence", "description_of", "read_evidence", "steps_sha256", "write_evidence"]

VERSION: Final = 1
"""Raised when evidence no longer holds, or tells in another way, what a judge reads in it."""

_TABLES: Final = {
    Message: "messages",
    Item: "items",
    Entry: "entries",
    (Prompt, "tools"): "tools",
    (StepSeen, "files"): "files",
}
_MEMBERS: Final = frozenset({"version", "tables", "main", "controls", "error", "error_step"})


@cache
def _part() -> Coder:
    return Coders(_TABLES).of(PartSeen)


def write_evidence(evidence: Observation) -> JsonObject:
    """The evidence (`evidence.evidence_of`) as JSON data. What all traces of a run share stands in its first event."""
    tables = Tables()
    write = _part().encode
    if write is None:
        raise TypeError("a part is written as it stands")
    error = evidence.error
    main = write(evidence.main, tables)
    controls = [[sorted(without), write(part, tables)] for without, part in evidence.controls.items()]
    return {
        "version": VERSION,
        "tables": tables.rows,
        "main": main,
        "controls": controls,
        "error": None if error is None else [error.code, error.cause, error.hint],
        "error_step": evidence.error_step,
    }


def read_evidence(data: Any, slug: str, description: Description) -> Observation:
    """What the judge reads. Raises `MalformedEvidence` with the place and what was expected."""
    if not isinstance(data, dict) or "version" not in data:
        raise MalformedEvidence("there is no evidence")
    if data["version"] != VERSION:
        raise MalformedEvidence(f"the evidence is of version {data['version']}, this forkproof reads {VERSION}")
    if data.keys() != _MEMBERS:
        raise MalformedEvidence(f"evidence has the members {', '.join(sorted(_MEMBERS))}, not {', '.join(data)}")
    rows = data["tables"]
    if not isinstance(rows, dict) or not all(isinstance(each, list) for each in rows.values()):
        raise MalformedEvidence("tables: expected lists by name")
    tables, read = Tables(rows), _part().decode
    controls = {}
    for n, row in enumerate(data["controls"] if isinstance(data["controls"], list) else [None]):
        place = f"controls[{n}]"
        if not isinstance(row, list) or len(row) != 2 or not _are_texts(row[0]):  # noqa: PLR2004  # steps, and the part
            raise MalformedEvidence(f"{place}: expected the steps left out, and a part")
        controls[frozenset(row[0])] = read(row[1], tables, place)
    step = data["error_step"]
    if type(step) is not int:
        raise MalformedEvidence("error_step: expected a number")
    main = read(data["main"], tables, "main")
    return Observation(slug, description, main, controls, _error(data["error"]), step)


def _error(data: Any) -> AdapterError | None:
    if data is None:
        return None
    if not _are_texts(data) or len(data) != 3 or data[0] not in codes():  # noqa: PLR2004  # code, cause, hint
        raise MalformedEvidence("error: expected the code, the cause and the hint of an adapter's error")
    return codes()[data[0]](data[1], data[2])


def _are_texts(data: Any) -> bool:
    return isinstance(data, list) and all(isinstance(each, str) for each in data)


def steps_sha256(trace: Trace) -> str:
    """A hash of what is played of a trace. Where it is the same, other expectations can be judged by old evidence."""
    played = trace.model_dump(
        mode="json", exclude={"title": True, "steps": {"__all__": {"expect"}}}, exclude_unset=True, by_alias=True
    )
    return sha256(json.dumps(played, sort_keys=True).encode()).hexdigest()


def description_of(started: RunStarted) -> Description:
    """What the adapter declared, as the run's first event tells it."""
    harness, adapter = started.harness, started.adapter
    return Description(
        harness=harness.name,
        version=harness.version,
        wire=adapter.wire,
        capabilities=frozenset(adapter.capabilities),
        policies=dict(adapter.policies),
        unobservable=frozenset(adapter.unobservable),
        binary_sha256=harness.binary_sha256,
        route=adapter.route,
        variant=adapter.variant,
    )
