"""Expectations on the provider: what it keeps, what a session is known by there, and what is bound to one model.

Source: clauses PRV-1 to PRV-7; design section 4 (server-side state).
"""

from __future__ import annotations

from collections.abc import Mapping

from forkproof.adapters.model.items import Item
from forkproof.adapters.model.script import SeenRequest
from forkproof.conformance.judge.finding import Case, Finding, Rule, bad, ok, untestable
from forkproof.conformance.judge.prompts import sequence

__all__ = ["RULES"]


def effective_prompt(case: Case) -> Finding:
    """The whole sequence that the model reads at the turn's first request, with what the provider kept before."""
    request, found = _kept_request(case)
    return found if request is None else sequence(case, request, case.expectation.effective_prompt or ())


def continues(case: Case) -> Finding:
    """What the provider kept and this request continues ends with one of these turns, or there is nothing of it."""
    request, found = _kept_request(case)
    if request is None:
        return found
    wanted = list(case.expectation.continues or ())
    turn = _continued(request)
    witness = {"request": request.index, "continues": turn}
    if turn in wanted:
        return ok(witness, wanted, turn)
    return bad(f"the request continues what the provider kept up to {turn}, not {' or '.join(wanted)}", wanted, turn)


def remote_writers(case: Case) -> Finding:
    """Which sessions ever wrote to the remote conversations that each of these sessions wrote to."""
    written: dict[str, set[str]] = {}
    for request in case.part.requests:
        turn = case.part.turns.get(request.turn or "")
        if request.stored and turn is not None and request.step <= case.step.index:
            written.setdefault(request.stored, set()).add(turn.session)
    wanted = {label: sorted(writers) for label, writers in (case.expectation.remote_writers or {}).items()}
    silent = [label for label in wanted if not any(label in writers for writers in written.values())]
    if silent:
        return untestable(f"nothing of {', '.join(silent)} was kept by the provider in this run")
    seen = {label: sorted(set().union(*(w for w in written.values() if label in w))) for label in wanted}
    if seen == wanted:
        return ok({"written": {id_: sorted(w) for id_, w in written.items()}}, wanted, seen)
    wrong = [f"{', '.join(seen[n])} wrote where {n} does" for n in wanted if seen[n] != wanted[n]]
    return bad("; ".join(wrong), wanted, seen)


def provider(case: Case) -> Finding:
    """How the fields that a provider knows a session by stand to the newest request of its source, or of itself."""
    wanted = case.expectation.provider
    request = _first(case)
    if request is None or wanted is None:
        return _no_request(case)
    source = case.lineage.sources.get(case.step.session, case.step.session)
    other = next((r for r in reversed(case.part.requests) if r.index < request.index and _of(case, r) == source), None)
    if other is None:
        return untestable(f"{source} sent no request before this one to compare it with")
    fields, seen = wanted.fields(), _identities(request, other)
    shown = {name: seen[name] for name in fields}
    if shown == fields:
        return ok({"request": request.index, "compared": other.index}, fields, shown)
    other_than = (name for name in fields if shown[name] != fields[name])
    wrong = (f"{name} is {_said(shown[name])}, not {_said(fields[name])}" for name in other_than)
    return bad(f"against {source}'s newest request, {'; '.join(wrong)}", fields, shown)


