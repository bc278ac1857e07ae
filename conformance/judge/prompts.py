"""Expectations on what the model was sent: whole sequences, single items, states of calls, and equal prompts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping

from forkproof.adapters.model.items import Item
from forkproof.adapters.model.script import SeenRequest
from forkproof.adapters.prompt import Text
from forkproof.conformance.judge.finding import Case, Finding, Rule, bad, ok, unobservable, untestable
from forkproof.conformance.observation import PartSeen
from forkproof.conformance.provenance import explain
from forkproof.conformance.trace.model import ItemPattern

__all__ = ["RULES", "item_json", "next_prompt", "prefix", "request_of", "sequence"]

# A summary may be given back in whatever role the harness likes; for everything else the role is part of the meaning.
_ROLES = {"user": "user", "say": "assistant", "call": "assistant", "result": "tool"}
_INTERRUPTION = re.compile(r"interrupt|abort|cancel|stopped by", re.IGNORECASE)


def prompt(case: Case) -> Finding:
    """The whole item sequence of the turn's first request."""
    return _sequence(case, 0, case.expectation.prompt)


def last_prompt(case: Case) -> Finding:
    """The whole item sequence of the turn's last request."""
    return _sequence(case, -1, case.expectation.last_prompt)


def prompt_has(case: Case) -> Finding:
    """Each named item stands in the first request."""
    request = request_of(case, 0)
    if request is None:
        return _no_request(case)
    missing = [p for p in case.expectation.prompt_has or () if not any(_matches(p, i) for i in request.items)]
    wanted = [_line(p) for p in case.expectation.prompt_has or ()]
    if missing:
        lost = ", ".join(map(str, missing))
        return bad(f"the request does not hold {lost}", wanted, _lines(request.items))
    return ok(_witness(request), wanted, _lines(request.items))


def prompt_lacks(case: Case) -> Finding:
    """None of the named items stands in the first request. Vacuous, so untestable, if an item never came to be."""
    request = request_of(case, 0)
    if request is None:
        return _no_request(case)
    patterns = case.expectation.prompt_lacks or ()
    never = [p.item for p in patterns if p.item not in case.part.produced]
    if never:
        return untestable(f"{', '.join(never)} never came to be in this run, so leaving it out proves nothing")
    there = [p for p in patterns if any(_matches(p, i) for i in request.items)]
    absent = [_line(p) for p in patterns]
    if there:
        said = "; ".join(f"{p.item} {case.lineage.label(p.item, case.step.session)}" for p in there)
        return bad(f"the request holds what it must not: {said}", absent, _lines(request.items))
    return ok(_witness(request), absent, _lines(request.items))


def result(case: Case) -> Finding:
    """The state in which the turn's first request shows each call."""
    request = request_of(case, 0)
    if request is None:
        return _no_request(case)
    wanted = dict(case.expectation.result or {})
    seen = {i.name.removesuffix(".result"): i.status for i in request.items if i.name.endswith(".result")}
    shown = {call: seen.get(call, "absent") for call in wanted}
    if shown != wanted:
        wrong = ", ".join(f"{c} is {shown[c]}" for c in wanted if shown[c] != wanted[c])
        return bad(f"the request shows another outcome: {wrong}", wanted, shown)
    return ok(_witness(request), wanted, shown)


def paired(case: Case) -> Finding:
    """In each request of the turn every call has one result and every result a call (clause TOOL-1).

    Vacuous, so untestable, where no request holds a call.
    """
    requests = case.part.requests_of(case.step.name)
    if not requests:
        return _no_request(case)
    for request in requests:
        calls = Counter(i.name.removesuffix(".call") for i in request.items if i.name.endswith(".call"))
        results = Counter(i.name.removesuffix(".result") for i in request.items if i.name.endswith(".result"))
        if calls != results:
            alone = sorted(f"{n}.call" for n in calls - results) + sorted(f"{n}.result" for n in results - calls)
            said = f"request {request.index} holds {', '.join(alone)} without its counterpart"
            return bad(said, "every call with one result", _lines(request.items))
    held = [r.index for r in requests if any(i.name.endswith(".call") for i in r.items)]
    if not held:
        return untestable("no request of the turn holds a tool call, so pairing was not put to the test")
    return ok({"requests": held})


def marks_interruption(case: Case) -> Finding:
    """The model can tell that the turn was interrupted: by an unfinished result, or by words without a marker."""
    request = request_of(case, 0)
    if request is None:
        return _no_request(case)
    turn = case.expectation.marks_interruption or ""
    own = {c for c, t in case.lineage.turn_of_call.items() if t == turn}
    unfinished = [i.name for i in request.items if i.status == "unfinished" and i.name.removesuffix(".result") in own]
    words = _interruption_words(request, case.part.nonce, turn, case.step.name)
    if unfinished or words:
        return ok(_witness(request) | {"unfinished": unfinished, "words": words})
    return bad(
        f"nothing in the request tells that turn {turn} was interrupted",
        f"a marker of the interruption of {turn}, or an unfinished result",
        _lines(request.items),
    )


def same_next_prompt_without(case: Case) -> Finding:
    """The session's next prompt equals the one of a control run without the named steps."""
    without = frozenset(case.expectation.same_next_prompt_without or ())
    control = case.observation.controls.get(without)
    if control is None:
        return untestable(f"the control run without {', '.join(sorted(without))} was not played")
    outcomes = {s.outcome for s in case.part.steps if s.name in without}
    if not outcomes - {"skipped", "blocked", "unsupported"}:
        said = f"none of {', '.join(sorted(without))} was played, so both runs are the same by nature"
        return unobservable(said) if "unsupported" in outcomes else untestable(said)
    seen, expected = next_prompt(case.part, case.step.session), next_prompt(control, case.step.session)
    if seen is None or expected is None:
        which = "trace" if seen is None else "control run"
        return untestable(f"the {which} shows no next prompt of session {case.step.session}")
    if _lines(seen.items) != _lines(expected.items):
        names = [i.name for i in expected.items]
        said = explain(names, seen.items, case.lineage, case.step.session)
        return bad(
            f"the source's next prompt is not that of the control run: {said}",
            _lines(expected.items),
            _lines(seen.items),
        )
    return ok(_witness(seen) | {"control": sorted(without)}, _lines(expected.items), _lines(seen.items))


