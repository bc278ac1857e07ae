"""The naive harness as a side."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from forkproof.reference.inherit import DEFAULTS
from forkproof.reference.naive import files
from forkproof.reference.naive.answers import Answer, Failed, No, Stalled, Use
from forkproof.reference.naive.choosing import in_force
from forkproof.reference.naive.forking import Asked
from forkproof.reference.naive.harness import NaiveHarness
from forkproof.reference.naive.navigation import listing, tree
from forkproof.reference.naive.prompts import FOR_A_SUMMARY, STOPPED, prompt
from forkproof.reference.naive.session import Held, Session, Under
from forkproof.reference.naive.turns import Choices
from forkproof.reference.prompt import Prompt, Text
from forkproof.reference.tools import TOOLS
from tests.deep.program import Setup
from tests.deep.same import Id
from tests.deep.script import Said, Script, decision
from tests.deep.side import Ask, Pending, Plain, cut_of, lines, refused

__all__ = ["NaiveSide"]

_SUMMARY: Final = re.compile(r"\(summary of (\S+) from (\S+) to (\S+)\)\n(.*)", re.DOTALL)
_LEFT: Final = re.compile(r"\(summary of what was left in (\S+) at (\S+)\)\n(.*)", re.DOTALL)


class NaiveSide:
    """Operations are over when they return, or when a later one ends them."""

    def __init__(self, setup: Setup) -> None:
        self.script = Script()
        choices = Choices(
            setup.busy_source, setup.retained_turns, DEFAULTS, TOOLS, setup.settings_source, setup.call_group
        )
        self.harness = NaiveHarness(self._model, choices, decision)

    def _model(self, prompt: Prompt) -> Answer:
        match self.script.answer(prompt):
            case "fails":
                return Failed()
            case "stalls":
                return Stalled()
            case parts:
                return [
                    Text(part.text)
                    if isinstance(part, Said)
                    else Use(part.id, part.tool, part.arguments, part.start, part.end)
                    for part in parts
                ]

    def create(self, directory: str, texts: Mapping[str, str]) -> None:
        self.harness.create(directory, texts)

    def open(self, directory: str, settings: Mapping[str, str]) -> Plain:
        return _session(self.harness.open(directory, settings))

    def import_history(self, directory: str, past: Sequence[tuple[int, str, str]]) -> Plain:
        return _session(self.harness.import_history(directory, [(user, say) for _, user, say in past]))

    def prompt(self, session: str, text: str) -> Pending:
        begun = self.harness.prompt(session, text)
        return lambda: _turn(begun)

    def queue(self, session: str, text: str) -> Pending:
        held = self.harness.queue(session, text)
        return lambda: _turn(held)

    def steer(self, session: str, text: str) -> Plain:
        answer = self.harness.steer(session, text)
        return "heard" if answer is None else refused(answer.reason)

    def branch(self, session: str, entry: str, *, summary: bool) -> Pending:
        moving = self.harness.branch(session, entry, summary=summary)
        return lambda: _moved(moving)

    def rewind(self, session: str, turn: str) -> Plain:
        return _moved(self.harness.rewind(session, turn))

    def reword(self, session: str, kind: str, entry: str, text: str) -> Plain:
        item = self.harness.reword(session, kind, entry, text)
        return refused(item.reason) if isinstance(item, No) else Id("entry", item.id)

    def reading(self, session: str, since: str | None) -> Plain:
        found = self.harness.sessions[session]
        listed = listing(found, since)
        return {
            "listing": refused(listed.reason)
            if isinstance(listed, No)
            else [[Id("entry", item.id) for item in listed[0]], _entry(listed[1])],
            "tree": [
                [Id("entry", item.id), _entry(under), label and [label.text, Id("time", label.at)]]
                for item, under, label in tree(found)
            ],
            "history": lines(self, prompt(found, TOOLS).messages[1:]),
        }

    def compact(self, session: str) -> Pending:
        under = self.harness.compact(session)
        return lambda: _compaction(under)

    def fork(self, session: str, ask: Ask) -> Pending:
        asked = Asked(ask.kind, ask.turn, ask.directory, ask.isolated, ask.overrides)
        fork = self.harness.fork(session, asked)
        return lambda: _record(fork.record)

    def restart(self, *, kill: bool) -> Pending:
        self.harness.restart(kill=kill)
        return lambda: "restarted"

    def resume(self, session: str) -> Plain:
        return _session(self.harness.resume(session))

    def delete(self, session: str) -> Plain:
        return _done(self.harness.delete(session))

    def delete_turns(self, session: str, turns: Sequence[str]) -> Plain:
        return _done(self.harness.delete_turns(session, turns))

    def configure(self, session: str, settings: Mapping[str, str]) -> Plain:
        item = self.harness.configure(session, settings)
        return refused(item.reason) if isinstance(item, No) else Id("entry", item.id)

    def cancel(self, session: str) -> Pending:
        was = self.harness.cancel(session)
        return lambda: was

    def release(self, command: str) -> None:
        self.harness.release(command)

    def person_writes(self, directory: str, path: str, text: str) -> bool:
        try:
            files.write(self.harness.places[directory], path, text)
        except files.Wrong:
            return False
        return True

    def settle(self) -> None:
        """Nothing is left to do."""

    def state(self) -> Plain:
        return {
            "sessions": [
                {
                    "session": Id("session", session.id),
                    "directory": session.directory,
                    "settings": in_force(session, session.path),
                    "lineage": _lineage(session.lineage),
                    "points": [[Id("turn", item.turn), item.text] for item in session.path if item.kind == "user"],
                    "entries": [[Id("entry", item.id), item.kind] for item in session.log],
                    "leaf": _entry(session.path[-1].id if session.path else None),
                }
                for session in self.harness.sessions.values()
            ],
            "files": {directory: files.texts(found) for directory, found in self.harness.places.items()},
            "runs": self.harness.runs,
            "questions": [[Id("session", s), call, tool] for s, call, tool in self.harness.questions],
        }

    def wording(self, text: str) -> Plain:
        if text == FOR_A_SUMMARY:
            return ["asks for a summary"]
        for stop, words in STOPPED.items():
            if text == words:
                return [f"turn {stop}"]
        found = _LEFT.fullmatch(text)
        if found is not None:
            session, last, summary = found.groups()
            return ["left", Id("session", session), Id("entry", last), summary]
        found = _SUMMARY.fullmatch(text)
        if found is None:
            return ["unknown words", text]
        session, first, last, summary = found.groups()
        return ["summary", Id("session", session), Id("entry", first), Id("entry", last), summary]

    def close(self) -> None:
        """Nothing is left open."""


def _session(answer: Session | No) -> Plain:
    return refused(answer.reason) if isinstance(answer, No) else {"session": Id("session", answer.id)}


def _entry(id_: str | None) -> Plain:
    return None if id_ is None else Id("entry", id_)


def _done(answer: No | None) -> Plain:
    return "done" if answer is None else refused(answer.reason)


def _turn(under: Under | Held | No | None) -> Plain:
    if isinstance(under, Held):
        return _turn(under.turn)
    if isinstance(under, No):
        return refused(under.reason)
    return None if under is None or under.stop is None else {"turn": Id("turn", under.id), "stop": under.stop}


def _moved(under: Under | No) -> Plain:
    answer = under if isinstance(under, No) else under.stop
    if isinstance(answer, No):
        return refused(answer.reason)
    return answer and {**answer, "position": _entry(answer["position"]), "summary": _entry(answer["summary"])}


def _compaction(under: Under | No) -> Plain:
    if isinstance(under, No):
        return refused(under.reason)
    if isinstance(under.stop, No):
        return refused(under.stop.reason)
    return None if under.stop is None else {"compacted": Id("entry", under.id)}


def _lineage(lineage: Mapping[str, Any] | None) -> Plain:
    if lineage is None:
        return None
    revision = lineage["revision"]
    return {
        **lineage,
        "source": Id("session", lineage["source"]),
        "cut": cut_of(lineage["cut"]),
        "revision": revision if revision == "empty" else Id("entry", revision),
    }


def _record(record: Mapping[str, Any] | No | None) -> Plain:
    if record is None:
        return None
    if isinstance(record, No):
        return refused(record.reason)
    checkpoint = record["checkpoint"]
    own = {"session": Id("session", record["session"])}
    own |= {"checkpoint": checkpoint if checkpoint == "none" else Id("entry", checkpoint)}
    return {**_lineage(record), **own}