def thinking(case: Case) -> Finding:
    """What became of opaque thinking in each of the turn's requests.

    `intact`: byte for byte, in front of what depended on it, and to the model that made it, or not there at all.
    `absent`: not there, which proves something only where another model is asked. Thinking that is told as a plain text
    is not the block that is meant.
    """
    requests = case.part.requests_of(case.step.name)
    if not requests:
        return _no_request(case)
    wanted = dict(case.expectation.thinking or {})
    never = [name for name in wanted if name not in case.part.thoughts]
    if never:
        return untestable(f"{', '.join(never)} was never given in this run")
    wrong, seen = [], {}
    for name, choice in wanted.items():
        if choice == "absent" and all(r.prompt.model == case.part.thoughts[name].maker for r in requests):
            return untestable(f"the model that made {name} is asked, which may well be sent it")
        found = [(r, fault) for r in requests for fault in [_thinking_fault(case, r, name, choice)] if fault]
        seen[name] = found[0][1] if found else choice
        wrong += [f"request {r.index}: {fault}" for r, fault in found]
    if wrong:
        return bad("; ".join(dict.fromkeys(wrong)), wanted, seen)
    there = [r.index for r in requests if any(i.name in wanted and i.status for i in r.items)]
    return ok({"requests": [r.index for r in requests], "holding it": there}, wanted, seen)


def _thinking_fault(case: Case, request: SeenRequest, name: str, choice: str) -> str:
    thought = case.part.thoughts[name]
    for index, item in enumerate(request.items):
        if item.name == "unknown.think":
            return "it holds an opaque form that no model ever gave"
        if item.name != name or item.status is None:
            continue
        if item.status == "altered":
            return f"{name} is not what the model gave, byte for byte"
        if request.prompt.model != thought.maker:
            return f"{name} was made by {thought.maker} and is sent to {request.prompt.model}"
        if choice == "absent":
            return f"{name} is still there"
        if thought.dependent and _next(request.items, index) != thought.dependent:
            return f"{name} stands without {thought.dependent}, which belongs behind it"
    return ""


def _next(items: tuple[Item, ...], index: int) -> str:
    behind = (item.name for item in items[index + 1 :] if ".think" not in item.name)
    return next(behind, "")


# --- seeing --------------------------------------------------------------------------------------------------------


def _kept_request(case: Case) -> tuple[SeenRequest | None, Finding]:
    """The turn's first request, where the provider was to keep it and knew what it continues."""
    request = _first(case)
    if request is None:
        return None, _no_request(case)
    if request.refused:
        stored = request.prompt.stored
        return None, bad(f"the provider refused the request: {request.refused}", "a known id", stored and stored.id)
    if request.prompt.stored is None:
        return None, untestable("the harness asked the provider to keep nothing, so there is nothing to continue")
    return request, ok({"request": request.index})


def _first(case: Case) -> SeenRequest | None:
    return next(iter(case.part.requests_of(case.step.name)), None)


def _no_request(case: Case) -> Finding:
    return untestable(f"turn {case.step.name} sent no request to the model ({case.step.detail or case.step.outcome})")


def _continued(request: SeenRequest) -> str:
    """The last turn in what the request continues; `none` if it begins anew."""
    kept = request.items[: len(request.items) - request.sent]
    return next((i.name.removesuffix(".user") for i in reversed(kept) if i.name.endswith(".user")), "none")


def _of(case: Case, request: SeenRequest) -> str | None:
    turn = case.part.turns.get(request.turn or "") if request.kind == "turn" else None
    return None if turn is None else turn.session


def _identities(request: SeenRequest, other: SeenRequest) -> dict[str, str]:
    pairs = {
        "cache_key": (request.prompt.cache_key, other.prompt.cache_key),
        "remote_id": (_remote(request), _remote(other)),
        "session": (request.prompt.session, other.prompt.session),
    }
    return {name: _compared(mine, theirs) for name, (mine, theirs) in pairs.items()}


def _remote(request: SeenRequest) -> str | None:
    return request.prompt.stored.id if request.prompt.stored else None


def _compared(mine: str | None, theirs: str | None) -> str:
    return "absent" if not mine else "same" if mine == theirs else "differs"


def _said(identity: str) -> str:
    return {"same": "the same", "differs": "another", "absent": "absent"}[identity]


RULES: Mapping[str, Rule] = {
    "effective_prompt": effective_prompt,
    "continues": continues,
    "remote_writers": remote_writers,
    "provider": provider,
    "thinking": thinking,
}
