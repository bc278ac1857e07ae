"""The naive harness: every operation does the obvious thing to lists and dictionaries, one after the other.

Nothing here waits: a turn runs until it needs something from outside, and goes on when that is given. Source: the
contract; design sections 3, 9 and 10.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from forkproof.reference.naive.answers import Failed, Model, No, Stalled, Use
from forkproof.reference.naive.files import Files, write
from forkproof.reference.naive.forking import Asked, cut_out, record_of, settings_of
from forkproof.reference.naive.items import Item, context
from forkproof.reference.naive.prompts import prompt, summary_prompt
from forkproof.reference.naive.session import Fork, Session, Under
from forkproof.reference.naive.tools import printed
from forkproof.reference.prompt import Text, ToolCall

__all__ = ["Choices", "NaiveHarness"]


@dataclass(frozen=True)
class Choices:
    """Where the contract leaves a choice: what a fork of a busy source does, how many turns a compaction keeps."""

    busy_source: str = "interrupt"
    retained_turns: int = 1
    defaults: Mapping[str, str] = field(default_factory=dict)


class NaiveHarness:
    """Sessions as lists of items."""

    def __init__(self, model: Model, choices: Choices) -> None:
        self.model = model
        self.choices = choices
        self.places: dict[str, Files] = {}
        self.sessions: dict[str, Session] = {}
        self.runs: dict[str, int] = {}
        self.released: set[str] = set()
        self._made = 0

    def _new(self, kind: str) -> str:
        self._made += 1
        return f"{kind}{self._made}"

    def _add(self, session: Session, item: Item) -> None:
        session.items.append(item)

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
            self._add(session, Item(self._new("i"), "user", turn, user))
            self._add(session, Item(self._new("i"), "answer", turn, parts=(Text(say),)))
            self._add(session, Item(self._new("i"), "end", turn, "end_turn"))
        return session

    # --- turns -----------------------------------------------------------------------------------------------------

    def prompt(self, id_: str, text: str) -> Under | No:
        """Begin a turn and run it as far as it goes."""
        session = self.sessions.get(id_)
        if session is None:
            return No("unknown-session")
        if session.under is not None:
            return No("busy")
        turn = session.under = Under(self._new("t"), "turn")
        self._add(session, Item(self._new("i"), "user", turn.id, text))
        self._ask(session, turn)
        return turn

    def _ask(self, session: Session, turn: Under) -> None:
        """Ask the model until it has no calls, or until a call has to wait."""
        while turn.stop is None and not turn.waiting:
            answer = self.model(prompt(session.id, session.directory, session.settings, session.items))
            if isinstance(answer, Stalled):
                return
            if isinstance(answer, Failed):
                self._end(session, turn, "failed")
                return
            parts = tuple(p if isinstance(p, Text) else ToolCall(p.id, p.tool, p.arguments) for p in answer)
            if parts:
                self._add(session, Item(self._new("i"), "answer", turn.id, parts=parts))
            turn.waiting = [part for part in answer if isinstance(part, Use)]
            if not turn.waiting:
                self._end(session, turn, "end_turn")
            self._run_calls(session, turn)

    def _run_calls(self, session: Session, turn: Under) -> None:
        """Run each call that need not wait."""
        for use in list(turn.waiting):
            if use.tool != "wait" or (use.id in self.released and use.arguments == "release"):
                turn.waiting.remove(use)
                text = printed(use, session.files, session.directory, self.runs)
                self._add(session, Item(self._new("i"), "result", turn.id, text, call=use.id))

    def _end(self, session: Session, turn: Under, stop: str) -> None:
        self._add(session, Item(self._new("i"), "end", turn.id, stop))
        turn.stop = stop
        session.under = None
        for fork, asked in turn.forks:
            # What was the head at the call is the end of this turn by now; later turns stay out (clause SNAP-1).
            at = asked._replace(kind="after", turn=turn.id) if asked.kind == "head" else asked
            fork.record = self._fork(session, at)

    def release(self, command: str) -> None:
        """Let a waiting command end."""
        self.released.add(command)
        for session in list(self.sessions.values()):
            turn = session.under
            if turn is not None and turn.kind == "turn" and turn.waiting:
                self._run_calls(session, turn)
                if not turn.waiting:
                    self._ask(session, turn)

    def cancel(self, id_: str) -> bool:
        """Interrupt what is under way in a session; whether there was anything."""
        session = self.sessions.get(id_)
        if session is None or session.under is None:
            return False
        under = session.under
        if under.kind == "turn":
            self._end(session, under, "cancelled")
        else:
            session.under = None
            under.stop = No("other")
        return True

    # --- compaction ------------------------------------------------------------------------------------------------

    def compact(self, id_: str) -> Under | No:
        """Let the model sum up everything but the newest turns, and put a summary item behind the history."""
        session = self.sessions.get(id_)
        if session is None:
            return No("unknown-session")
        if session.under is not None:
            return No("busy")
        shown = context(session.items)
        begins = [index for index, item in enumerate(shown) if item.kind == "user"]
        if not begins:
            return No("other")
        kept = min(self.choices.retained_turns, len(begins) - 1)
        border = begins[-kept] if kept else len(shown)
        covered, tail = shown[:border], shown[border:]
        compaction = session.under = Under(self._new("c"), "compaction")
        answer = self.model(summary_prompt(session.id, session.directory, session.settings, covered))
        if isinstance(answer, Stalled):
            return compaction
        session.under = None
        if isinstance(answer, Failed):
            compaction.stop = No("other")
            return compaction
        summary = "\n".join(part.content for part in answer if isinstance(part, Text))
        first = covered[0].covers[1] if covered[0].kind == "summary" else covered[0].id
        covers = (session.id, first, covered[-1].id)
        tail = [item for item in tail if item.kind != "summary"]
        self._add(session, Item(compaction.id, "summary", "", summary, covers=covers, kept=tail))
        compaction.stop = "compacted"
        return compaction

    # --- forking ---------------------------------------------------------------------------------------------------

    def fork(self, id_: str, asked: Asked) -> Fork:
        """A new session from a copy of this one's items up to the cut."""
        fork = Fork()
        source = self.sessions.get(id_)
        turn = source.under if source is not None and source.under is not None and source.under.kind == "turn" else None
        if source is None:
            fork.record = No("unknown-session")
        elif turn is not None and self.choices.busy_source == "wait":
            turn.forks.append((fork, asked))
        elif turn is not None and self.choices.busy_source == "refuse":
            fork.record = No("busy")
        else:
            fork.record = self._fork(source, asked, turn.id if turn is not None else "")
        return fork

    def _fork(self, source: Session, asked: Asked, running: str = "") -> dict[str, Any] | No:
        prefix = cut_out(source.items, asked.kind, asked.turn, running, self.choices.busy_source)
        if prefix is None:
            return No("unknown-cut")
        if (asked.directory in self.places) is asked.isolated:
            return No("other")
        if asked.isolated:
            self.places[asked.directory] = dict(source.files)
        origins = settings_of(source.settings, self.choices.defaults, asked.overrides)
        settings = {name: value for name, (value, _) in origins.items()}
        revision = source.items[-1].id if source.items else "empty"
        files = self.places[asked.directory]
        child = Session(self._new("s"), asked.directory, files, settings, list(prefix.items))
        child.lineage = {"source": source.id, "revision": revision, "cut": prefix.cut, "edge": "fork"}
        self.sessions[child.id] = child
        if "interrupted" in prefix.cut:
            self._add(child, Item(self._new("i"), "end", running, "forked"))
        return record_of(source, child, asked, prefix, origins)
