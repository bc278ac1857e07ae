"""Sessions, and turns in them: each runs until it needs something from outside, and goes on when that is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from forkproof.reference.naive.answers import Failed, Model, No, Person, Stalled, Use
from forkproof.reference.naive.choosing import in_force
from forkproof.reference.naive.files import Files, write
from forkproof.reference.naive.forking import Asked
from forkproof.reference.naive.items import Item
from forkproof.reference.naive.prompts import prompt
from forkproof.reference.naive.session import Held, Session, Under
from forkproof.reference.naive.tools import printed
from forkproof.reference.prompt import Text, ToolCall

__all__ = ["Choices", "Turns"]


@dataclass(frozen=True)
class Choices:
    """Where the contract leaves a choice.

    busy_source: what a fork of a busy source does. retained_turns: how many turns a compaction keeps. defaults: the
    settings of a session that was opened without any. tools: those that a model is offered. settings_source: whether a
    child has the settings of the cut, or the latest ones. call_group: what a cut between calls and results does.
    """

    busy_source: str = "interrupt"
    retained_turns: int = 1
    defaults: Mapping[str, str] = field(default_factory=dict)
    tools: tuple[str, ...] = ()
    settings_source: str = "cut"
    call_group: str = "after"


class Turns:
    """Sessions as lists of items."""

    def __init__(self, model: Model, choices: Choices, person: Person) -> None:
        self.model = model
        self.choices = choices
        self.places: dict[str, Files] = {}
        self.sessions: dict[str, Session] = {}
        self.runs: dict[str, int] = {}
        self.released: set[str] = set()
        self.asleep: set[str] = set()
        self.person = person
        self.questions: list[tuple[str, str, str]] = []
        self.approved: set[tuple[str, str]] = set()
        self._made = 0

    def _new(self, kind: str) -> str:
        self._made += 1
        return f"{kind}{self._made}"

    def _idle(self, id_: str) -> Session | No:
        session = self.sessions.get(id_)
        if session is None:
            return No("unknown-session")
        if session.under is not None:
            return No("busy")
        return No("other") if id_ in self.asleep else session

    # --- sessions --------------------------------------------------------------------------------------------------

    def create(self, directory: str, texts: Mapping[str, str]) -> None:
        """A directory with these files."""
        self.places[directory] = {}
        for path, text in texts.items():
            write(self.places[directory], path, text)

    def open(self, directory: str, settings: Mapping[str, str]) -> Session | No:
        """A new session."""
        if directory not in self.places:
            return No("other")
        mine = {**self.choices.defaults, **settings}
        session = Session(self._new("s"), directory, self.places[directory], mine)
        self.sessions[session.id] = session
        return session

    def import_history(self, directory: str, past: Sequence[tuple[str, str]]) -> Session | No:
        """A new session that holds these turns, each a message and its answer, in this order."""
        session = self.open(directory, {})
        if isinstance(session, No):
            return session
        for user, say in past:
            turn = self._new("t")
            session.add(Item(self._new("i"), "user", turn, user))
            session.add(Item(self._new("i"), "answer", turn, parts=(Text(say),)))
            session.add(Item(self._new("i"), "end", turn, "end_turn"))
        return session

    # --- turns -----------------------------------------------------------------------------------------------------

    def prompt(self, id_: str, text: str) -> Under | Held | No:
        """Begin a turn and run it as far as it goes. What is said during a compaction waits for its end (CMP-7)."""
        session = self.sessions.get(id_)
        if session is not None and session.under is not None and session.under.kind != "turn":
            return self.queue(id_, text)
        idle = self._idle(id_)
        return idle if isinstance(idle, No) else self._begin(idle, text)

    def _begin(self, session: Session, text: str) -> Under:
        turn = session.under = Under(self._new("t"), "turn")
        session.add(Item(self._new("i"), "user", turn.id, text))
        self._ask(session, turn)
        return turn

    def steer(self, id_: str, text: str) -> No | None:
        """Speak into the turn that runs; it is a part of that turn (QUE-2)."""
        session = self.sessions.get(id_)
        if session is None or session.under is None or session.under.kind != "turn":
            return No("other")
        session.under.heard.append(text)
        return None

    def queue(self, id_: str, text: str) -> Held | No:
        """Hold a message until nothing is under way; it stays with this session (QUE-1)."""
        session = self.sessions.get(id_)
        if session is None:
            return No("unknown-session")
        if id_ in self.asleep:
            return No("other")
        held = Held(text)
        session.queue.append(held)
        self._go_on(session)
        return held

    def _go_on(self, session: Session) -> None:
        """Begin the message that waits longest, once nothing is under way."""
        if session.under is None and session.queue:
            held = session.queue.pop(0)
            held.turn = Under("", "turn")
            held.turn = self._begin(session, held.text)

    def _ask(self, session: Session, turn: Under) -> None:
        """Ask the model until it has no calls, or until a call has to wait."""
        while turn.stop is None and not turn.waiting:
            self._deliver(session, turn)
            answer = self.model(prompt(session, self.choices.tools))
            if isinstance(answer, Stalled):
                return
            if isinstance(answer, Failed):
                self._end(session, turn, "failed")
                return
            parts = tuple(p if isinstance(p, Text) else ToolCall(p.id, p.tool, p.arguments) for p in answer)
            if parts:
                session.add(Item(self._new("i"), "answer", turn.id, parts=parts))
            turn.waiting = [part for part in answer if isinstance(part, Use)]
            if not turn.waiting and not turn.heard:
                self._end(session, turn, "end_turn")
            self._start_calls(session, turn)

    def _deliver(self, session: Session, turn: Under) -> None:
        """What was said into the turn is read with the next request."""
        for text in turn.heard:
            session.add(Item(self._new("i"), "steered", turn.id, text))
        turn.heard = []

    def _start_calls(self, session: Session, turn: Under) -> None:
        """Run each call that need not wait; one that may not run fails without having run (AUT-3)."""
        for use in list(turn.waiting):
            if self._may_run(session, use):
                self._run_call(session, turn, use)
            else:
                turn.waiting.remove(use)
                text = f"{use.start}\nnot allowed\n{use.end.replace('.end]', '.failed]')}"
                session.add(Item(self._new("i"), "result", turn.id, text, call=use.id))

    def _may_run(self, session: Session, use: Use) -> bool:
        """Whether the permission mode allows a call, or the person."""
        mode = in_force(session, session.path)["permissions"]
        if use.tool == "read" or mode == "auto":
            return True
        earlier = {(session.id, use.tool), ("", use.tool)} & self.approved
        return mode == "ask" and bool(earlier or self._asked(session, use))

    def _asked(self, session: Session, use: Use) -> bool:
        """Ask the person. An answer holds for this call, for all of this session, or for every session (AUT-1)."""
        self.questions.append((session.id, use.id, use.tool))
        answer = self.person(use.id)
        if answer == "allow_for_session":
            self.approved.add((session.id, use.tool))
        if answer == "allow_always":
            self.approved.add(("", use.tool))
        return answer != "reject"

    def _run_call(self, session: Session, turn: Under, use: Use) -> None:
        """Run a call, if it need not wait."""
        if use.tool != "wait" or (use.id in self.released and use.arguments == "release"):
            turn.waiting.remove(use)
            text = printed(use, session.files, session.directory, self.runs)
            session.add(Item(self._new("i"), "result", turn.id, text, call=use.id))

    def _end(self, session: Session, turn: Under, stop: str) -> None:
        self._deliver(session, turn)
        session.add(Item(self._new("i"), "end", turn.id, stop))
        turn.stop = stop
        session.under = None
        for fork, asked in turn.forks:
            # What was the head at the call is the end of this turn by now; later turns stay out (clause SNAP-1).
            at = asked._replace(kind="after", turn=turn.id) if asked.kind == "head" else asked
            fork.record = self._fork(session, at)
        self._go_on(session)

    def _fork(self, source: Session, asked: Asked, running: str = "") -> dict[str, Any] | No:
        raise NotImplementedError

    def release(self, command: str) -> None:
        """Let a waiting command end."""
        self.released.add(command)
        for session in list(self.sessions.values()):
            turn = session.under
            if turn is not None and turn.kind == "turn" and turn.waiting:
                for use in list(turn.waiting):
                    self._run_call(session, turn, use)
                if not turn.waiting:
                    self._ask(session, turn)

    def configure(self, id_: str, settings: Mapping[str, str]) -> Item | No:
        """Change settings from here on, on this path (SET-7)."""
        session = self._idle(id_)
        if isinstance(session, No):
            return session
        item = Item(self._new("i"), "set", call=id_, chosen=dict(settings))
        session.add(item)
        return item

    def cancel(self, id_: str) -> bool:
        """Interrupt what is under way in a session; whether there was anything."""
        session = self.sessions.get(id_)
        if session is None or session.under is None:
            return False
        under = session.under
        if under.kind == "turn":
            self._end(session, under, "cancelled")
        else:
            self._over(session, under, No("other"))
        return True

    def _over(self, session: Session, under: Under, stop: Any) -> None:
        """A compaction or a summary of a branch is over."""
        session.under = None
        under.stop = stop
        self._go_on(session)