def same_prefix_as(case: Case) -> Finding:
    """Before its own user message the turn's first request holds what the named session's next request holds."""
    request, other = request_of(case, 0), next_prompt(case.part, case.expectation.same_prefix_as or "")
    if request is None:
        return _no_request(case)
    if other is None:
        return untestable(f"session {case.expectation.same_prefix_as} shows no next prompt")
    seen, expected = prefix(request), prefix(other)
    if _lines(seen) != _lines(expected):
        said = explain([i.name for i in expected], seen, case.lineage, case.step.session)
        return bad(
            f"the context is not that of {case.expectation.same_prefix_as}: {said}", _lines(expected), _lines(seen)
        )
    return ok(_witness(request) | {"compared": other.index}, _lines(expected), _lines(seen))


# --- seeing --------------------------------------------------------------------------------------------------------


def _sequence(case: Case, which: int, patterns: tuple[ItemPattern, ...] | None) -> Finding:
    request = request_of(case, which)
    return _no_request(case) if request is None else sequence(case, request, patterns or ())


def sequence(case: Case, request: SeenRequest, wanted: tuple[ItemPattern, ...]) -> Finding:
    """The request holds just these items, in this order."""
    items = _judged(request.items, {p.item for p in wanted})
    expected, seen = [_line(p) for p in wanted], _lines(items)
    if len(wanted) == len(items) and all(map(_matches, wanted, items)):
        return ok(_witness(request), expected, seen)
    said = explain([p.item for p in wanted], items, case.lineage, case.step.session)
    return bad(said, expected, _labelled(case, items))


def _judged(items: tuple[Item, ...], named: Collection[str]) -> tuple[Item, ...]:
    """The items of a sequence. Thinking may be left out (PRV-4), and an attachment may stand before or behind its text.

    So both count only where they are named.
    """
    return tuple(i for i in items if i.name in named or i.name.split(".")[1] not in ("think", "attachment"))


def request_of(case: Case, which: int) -> SeenRequest | None:
    """The turn's first request (0) or last one (-1); None if it sent none."""
    requests = case.part.requests_of(case.step.name)
    return requests[which] if requests else None


def _no_request(case: Case) -> Finding:
    return untestable(f"turn {case.step.name} sent no request to the model ({case.step.detail or case.step.outcome})")


def next_prompt(part: PartSeen, session: str) -> SeenRequest | None:
    """The request that asked for this session's next prompt at the end of the part."""
    requests = part.requests_of(part.probes.get(session, ""))
    return requests[0] if requests else None


def prefix(request: SeenRequest) -> tuple[Item, ...]:
    """What the request holds before its own user message."""
    own = max(i for i, item in enumerate(request.items) if item.name == f"{request.turn}.user")
    return _judged(request.items[:own], ())


def _role(pattern: ItemPattern) -> str | None:
    return pattern.role or _ROLES.get(pattern.item.split(".")[1])


def _matches(pattern: ItemPattern, item: Item) -> bool:
    role = _role(pattern)
    return (
        pattern.item == item.name
        and (pattern.status is None or pattern.status == item.status)
        and (role is None or role == item.role)
        and (pattern.author is None or re.search(rf"\b{pattern.author}\b", item.said, re.IGNORECASE) is not None)
    )


def item_json(item: Item) -> dict[str, str]:
    """One item as a report shows it."""
    return _known(item.name, item.role, item.status)


def _line(pattern: ItemPattern) -> dict[str, str]:
    return _known(pattern.item, _role(pattern), pattern.status) | ({"author": pattern.author} if pattern.author else {})


def _known(item: str, role: str | None, status: str | None) -> dict[str, str]:
    return {"item": item} | ({"role": role} if role else {}) | ({"status": status} if status else {})


def _lines(items: tuple[Item, ...]) -> list[dict[str, str]]:
    return [item_json(i) for i in items]


def _labelled(case: Case, items: tuple[Item, ...]) -> list[dict[str, str]]:
    """The seen items, each with where it comes from."""
    return [item_json(i) | {"label": case.lineage.label(i.name, case.step.session)} for i in items]


def _witness(request: SeenRequest) -> dict[str, object]:
    return {"request": request.index, "items": len(request.items)}


def _interruption_words(request: SeenRequest, nonce: str, turn: str, own: str) -> list[str]:
    """Unmarked texts between the interrupted turn's user message and the asking turn's own that speak of an end."""
    between = False
    found = []
    for message in request.prompt.messages:
        for part in message.parts:
            if not isinstance(part, Text):
                continue
            if f"[fp{nonce}.{own}.user]" in part.content:
                between = False
            elif f"[fp{nonce}.{turn}.user]" in part.content:
                between = True
            elif between and f"[fp{nonce}." not in part.content and _INTERRUPTION.search(part.content):
                found.append(part.content[:200])
    return found


RULES: Mapping[str, Rule] = {
    "prompt": prompt,
    "last_prompt": last_prompt,
    "prompt_has": prompt_has,
    "prompt_lacks": prompt_lacks,
    "result": result,
    "paired": paired,
    "marks_interruption": marks_interruption,
    "same_next_prompt_without": same_next_prompt_without,
    "same_prefix_as": same_prefix_as,
}
