"""Expectations on side state, working directories, files put back, and what stands before a child agent's task.

Source: clauses STA-1 to STA-3, ENV-4, ENV-6, ENV-7, SUB-4, REC-9.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from forkproof.adapters.model.markers import Markers
from forkproof.adapters.model.script import SeenRequest
from forkproof.adapters.prompt import Text, ToolResult
from forkproof.conformance.judge.finding import Case, Finding, Rule, bad, ok, unobservable, untestable
from forkproof.conformance.trace.model import TurnStep
from forkproof.conformance.trace.names import calls_of

__all__ = ["RULES"]

_ROLE = re.compile(r"agent|delegat|parent|fork|task", re.IGNORECASE)
"""What a note that fixes a child agent's role speaks of."""


def todo(case: Case) -> Finding:
    """The session's todo list, as the harness tells it, is this."""
    state = case.step.state.get(case.step.session)
    if state is None:
        return untestable(f"the harness told no state of session {case.step.session}")
    wanted = list(case.expectation.todo or ())
    seen = [_plain(text, case.part.nonce) for text in state.todo]
    if seen == wanted:
        return ok({"session": case.step.session, "todo": seen}, wanted, seen)
    return bad(f"the todo list is {_listed(seen)}, not {_listed(wanted)}", wanted, seen)


def schedules(case: Case) -> Finding:
    """The session has just these wake-ups, by the calls that set them."""
    state = case.step.state.get(case.step.session)
    if state is None:
        return untestable(f"the harness told no state of session {case.step.session}")
    wanted = sorted(case.expectation.schedules or ())
    find = Markers(case.part.nonce).find
    seen = sorted((find(text) or ["unknown."])[0].partition(".")[0] for text in state.schedules)
    if seen == wanted:
        return ok({"session": case.step.session, "schedules": seen}, wanted, seen)
    return bad(f"the wake-ups are {_listed(seen)}, not {_listed(wanted)}", wanted, seen)


def usage(case: Case) -> Finding:
    """All sessions together are charged for so many answers of the model."""
    wanted = case.expectation.usage or 0
    if not case.step.state:
        return untestable("the harness told no usage of its sessions")
    each = {label: state.usage for label, state in case.step.state.items()}
    if sum(each.values()) == wanted:
        return ok({"usage": each}, wanted, each)
    return bad(f"all sessions are charged for {sum(each.values())} answers, not for {wanted}", wanted, each)


# --- directories -----------------------------------------------------------------------------------------------------

_FORMER = re.compile(r"\((?:was|formerly|previously)\b[^)\n]*\)")


def works_in(case: Case) -> Finding:
    """Record, newest statement to the model and the turn's `pwd` name the directory of this session (ENV-4).

    A harness that states no directory to the model contradicts nothing. The trace's `pwd` has to have run.
    """
    home = case.expectation.works_in or ""
    wanted = case.part.directories.get(home)
    requests = case.part.requests_of(case.step.name)
    if wanted is None or not requests:
        return untestable(f"turn {case.step.name} sent no request, or there is no directory of {home}")
    # Where the provider keeps what was sent, a request holds the newest result alone.
    told = {who: place for request in requests for who, place in _told(case, request).items()}
    if not told:
        return untestable(f"no `pwd` of turn {case.step.name} showed a directory")
    record = case.part.records.get(case.step.session)
    if record is not None and record.directory.origin == "reported":
        told["the record"] = str(record.directory.value)
    stated = _stated(case, requests[-1])
    if stated is not None:
        told["the newest statement to the model"] = stated
    wrong = [f"{who} names {_short(case, place)}" for who, place in told.items() if place != wanted]
    shown = {who: _short(case, place) for who, place in told.items()}
    expected = dict.fromkeys(told, f"the directory of {home}")
    return bad("; ".join(wrong), expected, shown) if wrong else ok({"directory": shown}, expected, shown)


def _told(case: Case, request: SeenRequest) -> dict[str, str]:
    """What each `pwd` of the turn printed between its markers."""
    step = case.trace.steps[case.step.index]
    calls = [c.call for _, c in calls_of(step) if c.run == "pwd"] if isinstance(step, TurnStep) else []
    tag = Markers(case.part.nonce).tag
    told = {}
    for response in (p.response for m in request.prompt.messages for p in m.parts if isinstance(p, ToolResult)):
        for call in calls:
            _, begun, rest = response.partition(tag(f"{call}.start"))
            printed, ended, _ = rest.partition(tag(f"{call}.end"))
            if begun and ended:
                places = _places(case, printed)
                told[f"the command {call}"] = places[-1] if places else printed.strip()
    return told


def _stated(case: Case, request: SeenRequest) -> str | None:
    """The last directory of this run that a text without markers names, of those that the suite gave.

    What it was before (`now /b (was /a)`) is no statement of where it is.
    """
    texts = (_FORMER.sub("", p.content) for m in request.prompt.messages for p in m.parts if isinstance(p, Text))
    named = [place for text in texts if f"[fp{case.part.nonce}." not in text for place in _places(case, text)]
    return named[-1] if named else None


