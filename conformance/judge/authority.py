"""Expectations on settings, questions to the person, and hooks: what was really used, asked and told.

Source: clauses SET-1 to SET-8, AUT-1 to AUT-5, OPS-6, REC-7.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from forkproof.adapters.model.script import SeenRequest
from forkproof.adapters.prompt import ToolCall
from forkproof.conformance.judge.finding import Case, Finding, Rule, bad, ok, untestable
from forkproof.conformance.trace.settings import HookInput

__all__ = ["RULES", "differing_settings"]

_EFFORT = ("effort", "reasoning_effort")
"""How requests name the reasoning level: the reference's own word, and the codecs' one."""


def asked(case: Case) -> Finding:
    """Whether the person was asked about each call so far; a session's name asks for the one that the question named.

    That nobody was asked about a call which never came to be proves nothing.
    """
    wanted = dict(case.expectation.asked or {})
    never = [call for call in wanted if f"{call}.call" not in case.part.produced]
    if never:
        return untestable(f"{', '.join(never)} never came to be, so nobody could be asked about it")
    names = {native: label for label, native in case.part.sessions.items()}
    seen: dict[str, Any] = {}
    wrong = []
    for call, want in wanted.items():
        sessions = [names.get(q.session, q.session) for q in case.step.asked if q.call == call]
        seen[call] = sessions if isinstance(want, str) else bool(sessions)
        if isinstance(want, str):
            wrong += [] if sessions and set(sessions) == {want} else [f"{call} was asked for {sessions or 'nobody'}"]
        elif bool(sessions) != want:
            wrong.append(f"the person was {'not ' if want else ''}asked about {call}")
    if wrong:
        return bad("; ".join(wrong), wanted, seen)
    return ok({"asked": seen, "step": case.step.index}, wanted, seen)


def settings(case: Case) -> Finding:
    """What every request of the turn shows of these settings."""
    used = case.expectation.settings
    requests = case.part.requests_of(case.step.name)
    if used is None or not requests:
        return _no_request(case)
    wanted = {name: value for name in ("model", "effort", "tools") if (value := getattr(used, name)) is not None}
    for request in requests:
        seen = {name: value for name, value in _shown(request).items() if name in wanted}
        wrong = [f"{n} is {seen[n]}, not {wanted[n]}" for n in wanted if not _same(n, seen[n], wanted[n])]
        if wrong:
            return bad(f"request {request.index}: {'; '.join(wrong)}", wanted, seen)
    return ok({"requests": [r.index for r in requests]}, wanted, wanted)


def _no_request(case: Case) -> Finding:
    return untestable(f"turn {case.step.name} sent no request to the model ({case.step.detail or case.step.outcome})")


def _shown(request: SeenRequest) -> dict[str, Any]:
    prompt = request.prompt
    effort = next((prompt.settings[name] for name in _EFFORT if name in prompt.settings), "")
    return {"model": prompt.model, "effort": effort, "tools": list(prompt.tools)}


def _same(name: str, seen: Any, wanted: Any) -> bool:
    return sorted(seen) == sorted(wanted) if name == "tools" else bool(seen == wanted)


def offered(case: Case) -> Finding:
    """Whether the request that each call answered offered the call's tool."""
    wanted = dict(case.expectation.offered or {})
    seen: dict[str, bool] = {}
    requests = case.part.requests_of(case.step.name)
    for request, later in pairwise(requests):
        for call, tool in _tools_called(later, case).items():
            if call in wanted and call not in seen:
                seen[call] = tool in request.prompt.tools
    missing = [call for call in wanted if call not in seen]
    if missing:
        return untestable(f"no request of the turn shows the call {', '.join(missing)}")
    wrong = [f"the tool of {c} was {'not ' if wanted[c] else ''}offered" for c in wanted if seen[c] != wanted[c]]
    return bad("; ".join(wrong), wanted, seen) if wrong else ok({"offered": seen}, wanted, seen)


def _tools_called(request: SeenRequest, case: Case) -> Mapping[str, str]:
    """Call -> the native tool that it names, for the calls of this run in a request."""
    prefix = f"call_fp{case.part.nonce}_"
    parts = (part for message in request.prompt.messages for part in message.parts)
    return {p.id.removeprefix(prefix): p.name for p in parts if isinstance(p, ToolCall) and p.id.startswith(prefix)}


def prompt_once(case: Case) -> Finding:
    """Each named item stands exactly once in each of the turn's requests."""
    requests = case.part.requests_of(case.step.name)
    if not requests:
        return _no_request(case)
    wanted = dict.fromkeys((p.item for p in case.expectation.prompt_once or ()), 1)
    for request in requests:
        seen = {name: sum(item.name == name for item in request.items) for name in wanted}
        if seen != wanted:
            said = ", ".join(f"{name} stands {times} times" for name, times in seen.items() if times != 1)
            return bad(f"request {request.index}: {said}", wanted, seen)
    return ok({"requests": [r.index for r in requests]}, wanted, wanted)


def hook_runs(case: Case) -> Finding:
    """How often each hook ran up to this step, for whatever session."""
    wanted = dict(case.expectation.hook_runs or {})
    seen = {name: sum(run.hook == name for run in case.step.hooks) for name in wanted}
    if seen == wanted:
        return ok({"hook_runs": seen, "step": case.step.index}, wanted, seen)
    said = ", ".join(f"{n} ran {seen[n]} times, not {wanted[n]}" for n in wanted if seen[n] != wanted[n])
    return bad(said, wanted, seen)


def hook_input(case: Case) -> Finding:
    """What each hook was told when it ran last."""
    names = {native: label for label, native in case.part.sessions.items()}
    wanted: dict[str, Any] = {}
    seen: dict[str, Any] = {}
    for name, told in (case.expectation.hook_input or {}).items():
        run = next((run for run in reversed(case.step.hooks) if run.hook == name), None)
        if run is None:
            return untestable(f"hook {name} never ran")
        wanted[name] = _told(told)
        said = {"session": names.get(run.session, run.session), "source": names.get(run.source or "", run.source)}
        seen[name] = {key: value for key, value in {**said, "cause": run.cause}.items() if key in wanted[name]}
    wrong = [f"{n} was told {seen[n]}" for n in wanted if seen[n] != wanted[n]]
    return bad("; ".join(wrong), wanted, seen) if wrong else ok({"hook_input": seen}, wanted, seen)


def _told(told: HookInput) -> dict[str, str]:
    return {name: value for name in ("session", "source", "cause") if (value := getattr(told, name)) is not None}


def differing_settings(seen: Any, wanted: Mapping[str, Any]) -> str:
    """What a record's settings say otherwise than wanted: only the named ones count. Empty if nothing.

    A setting is wanted by its value, or as `{value: ..., origin: ...}`.
    """
    if not isinstance(seen, Mapping):
        return "which are no settings"
    for name, want in wanted.items():
        stated = seen.get(name)
        if not isinstance(stated, Mapping):
            return f"without {name}"
        expected = want if isinstance(want, Mapping) else {"value": want}
        for part, value in expected.items():
            if stated.get(part) != value:
                return f"whose {name} has {part} {stated.get(part)}, not {value}"
    return ""


RULES: Mapping[str, Rule] = {
    "asked": asked,
    "settings": settings,
    "offered": offered,
    "prompt_once": prompt_once,
    "hook_runs": hook_runs,
    "hook_input": hook_input,
}
