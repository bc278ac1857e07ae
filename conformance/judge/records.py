"""Expectations on the fork record: only what the harness itself reports counts.

Source: design section 5, clauses REC-1 to REC-10.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from forkproof.adapters.model.markers import Markers
from forkproof.adapters.protocol import ABSENT, Field
from forkproof.conformance.judge.authority import differing_settings
from forkproof.conformance.judge.finding import Case, Finding, Rule, bad, ok, unobservable, untestable
from forkproof.conformance.observation import PartSeen

__all__ = ["RULES", "named", "names_of"]


def record(case: Case) -> Finding:
    """Each named field of the session's fork record is reported, and says this."""
    wanted = dict(case.expectation.record or {})
    return _fields(case, wanted, lambda name, value: _differs(name, value, wanted[name]))


def _differs(name: str, value: Any, wanted: Any) -> str:
    """What is wrong with a field's value; empty if nothing. Of the settings only those that are named count."""
    if name == "settings" and isinstance(wanted, Mapping):
        return differing_settings(value, wanted)
    return "" if value == wanted else f"not {_short(wanted)}"


def editor(case: Case) -> Finding:
    """The fork gives back this text for editing."""
    text = case.expectation.editor
    if case.step.key in ("branch", "rewind"):
        seen = named(case.step.editor, {}, case.part.nonce)
        if not seen and text and "branch.editor" in case.observation.description.unobservable:
            return unobservable("no channel of this route shows what is put back for editing")
        return (
            ok({"editor": case.step.name}, text, seen) if seen == text else bad("another text is put back", text, seen)
        )
    return _fields(case, {"editor": text}, lambda _, value: "" if value == text else f"not {_short(text)}")


def record_has(case: Case) -> Finding:
    """Each path leads to something that is reported: `directory`, or `settings.*.origin` for every setting's origin."""
    paths = {path.partition(".")[0]: path for path in case.expectation.record_has or ()}
    wanted = dict.fromkeys(case.expectation.record_has or (), "(anything)")
    return _fields(
        case,
        {name: wanted[path] for name, path in paths.items()},
        lambda name, value: "" if _leads(value, paths[name].split(".")[1:]) else f"without {paths[name]}",
    )


def _leads(value: Any, path: list[str]) -> bool:
    """Whether the path leads to a value that says something.

    `*` stands for every member, of which there must be one.
    """
    if not path:
        return value is not None
    if isinstance(value, list) and path[0] == "*":
        inside = value
    elif isinstance(value, Mapping):
        inside = list(value.values()) if path[0] == "*" else [value.get(path[0])]
    else:
        return False
    return bool(inside) and all(_leads(each, path[1:]) for each in inside)


def _fields(case: Case, wanted: Mapping[str, Any], complaint: Callable[[str, Any], str]) -> Finding:
    """Judge reported fields by `complaint` (field and value in, what is wrong with it out)."""
    found = case.part.records.get(case.step.session)
    if found is None:
        return untestable(f"session {case.step.session} has no fork record")
    names = names_of(case.part)
    hidden: list[str] = []
    wrong: list[str] = []
    seen: dict[str, Any] = {}
    for name in wanted:
        field: Field = getattr(found, name, ABSENT)
        value = named(field.value, names, case.part.nonce)
        if field.origin == "reported":
            seen[name] = value
            said = complaint(name, value)
            wrong += [f"{name} is {_short(value)}, {said}"] if said else []
            continue
        seen[name] = {"value": value, "origin": field.origin}
        if f"record.{name}" in case.observation.description.unobservable:
            hidden.append(name)
        else:
            wrong.append(f"{name} is {_said(field)}")
    if wrong:
        return bad("; ".join(wrong), dict(wanted), seen)
    if hidden:
        return unobservable(f"no channel of this route shows {', '.join(hidden)}")
    return ok({"record": case.step.session, "fields": sorted(seen)}, dict(wanted), seen)


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
            call = markers.call_name(value)
            if call is not None:
                return call
            found = markers.find(value)
            if found and value == markers.tag(found[0]):
                return found[0].split(".")[0]
            for name in found:
                value = value.replace(f" {markers.tag(name)}", "")
            return value
        case {"at": str(at)} if (item := _whole_item(at, nonce)) is not None:
            return {**named({k: v for k, v in value.items() if k != "at"}, names, nonce), "at": item}
        case Mapping():
            return {k: named(v, names, nonce) for k, v in value.items()}
        case list() | tuple():
            return [named(v, names, nonce) for v in value]
        case _:
            return value


def _whole_item(value: str, nonce: str) -> str | None:
    """A cut at an item is told by the item's bare marker."""
    markers = Markers(nonce)
    found = markers.find(value)
    return found[0] if found and value == markers.tag(found[0]) else None


RULES: Mapping[str, Rule] = {
    "record": record,
    "record_has": record_has,
    "editor": editor,
}
