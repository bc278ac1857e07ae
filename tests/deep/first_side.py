"""The first reference as a side: its coroutines run on a loop of their own until all of them wait."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, Final

from forkproof.reference import entries
from forkproof.reference.approvals import Decision, Question
from forkproof.reference.cut import Point
from forkproof.reference.fork import ForkRequest
from forkproof.reference.harness import Compacted, Harness, PastTurn
from forkproof.reference.model import Call, Failure, Reply
from forkproof.reference.prompt import Prompt, Text
from forkproof.reference.record import Record
from forkproof.reference.refusal import Refusal
from forkproof.reference.rules import RULES, Rules
from forkproof.reference.semantics import Semantics
from forkproof.reference.session import Session
from forkproof.reference.tree import Moved
from forkproof.reference.turn import Ended
from forkproof.reference.wording import SUMMARIZE, marker
from tests.deep.program import Setup
from tests.deep.same import Id
from tests.deep.script import Said, Script, decision
from tests.deep.side import Ask, Pending, Plain, cut_of, lines, refused
from tests.deep.stepped_loop import SteppedLoop

__all__ = ["FirstSide"]

_SUMMARY: Final = re.compile(r"Summary of conversation (\S+), entries (\S+) to (\S+):\n(.*)", re.DOTALL)
_LEFT: Final = re.compile(r"Summary of a branch of conversation (\S+), left at entry (\S+):\n(.*)", re.DOTALL)
_KINDS: Final[Mapping[type, str]] = {
    entries.UserSaid: "user",
    entries.Steered: "steered",
    entries.Answered: "answer",
    entries.ToolEnded: "result",
    entries.TurnEnded: "end",
    entries.Checkpoint: "summary",
    entries.BranchLeft: "left",
    entries.Labelled: "label",
    entries.Edited: "edit",
    entries.SettingsChanged: "set",
}


class FirstSide:
    """The reference harness, or a mutant of it: with other rules, or of another class."""

    def __init__(self, setup: Setup, rules: Rules = RULES, harness: type[Harness] = Harness) -> None:
        self.script = Script()
        self._loop = SteppedLoop()
        self._directories: list[str] = []
        self._tasks: list[asyncio.Task[Any]] = []
        self._questions: list[Question] = []
        semantics = Semantics(
            setup.busy_source,
            retained_turns=setup.retained_turns,
            settings_source=setup.settings_source,
            call_group=setup.call_group,
        )
        self.harness = harness(self._model, semantics=semantics, rules=rules, person=self._person)

    async def _person(self, question: Question) -> Decision:
        self._questions.append(question)
        return decision(question.call)

    async def _model(self, prompt: Prompt) -> Reply | Failure:
        match self.script.answer(prompt):
            case "fails":
                return Failure(500, "no model")
            case "stalls":
                await asyncio.Event().wait()
                return Failure(500, "no model")
            case parts:
                return Reply(
                    tuple(
                        Text(part.text)
                        if isinstance(part, Said)
                        else Call(part.id, part.id, part.tool, part.arguments, part.start, part.end)
                        for part in parts
                    )
                )

    def create(self, directory: str, texts: Mapping[str, str]) -> None:
        self.harness.machine.create(directory, texts)
        self._directories.append(directory)

    def open(self, directory: str, settings: Mapping[str, str]) -> Plain:
        return _session(self.harness.open(directory, settings))

    def import_history(self, directory: str, past: Sequence[tuple[int, str, str]]) -> Plain:
        return _session(self.harness.import_history(directory, [PastTurn(*turn) for turn in past]))

    def prompt(self, session: str, text: str) -> Pending:
        return self._begin(self.harness.prompt(session, text))

    def compact(self, session: str) -> Pending:
        return self._begin(self.harness.compact(session))

    def fork(self, session: str, ask: Ask) -> Pending:
        point = Point(ask.kind, entry=ask.turn) if ask.kind == "at" else Point(ask.kind, ask.turn)
        request = ForkRequest(ask.directory, "isolated" if ask.isolated else "shared", ask.overrides)
        if ask.isolated and ask.directory not in self._directories:
            self._directories.append(ask.directory)
        return self._begin(self.harness.fork(session, point, request))

    def queue(self, session: str, text: str) -> Pending:
        return self._begin(self._queue(session, text))

    async def _queue(self, session: str, text: str) -> Ended | Refusal:
        ticket = self.harness.inbox.queue(session, text)
        return ticket if isinstance(ticket, Refusal) else await self.harness.inbox.ended(ticket)

    def steer(self, session: str, text: str) -> Plain:
        answer = self.harness.inbox.steer(session, text)
        return "heard" if answer is None else refused(answer.reason)

    def branch(self, session: str, entry: str, *, summary: bool) -> Pending:
        return self._begin(self.harness.tree.branch(session, entry, summary=summary))

    def rewind(self, session: str, turn: str) -> Plain:
        return _answer(self.harness.tree.rewind(session, turn))

    def reword(self, session: str, kind: str, entry: str, text: str) -> Plain:
        tree = self.harness.tree
        return _answer((tree.label if kind == "label" else tree.edit)(session, entry, text))

    def reading(self, session: str, since: str | None) -> Plain:
        listing = self.harness.tree.entries(session, since)
        nodes, history = self.harness.tree.nodes(session), self.harness.tree.history(session)
        assert not isinstance(nodes, Refusal)
        assert not isinstance(history, Refusal)
        return {
            "listing": refused(listing.reason)
            if isinstance(listing, Refusal)
            else [[Id("entry", entry.id) for entry in listing.entries], _entry(listing.leaf)],
            "tree": [
                [
                    Id("entry", n.entry.id),
                    _entry(n.under),
                    [n.label, Id("time", str(n.labelled_at))] if n.label else None,
                ]
                for n in nodes
            ],
            "history": lines(self, history),
        }

    def restart(self, *, kill: bool) -> Pending:
        return self._begin(self._restart(kill=kill))

    async def _restart(self, *, kill: bool) -> str:
        await self.harness.restart(kill=kill)
        return "restarted"

    def resume(self, session: str) -> Plain:
        return _session(self.harness.resume(session))

    def delete(self, session: str) -> Plain:
        return _done(self.harness.delete(session))

    def delete_turns(self, session: str, turns: Sequence[str]) -> Plain:
        return _done(self.harness.delete_turns(session, turns))

    def configure(self, session: str, settings: Mapping[str, str]) -> Plain:
        return _answer(self.harness.authority.configure(session, settings))

    def cancel(self, session: str) -> Pending:
        return self._begin(self.harness.cancel(session))

    def release(self, command: str) -> None:
        self.harness.machine.release(command)

    def person_writes(self, directory: str, path: str, text: str) -> bool:
        try:
            self.harness.machine.workspace(directory).write(path, text)
        except OSError:
            return False
        return True

    def settle(self) -> None:
        """Whatever a task raises is a fault of the suite, and no answer."""
        self._loop.settle()
        for task in [task for task in self._tasks if task.done()]:
            task.result()
            self._tasks.remove(task)

    def _begin(self, work: Coroutine[Any, Any, Any]) -> Pending:
        task = self._loop.start(work)
        self._tasks.append(task)
        return lambda: _answer(task.result()) if task.done() else None

    def state(self) -> Plain:
        machine = self.harness.machine
        there = [directory for directory in self._directories if machine.exists(directory)]
        return {
            "sessions": [self._session(id_) for id_ in self.harness.sessions()],
            "files": {directory: dict(machine.workspace(directory).files()) for directory in there},
            "runs": dict(machine.runs()),
            "questions": [[Id("session", q.session), q.call, q.tool] for q in self._questions],
        }

    def _session(self, id_: str) -> Plain:
        session = self.harness.session(id_)
        listing = self.harness.tree.entries(id_)
        assert session is not None
        assert not isinstance(listing, Refusal)
        header = session.header
        lineage = header.lineage
        return {
            "session": Id("session", header.id),
            "directory": header.directory,
            "settings": dict(self.harness._runtime.settings(session)),
            "lineage": lineage and _edge(lineage.source, lineage.revision, lineage.cut, lineage.edge),
            "points": [[Id("turn", point.turn), point.text] for point in self.harness.fork_points(id_)],
            "entries": [[Id("entry", e.id), _KINDS[type(e.body)]] for e in listing.entries],
            "leaf": _entry(listing.leaf),
        }

    def wording(self, text: str) -> Plain:
        if Text(text) in SUMMARIZE.parts:
            return ["asks for a summary"]
        for stop in ("cancelled", "forked"):
            mark = marker(stop)
            if mark is not None and Text(text) in mark.parts:
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
        self._loop.start(self.harness.close())
        self._loop.settle()
        self._loop.close()


def _session(answer: Session | Refusal) -> Plain:
    return refused(answer.reason) if isinstance(answer, Refusal) else {"session": Id("session", answer.header.id)}


def _answer(answer: Any) -> Plain:
    match answer:
        case Refusal(reason):
            return refused(reason)
        case Ended(turn, stop):
            return {"turn": Id("turn", turn), "stop": stop}
        case Compacted(checkpoint):
            return {"compacted": Id("entry", checkpoint)}
        case Moved(position, editor, summary):
            return {"position": _entry(position), "editor": editor, "summary": _entry(summary)}
        case entries.Entry():
            return Id("entry", answer.id)
        case Record():
            return _record(answer)
        case _:
            return answer


def _done(answer: Refusal | None) -> Plain:
    return "done" if answer is None else refused(answer.reason)


def _entry(id_: str | None) -> Plain:
    return None if id_ is None else Id("entry", id_)


def _edge(source: str, revision: str, cut: Mapping[str, str | bool], edge: str) -> Plain:
    return {
        "source": Id("session", source),
        "revision": revision if revision == "empty" else Id("entry", revision),
        "cut": cut_of(cut),
        "edge": edge,
    }


def _record(record: Record) -> Plain:
    """Every field of a record, so that a field that is added must be in the other reference too."""
    named = {"source", "revision", "cut", "edge", "session", "checkpoint"}
    plain = {name: value for name, value in record._asdict().items() if name not in named}
    checkpoint = record.checkpoint
    return {
        **plain,
        **_edge(record.source, record.revision, record.cut, record.edge),
        "session": Id("session", record.session),
        "checkpoint": checkpoint if checkpoint == "none" else Id("entry", checkpoint),
    }
