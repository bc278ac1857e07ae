"""Expectations on what a session shows when it is read from outside: entries, tree, history, cut points, labels.

Entries go by the items that they hold. Those that hold none are a harness's own; what hangs below them is taken to hang
below the nearest entry above that holds one. Source: clauses RD-1 to RD-6, NAV-1, NAV-5, NAV-8, LBL-1, TRE-1, TRE-3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from forkproof.adapters.model.markers import Markers
from forkproof.adapters.prompt import Message
from forkproof.adapters.protocol import Answer, Refused
from forkproof.adapters.readings import CutPointsRead, EntriesRead, HistoryRead, SessionsRead
from forkproof.conformance.judge.finding import Case, Finding, Rule, bad, ok, unobservable, untestable
from forkproof.conformance.judge.records import named, names_of
from forkproof.conformance.readings import names_in

__all__ = ["RULES", "answered"]

T = TypeVar("T")
_NONE = "none"


def entries(case: Case) -> Finding:
    """The whole listing, in the harness's order."""
    read = _listing(case)
    if isinstance(read, Finding):
        return read
    return _same(case.expectation.entries or (), _items(read, case), "the listing")


def entries_have(case: Case) -> Finding:
    """Items that the listing holds."""
    read = _listing(case)
    if isinstance(read, Finding):
        return read
    wanted, seen = list(case.expectation.entries_have or ()), _items(read, case)
    missing = [item for item in wanted if item not in seen]
    if missing:
        return bad(f"the listing does not hold {', '.join(missing)}", wanted, seen)
    return ok({"entries": len(read.entries)}, wanted, seen)


def entries_since(case: Case) -> Finding:
    """All that is listed after each cursor; the cursor's id is the one under which the item was listed first."""
    wanted = {cursor: list(items) for cursor, items in (case.expectation.entries_since or {}).items()}
    seen: dict[str, object] = {}
    for cursor in wanted:
        answer = case.step.readings.since.get(cursor)
        if answer is None:
            return untestable(f"{cursor} was never listed, so it is no cursor")
        read = answered(answer, EntriesRead)
        if isinstance(read, Finding):
            return read
        seen[cursor] = _items(read, case)
    if seen != wanted:
        wrong = ", ".join(cursor for cursor in wanted if seen[cursor] != wanted[cursor])
        return bad(f"something else is listed since {wrong}", wanted, seen)
    return ok({"cursors": sorted(wanted)}, wanted, seen)


def unknown_cursor(case: Case) -> Finding:
    """Listing since an entry that never was is an error, and no list."""
    answer = case.step.readings.unknown
    if isinstance(answer, Refused):
        return ok({"refused": answer.reason})
    if isinstance(answer, EntriesRead):
        said = f"a cursor that is no entry's id is answered by a list of {len(answer.entries)} entries"
        return bad(said, "refused", len(answer.entries))
    return _unread(answer)


def entry(case: Case) -> Finding:
    """What one entry is behind, and, of a branch summary, the leaf that was left."""
    expected, read = case.expectation.entry, _listing(case)
    if isinstance(read, Finding) or expected is None:
        return read if isinstance(read, Finding) else untestable("no entry is asked for")
    rows = {e.id: e for e in read.entries}
    held = next((e for e in read.entries if expected.id in _names(e.message, case)), None)
    if held is None:
        return untestable(f"no entry holds {expected.id}")
    above, left = _holding(held.parent, read, case), _holding(held.left, read, case)
    seen = {"parent": above, "from": left if held.left in rows else []}
    wrong = []
    if expected.parent is not None and (above != [] if expected.parent == _NONE else expected.parent not in above):
        wrong.append(f"{expected.id} is behind {' and '.join(above) or 'nothing'}, not {expected.parent}")
    if expected.from_ is not None and expected.from_ not in seen["from"]:
        wrong.append(f"{expected.id} names {' and '.join(seen['from']) or 'nothing'} as what was left")
    wanted = {"parent": expected.parent, "from": expected.from_}
    return bad("; ".join(wrong), wanted, seen) if wrong else ok({"entry": expected.id}, wanted, seen)


def leaf(case: Case) -> Finding:
    """Where the listing says that the session stands."""
    wanted, read = case.expectation.leaf, _listing(case)
    if isinstance(read, Finding):
        return read
    standing = _holding(read.leaf, read, case)
    if read.leaf is not None and read.leaf not in {e.id for e in read.entries}:
        return bad("the leaf is none of the entries", wanted, "unknown")
    if standing == [] if wanted == _NONE else wanted in standing:
        return ok({"leaf": standing or _NONE}, wanted, standing)
    return bad(f"the session stands at {' and '.join(standing) or 'nothing'}, not at {wanted}", wanted, standing)


def history(case: Case) -> Finding:
    """The conversation that the session shows."""
    seen = _history(case)
    return seen if isinstance(seen, Finding) else _same(case.expectation.history or (), seen, "the history")


