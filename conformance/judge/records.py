"""Expectations on the fork record: only what the harness itself reports counts.

Source: design section 5, clauses REC-1 to REC-10.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forkproof.adapters.model.markers import Markers
from forkproof.adapters.protocol import Field
from forkproof.conformance.judge.finding import Case, Finding, bad, ok, unobservable, untestable
from forkproof.conformance.observation import PartSeen

__all__ = ["editor", "record", "record_has"]


def record(case: Case) -> Finding:
    """Each named field of the session's fork record is reported, and says this."""
    return _fields(case, dict(case.expectation.record or {}))


def editor(case: Case) -> Finding:
    """The fork gives back this text for editing."""
    return _fields(case, {"editor": case.expectation.editor})


def record_has(case: Case) -> Finding:
    """Each named field is reported at all."""
    wanted = list(case.expectation.record_has or ())
    return _fields(case, dict.fromkeys(wanted, _ANYTHING))


_ANYTHING = object()


def _fields(case: Case, wanted: Mapping[str, Any]) -> Finding:
    found = case.part.records.get(case.step.session)
    if found is None:
        return untestable(f"session {case.step.session} has no fork record")
    names = names_of(case.part)
    hidden, wrong, seen = [], [], {}
    for name, value in wanted.items():
        field: Field = getattr(found, name, Field())
        channel = f"record.{name}"
        if field.origin != "reported":
            if channel in case.observation.description.unobservable:
                hidden.append(name)
            else:
                wrong.append(f"{name} is {_said(field)}")
            seen[name] = {"value": named(field.value, names, case.part.nonce), "origin": field.origin}
            continue
        seen[name] = named(field.value, names, case.part.nonce)
        if value is not _ANYTHING and seen[name] != value:
            wrong.append(f"{name} is {_short(seen[name])}, not {_short(value)}")
    expected = {k: "(anything)" if v is _ANYTHING else v for k, v in wanted.items()}
    if wrong:
        return bad("; ".join(wrong), expected, seen)
    if hidden:
        return unobservable(f"no channel of this route shows {', '.join(hidden)}")
    return ok({"record": case.step.session, "fields": sorted(seen)}, expected, seen)


def _said(field: Field) -> str:
    return "nowhere in the record" if field.origin == "absent" else "not reported by the harness, only derived"


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."  # noqa: PLR2004  # one line of a report


def names_of(part: PartSeen) -> Mapping[str, str]:
    """From the harness's ids to the trace's names, for sessions, turns and compactions."""
    names = {native: label for label, native in part.sessions.items()}
    names |= {seen.native: turn for turn, seen in part.turns.items() if seen.native}
    return names | {native: name for name, native in part.compactions.items()}


def named(value: Any, names: Mapping[str, str], nonce: str) -> Any:
    """A record's value in the trace's names: ids by what they stand for, texts without their markers.

    A value that is nothing but a marked text of an item stays a text; a bare marker becomes its item's owner.
    """
    match value:
        case str():
            markers = Markers(nonce)
            if value in names:
                return names[value]
            found = markers.find(value)
            if found and value == markers.tag(found[0]):
                return found[0].split(".")[0]
            for name in found:
                value = value.replace(f" {markers.tag(name)}", "")
            return value
        case Mapping():
            return {k: named(v, names, nonce) for k, v in value.items()}
        case list() | tuple():
            return [named(v, names, nonce) for v in value]
        case _:
            return value
