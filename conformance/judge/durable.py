"""Expectations on what a harness keeps: the list of sessions, what a resume opened, consistent reads of a source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from forkproof.adapters.readings import SessionLine, SessionsRead
from forkproof.conformance.judge.finding import Case, Finding, Rule, bad, ok, unobservable, untestable
from forkproof.conformance.judge.prompts import item_json, next_prompt, prefix, request_of
from forkproof.conformance.judge.records import named, names_of
from forkproof.conformance.judge.tree import answered
from forkproof.conformance.provenance import explain

__all__ = ["RULES"]


def lineage(case: Case) -> Finding:
    """The list names the immediate source of each session, or says that it has none."""
    names = names_of(case.part)
    wanted = dict(case.expectation.lineage or {})

    def source(line: SessionLine) -> str | None:
        if line.source is None:
            return None
        return names.get(line.source, "a session that the trace does not know") if line.source else "none"

    return _lines(case, wanted, source, "source")


def titles_differ(case: Case) -> Finding:
    """Each of these sessions has a title, and no two have the same."""
    wanted = case.expectation.titles_differ or ()
    found = _lines(case, dict.fromkeys(wanted), lambda line: line.title, "title")
    if found.status != "ok":
        return found
    times = Counter(title.strip() for title in found.seen.values())
    same = {label: title for label, title in found.seen.items() if times[title.strip()] > 1 or not title.strip()}
    if same:
        seen = named(found.seen, {}, case.part.nonce)  # without what differs from run to run
        return bad(f"{', '.join(same)} can't be told apart by their titles", {"titles": "all different"}, seen)
    return ok(found.witness, {"titles": "all different"}, found.seen)


def _lines(
    case: Case, wanted: Mapping[str, str | None], read: Callable[[SessionLine], str | None], what: str
) -> Finding:
    """What `read` gives for each wanted session, against what is wanted (None: anything)."""
    listed = answered(case.step.readings.read.get("sessions"), SessionsRead)
    if isinstance(listed, Finding):
        return listed
    lines = {line.session: line for line in listed.lines}
    seen: dict[str, str | None] = {}
    for label in wanted:
        id_ = case.part.sessions.get(label)
        if id_ is None:
            return untestable(f"session {label} was never made")
        if id_ not in listed.sessions:
            return bad(f"{label} is not listed", dict(wanted), {label: "not listed"})
        seen[label] = read(lines[id_]) if id_ in lines else None
    silent = [label for label, value in seen.items() if value is None]
    if silent and f"sessions.{what}" in case.observation.description.unobservable:
        return unobservable(f"no channel of this route shows the {what} of a session")
    if silent:
        return bad(f"the list names no {what} for {', '.join(silent)}", dict(wanted), seen)
    wrong = [
        f"{label} has the {what} {seen[label]}, not {w}" for label, w in wanted.items() if w not in (None, seen[label])
    ]
    return bad("; ".join(wrong), dict(wanted), seen) if wrong else ok({"listed": sorted(seen)}, dict(wanted), seen)


def opens(case: Case) -> Finding:
    """The resume opened the session that was named: the id is the same."""
    asked, got = case.part.opened.get(case.step.index, ("", ""))
    if not asked:
        return untestable("the resume opened nothing")
    if asked == got:
        return ok({"opened": case.step.session}, case.expectation.opens, case.step.session)
    known = names_of(case.part).get(got, "")
    seen = known if known != case.step.session else "a session with another id"
    return bad(f"the resume of {case.step.session} opened {seen}", case.expectation.opens, seen)


def prefix_of(case: Case) -> Finding:
    """Before its own user message the turn's first request holds a beginning of the named session's history."""
    name = case.expectation.prefix_of or ""
    request, other = request_of(case, 0), next_prompt(case.part, name)
    if request is None:
        return untestable(f"turn {case.step.name} sent no request to the model")
    if other is None:
        return untestable(f"session {name} shows no next prompt")
    # A result that came later may be unknown in the child: which items there are is asked, not how far they came.
    whole = [item.name for item in prefix(other)]
    held = [item.name for item in prefix(request)]
    if held == whole[: len(held)]:
        return ok({"request": request.index, "items": len(held)}, whole, held)
    said = explain(whole[: len(held)], prefix(request), case.lineage, case.step.session)
    return bad(
        f"the context is no beginning of the history of {name}: {said}", whole, [item_json(i) for i in prefix(request)]
    )


def one_successor(case: Case) -> Finding:
    """Each compaction of this step that was done summarized a history of its own (clause SNAP-3)."""
    index = case.step.index
    compactions = [s for s in case.part.together if s.index == index and s.key == "compact"]
    done = [s.name for s in compactions if s.outcome == "done"]
    if compactions and all(s.outcome == "refused" for s in compactions):
        return ok({"refused": [s.name for s in compactions]})
    if not done:
        return untestable("no compaction of this step came to a clear end")
    asked = [tuple(i.name for i in r.items) for r in case.part.requests if r.step == index and r.kind == "summary"]
    if len(set(asked)) >= len(done):
        return ok({"compactions": done, "summaries": len(asked)})
    said = f"{' and '.join(done)} were both done, and both summarized the same history"
    return bad(said, "one successor of each revision", [list(items) for items in asked])


RULES: Mapping[str, Rule] = {
    "lineage": lineage,
    "titles_differ": titles_differ,
    "opens": opens,
    "prefix_of": prefix_of,
    "one_successor": one_successor,
}