def shown_as_sent(case: Case) -> Finding:
    """The conversation that the session shows begins with what the model was sent last, in the order of the request.

    What was said since then stands behind it. Which order that is, of results of parallel calls for one, is the
    harness's own matter: the clause asks that the two views agree (TRE-3).
    """
    shown = _history(case)
    if isinstance(shown, Finding):
        return shown
    requests = case.part.requests_of(case.step.name)
    sent = [item.name for item in requests[-1].items] if requests else []
    if not sent:
        return untestable(f"turn {case.step.name} sent the model nothing of the trace")
    return _same(sent, shown[: len(sent)], "the history")


def _history(case: Case) -> list[str] | Finding:
    read = answered(case.step.readings.read.get("history"), HistoryRead)
    if isinstance(read, Finding):
        return read
    return [name for message in read.messages for name in _names(message, case)]


def cut_points(case: Case) -> Finding:
    """The user messages that are offered as cut points, each with its text, and with its entry's id where one shows."""
    read = answered(case.step.readings.read.get("points"), CutPointsRead)
    if isinstance(read, Finding):
        return read
    markers, wanted = Markers(case.part.nonce), dict(case.expectation.cut_points or {})
    found = [(point, next(iter(markers.find(point.text)), point.entry)) for point in read.points]
    seen = {name: named(point.text, {}, case.part.nonce) for point, name in found}
    if seen != wanted or len(found) != len(seen):
        return bad(f"offered are {', '.join(name for _, name in found) or 'none'}", wanted, seen)
    listing = case.step.readings.read.get("entries")
    if isinstance(listing, EntriesRead):
        ids = {name: e.id for e in listing.entries for name in _names(e.message, case)}
        stray = [name for point, name in found if ids.get(name) != point.entry]
        if stray:
            return bad(f"the ids given for {', '.join(stray)} are not those of their entries", wanted, seen)
    return ok({"points": len(found)}, wanted, seen)


def sessions(case: Case) -> Finding:
    """The sessions that are listed: these, and no other."""
    read = answered(case.step.readings.read.get("sessions"), SessionsRead)
    if isinstance(read, Finding):
        return read
    names = names_of(case.part)
    seen = sorted(names.get(id_, f"unknown {id_}") for id_ in read.sessions)
    return _same(sorted(case.expectation.sessions or ()), seen, "the list of sessions")


def summarized(case: Case) -> Finding:
    """What the request for the branch's summary was made of."""
    asked = [r for r in case.part.requests if r.kind == "summary" and r.turn == case.step.name]
    if not asked:
        return untestable("no summary was asked for")
    return _same(case.expectation.summarized or (), [item.name for item in asked[0].items], "the summary's request")


# --- seeing --------------------------------------------------------------------------------------------------------


def answered(answer: Answer | None, kind: type[T]) -> T | Finding:
    """A reading of this kind, or the finding that there is none."""
    return answer if isinstance(answer, kind) else _unread(answer)


def _unread(answer: Answer | None) -> Finding:
    if answer is None:
        return untestable("nothing was read at this step")
    if isinstance(answer, Refused):
        return bad(f"the reading was refused: {answer.message}")
    return unobservable(f"there is no such reading on this route: {answer}")


def _listing(case: Case) -> EntriesRead | Finding:
    return answered(case.step.readings.read.get("entries"), EntriesRead)


def _names(message: Message | None, case: Case) -> list[str]:
    return names_in(message, Markers(case.part.nonce))


def _items(read: EntriesRead, case: Case) -> list[str]:
    return [name for e in read.entries for name in _names(e.message, case)]


def _holding(id_: str | None, read: EntriesRead, case: Case) -> list[str]:
    """The items of this entry, or of the nearest one above that holds any; none if there is no such entry."""
    rows, been = {e.id: e for e in read.entries}, set[str]()
    while id_ is not None and id_ in rows and id_ not in been:
        been.add(id_)
        held = _names(rows[id_].message, case)
        if held:
            return held
        id_ = rows[id_].parent
    return []


def _same(wanted: Sequence[str], seen: list[str], what: str) -> Finding:
    expected = list(wanted)
    if seen == expected:
        return ok({"seen": what, "items": len(seen)}, expected, seen)
    lost, extra = [n for n in expected if n not in seen], [n for n in seen if n not in expected]
    said = [f"lacks {', '.join(lost)}"] if lost else []
    said += [f"holds {', '.join(extra)}"] if extra else []
    return bad(f"{what} {' and '.join(said) or 'has another order, or something twice'}", expected, seen)


RULES: Mapping[str, Rule] = {
    "entries": entries,
    "entries_have": entries_have,
    "entries_since": entries_since,
    "unknown_cursor": unknown_cursor,
    "entry": entry,
    "leaf": leaf,
    "history": history,
    "shown_as_sent": shown_as_sent,
    "cut_points": cut_points,
    "sessions": sessions,
    "summarized": summarized,
}