def _places(case: Case, text: str) -> list[str]:
    """The workspaces that a text names, in order. One whose name begins another's is told apart."""
    every = sorted(set(case.part.directories.values()), key=len, reverse=True)
    return re.findall(rf"(?:{'|'.join(map(re.escape, every))})(?![\w-])", text)


def _short(case: Case, place: str) -> str:
    """A directory by the sessions that work there: its path differs from run to run."""
    homes = [label for label, directory in case.part.directories.items() if directory == place]
    return f"the directory of {' and '.join(homes)}" if homes else place


# --- files put back --------------------------------------------------------------------------------------------------


def accounts_for(case: Case) -> Finding:
    """What is said of a restore is true: each path is as it was before the turn, or named as left.

    A path that is said to be put back has to be, and nothing may be called left that is as it was.
    """
    said, now = case.step.put_back, case.step.files
    before = _files_before(case)
    if said is None or now is None or before is None:
        return untestable("no restore was seen, or not the files before it")
    wrong = []
    for path in case.expectation.accounts_for or ():
        back = now.get(path) == before.get(path)
        if not back and path not in said.left:
            wrong.append(f"{path} is not as it was, and nothing says so")
        if not back and path in said.restored:
            wrong.append(f"{path} is said to be put back, and is not")
    wrong += [f"{p} is said to be put back, and is not" for p in said.restored if now.get(p) != before.get(p)]
    shown = {"restored": sorted(said.restored), "left": sorted(said.left)}
    if wrong:
        return bad("; ".join(dict.fromkeys(wrong)), list(case.expectation.accounts_for or ()), shown)
    return ok({"restore": case.step.name} | shown, list(case.expectation.accounts_for or ()), shown)


def _files_before(case: Case) -> Mapping[str, str] | None:
    """The files of the step's workspace before the turn that the restore goes back to."""
    step = case.trace.steps[case.step.index]
    turn = getattr(step, "before", None)
    directory = case.part.directories.get(case.step.session)
    begun = next((s.index for s in case.part.steps if s.key == "turn" and s.name == turn), None)
    if begun is None:
        return None
    seen = (s for s in case.part.steps if s.index < begun and case.part.directories.get(s.session) == directory)
    earlier = [s.files for s in seen if s.files is not None]
    return earlier[-1] if earlier else case.trace.files


# --- child agents and records ----------------------------------------------------------------------------------------


def boundary_note(case: Case) -> Finding:
    """Between the history that a child agent was given and its task stands a text that tells what it is (SUB-4)."""
    requests = case.part.requests_of(case.step.name)
    if not requests:
        return untestable(f"the child agent {case.step.name} sent no request")
    own, nonce = f"[fp{case.part.nonce}.{case.step.name}.user]", f"[fp{case.part.nonce}."
    copied, between = False, ""
    for message in requests[0].prompt.messages:
        for part in message.parts:
            text = part.content if isinstance(part, Text) else ""
            if own in text:
                note = between + _before_task(case, text.partition(own)[0])
                return _judge_note(case, note, copied=copied)
            marked = nonce in text or not isinstance(part, Text)
            copied, between = copied or marked, "" if marked else between + text
    return untestable(f"the first request of {case.step.name} does not hold its task")


def _before_task(case: Case, text: str) -> str:
    for step in case.trace.steps:
        for _, call in calls_of(step) if isinstance(step, TurnStep) else ():
            if call.call == case.step.name and call.agent is not None:
                return text.replace(call.agent.task, "")
    return text


def _judge_note(case: Case, note: str, *, copied: bool) -> Finding:
    if not copied:
        return untestable(f"no history was copied to the child agent {case.step.name}")
    if _ROLE.search(note):
        return ok({"agent": case.step.name, "note": note.strip()[:200]})
    return bad("nothing between the copied history and the task tells the child agent what it is", "a note", note[:200])


def revision_differs_from(case: Case) -> Finding:
    """Two forks of a source that went on in between state different revisions of it."""
    other = case.expectation.revision_differs_from or ""
    records = case.part.records
    if case.step.session not in records or other not in records:
        return untestable(f"there are no two fork records of {case.step.session} and {other}")
    pair = (records[case.step.session].revision, records[other].revision)
    if any(field.origin != "reported" for field in pair):
        hidden = "record.revision" in case.observation.description.unobservable
        return unobservable("no channel of this route shows the revision") if hidden else bad("no revision is stated")
    if pair[0].value == pair[1].value:
        return bad(f"the source went on, and both forks state the revision {pair[0].value}")
    return ok({"records": [case.step.session, other]})


def _plain(text: str, nonce: str) -> str:
    markers = Markers(nonce)
    for name in markers.find(text):
        text = text.replace(f" {markers.tag(name)}", "")
    return text


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "empty"


RULES: Mapping[str, Rule] = {
    "todo": todo,
    "schedules": schedules,
    "usage": usage,
    "works_in": works_in,
    "accounts_for": accounts_for,
    "boundary_note": boundary_note,
    "revision_differs_from": revision_differs_from,
}
