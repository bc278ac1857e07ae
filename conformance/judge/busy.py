"""Expectations on interruptions, on input to busy sessions, and on what a summary stands for.

Sources: clauses TOOL-4, QUE-1, CMP-7, CMP-8.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from forkproof.adapters.model.markers import Markers
from forkproof.adapters.model.script import SeenRequest
from forkproof.adapters.prompt import Text
from forkproof.conformance.judge.finding import Case, Finding, Rule, bad, ok, unobservable, untestable

__all__ = ["RULES"]

_INTERRUPTION = re.compile(r"interrupt|abort|cancel|stopped by|forked in the middle", re.IGNORECASE)


def no_interruption(case: Case) -> Finding:
    """Nothing in the first request tells that this turn was interrupted: no unfinished result, no words without marker.

    Looked for behind the turn's own items, up to the next person's message. Vacuous, so untestable, where the request
    does not hold the turn.
    """
    turn = case.expectation.no_interruption or ""
    requests = case.part.requests_of(case.step.name)
    if not requests:
        return untestable(f"turn {case.step.name} sent no request to the model")
    request = requests[0]
    if not any(item.name == f"{turn}.user" for item in request.items):
        return untestable(f"the request does not hold turn {turn}")
    own = {call for call, owner in case.lineage.turn_of_call.items() if owner == turn}
    unfinished = [i.name for i in request.items if i.status == "unfinished" and i.name.removesuffix(".result") in own]
    words = _words_behind(request, turn, Markers(case.part.nonce))
    if unfinished or words:
        return bad(
            f"the request tells that turn {turn} was interrupted, and it was not",
            {"no interruption of": turn},
            {"unfinished": unfinished, "words": words},
        )
    return ok({"request": request.index, "turn": turn})


def _words_behind(request: SeenRequest, turn: str, markers: Markers) -> list[str]:
    """Unmarked texts between the turn's user message and the next one that speak of an interruption."""
    within = False
    found = []
    for message in request.prompt.messages:
        for part in message.parts:
            if not isinstance(part, Text):
                continue
            names = markers.find(part.content)
            users = [name for name in names if name.endswith(".user")]
            if users:
                within = users[-1] == f"{turn}.user"
            elif within and not names and _INTERRUPTION.search(part.content):
                found.append(part.content[:200])
    return found


def done(case: Case) -> Finding:
    """What was asked for was carried out: no refusal, no waiting, and an answer that says so."""
    step = case.step
    if step.outcome == "done":
        return ok({step.key: step.name})
    said = step.detail or step.reason
    return bad(f"the {step.key} was not done ({step.outcome}): {said}", {"done": True}, {"outcome": step.outcome})


def summary_covers(case: Case) -> Finding:
    """What the harness states of a summary: the conversation that it is of, and the range that it stands for."""
    wanted = case.expectation.summary_covers
    covered = case.part.covered.get(case.step.name)
    if wanted is None or covered is None:
        said = "nothing states what the summary stands for"
        hidden = "compaction.covers" in case.observation.description.unobservable
        return unobservable(said) if hidden else bad(said, wanted and wanted.model_dump(exclude_none=True), None)
    markers = Markers(case.part.nonce)
    sessions = {native: label for label, native in case.part.sessions.items()}
    seen = {"conversation": sessions.get(covered.session, covered.session)}
    for end, value in (("first", covered.first), ("last", covered.last)):
        seen[end] = next(iter(markers.find(value)), value)
    expected = wanted.model_dump(exclude_none=True)
    wrong = [f"{key} is {seen[key]}, not {value}" for key, value in expected.items() if seen[key] != value]
    if wrong:
        return bad("; ".join(wrong), expected, seen)
    return ok({"summary": case.step.name, **seen}, expected, seen)


def withdrawn(case: Case) -> Finding:
    """No question about this call is open any more. Untestable where the person was never asked about it."""
    call = case.expectation.withdrawn or ""
    if not any(question.call == call for question in case.step.asked):
        return untestable(f"the person was never asked about {call}")
    if call in case.step.unanswered:
        still = sorted(case.step.unanswered)
        return bad(f"the question about {call} is still open", {"withdrawn": call}, {"open": still})
    return ok({"withdrawn": call})


def processes(case: Case) -> Finding:
    """Each of these processes runs once for each of these sessions, and for no other, as the harness tells it."""
    wanted = {name: sorted(sessions) for name, sessions in (case.expectation.processes or {}).items()}
    state = case.step.state
    if not state:
        return untestable("the harness told no processes of its sessions")
    own = f".{case.part.nonce}"
    owners: dict[str, list[str]] = {name: [] for name in wanted}
    for label, told in state.items():
        for name in told.processes:
            if name.endswith(own) and name.removesuffix(own) in owners:
                owners[name.removesuffix(own)].append(label)
    seen = {name: sorted(labels) for name, labels in owners.items()}
    running = {name: case.step.processes.get(name, 0) for name in wanted}
    said = [f"{n} is listed for {', '.join(seen[n]) or 'nobody'}" for n in wanted if seen[n] != wanted[n]]
    said += [f"{running[n]} of {n} run, not {len(wanted[n])}" for n in wanted if running[n] != len(wanted[n])]
    if said:
        return bad("; ".join(said), wanted, {"owners": seen, "running": running})
    return ok({"processes": running}, wanted, seen)


RULES: Mapping[str, Rule] = {
    "no_interruption": no_interruption,
    "done": done,
    "summary_covers": summary_covers,
    "withdrawn": withdrawn,
    "processes": processes,
}
