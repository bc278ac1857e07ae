"""The tree of a session: moving in it, naming and editing its entries, and reading it from outside.

Source: clauses NAV-1 to NAV-9, LBL-1 to LBL-3, RD-1 to RD-6; seed 003.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

from forkproof.reference.entries import Edited, Entry, Labelled, on_path
from forkproof.reference.labels import Label
from forkproof.reference.model import Failure
from forkproof.reference.navigate import Selected
from forkproof.reference.project import summary_prompt
from forkproof.reference.prompt import Message, Text
from forkproof.reference.reading import Node
from forkproof.reference.refusal import Refusal
from forkproof.reference.runtime import Runtime
from forkproof.reference.session import Session
from forkproof.reference.work import Work

__all__ = ["Listing", "Moved", "Tree", "keep_labels"]


@dataclass(frozen=True, slots=True)
class Moved:
    """The session stands elsewhere: behind this entry (None: before all), with this text put back for editing.

    `summary` is the id of the entry that tells of the branch that was left, if one was written.
    """

    position: str | None
    editor: str = ""
    summary: str | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """Entries in append order, and where the session stands."""

    entries: Sequence[Entry]
    leaf: str | None


class Tree:
    """What can be done in one session's tree.

    `find` gives a session by its id, `idle` one in which nothing is under way; `under_way` holds the works that make a
    session busy and that a person may cancel. `go_on` begins what was said to a session meanwhile.
    """

    def __init__(
        self,
        runtime: Runtime,
        find: Callable[[str], Session | Refusal],
        idle: Callable[[str], Session | Refusal],
        under_way: MutableMapping[str, Work[Any]],
        go_on: Callable[[Session], None],
    ) -> None:
        self._runtime = runtime
        self._find = find
        self._idle = idle
        self._under_way = under_way
        self._go_on = go_on

    # --- moving ----------------------------------------------------------------------------------------------------

    async def branch(self, id_: str, entry: str, *, summary: bool = False) -> Moved | Refusal:
        """Go on from an earlier entry, on request with a summary of the branch that is left."""
        session = self._movable(id_)
        if isinstance(session, Refusal):
            return session
        target = self._entry(session, entry)
        if isinstance(target, Refusal):
            return target
        rules = self._runtime.rules
        selected = rules.select(target)
        left = rules.left_behind(session.leaf, selected.position)
        if not rules.summarizes(left, accepted=summary):
            return _moved(self._runtime, session, selected)
        cancelled = Refusal("other", "the summary was cancelled; the session stays where it is")
        work = Work(lambda: self._leave(session, selected, left), lambda: cancelled)
        self._under_way[id_] = work
        try:
            return await work.result()
        finally:
            # After a restart it may be another one's place; what was said meanwhile is answered now (CMP-7).
            if self._under_way.get(id_) is work:
                del self._under_way[id_]
                self._go_on(session)

    async def _leave(self, session: Session, selected: Selected, left: Sequence[Entry]) -> Moved | Refusal:
        runtime, old = self._runtime, session.leaf
        words = runtime.rules.shown(left, old)
        reply = await runtime.model(summary_prompt(runtime.header(session), words, runtime.rules.pair))
        if isinstance(reply, Failure):
            return Refusal("other", f"no summary, the model answered {reply.status}: {reply.message}")
        text = "\n".join(part.content for part in reply.parts if isinstance(part, Text))
        moved = _moved(runtime, session, selected)
        body = runtime.rules.farewell(session.header.id, old if old is not None else left[-1], text)
        return Moved(moved.position, moved.editor, runtime.append(session, "", body).id)

    def rewind(self, id_: str, turn: str) -> Moved | Refusal:
        """Take a turn of the session's path, and all behind it, off the path; nothing is deleted (clause CUT-6)."""
        session = self._movable(id_)
        if isinstance(session, Refusal):
            return session
        first = next((entry for entry in self._runtime.rules.points(session) if entry.turn == turn), None)
        if first is None:
            return Refusal("unknown-cut", f"the path of session {id_} holds no turn {turn!r}")
        return _moved(self._runtime, session, self._runtime.rules.rewound(first))

    def _movable(self, id_: str) -> Session | Refusal:
        found, idle = self._find(id_), self._idle(id_)
        if isinstance(found, Refusal) or not isinstance(idle, Refusal):
            return idle
        if idle.reason != "busy":
            return idle
        busy = self._runtime.rules.movable(id_, busy=True)
        return found if busy is None else idle

    def _entry(self, session: Session, id_: str) -> Entry | Refusal:
        entries = self._runtime.rules.listing(session)
        unknown = Refusal("unknown-cut", f"session {session.header.id} holds no entry {id_!r}")
        return next((entry for entry in entries if entry.id == id_), unknown)

    # --- naming and editing ----------------------------------------------------------------------------------------

    def label(self, id_: str, entry: str, text: str) -> Entry | Refusal:
        """Name an entry; an empty text takes its name away (clause LBL-1)."""
        written = self._write(id_, entry, lambda target: Labelled(target.id, text))
        if isinstance(written, Refusal):
            return written
        session, target, setter = written
        session.labels.pop(target.id, None)
        if text:
            session.labels[target.id] = Label(target, text, setter.stamp.at, setter)
        return setter

    def edit(self, id_: str, entry: str, text: str) -> Entry | Refusal:
        """From here on show the model this text in place of what the entry says (clause LBL-3)."""
        written = self._write(id_, entry, lambda target: Edited(target.id, text))
        return written if isinstance(written, Refusal) else written[2]

    def _write(
        self, id_: str, entry: str, body: Callable[[Entry], Labelled | Edited]
    ) -> tuple[Session, Entry, Entry] | Refusal:
        session = self._idle(id_)
        if isinstance(session, Refusal):
            return session
        target = self._entry(session, entry)
        if isinstance(target, Refusal):
            return target
        return session, target, self._runtime.append(session, "", body(target))

    # --- reading ---------------------------------------------------------------------------------------------------

    def entries(self, id_: str, since: str | None = None) -> Listing | Refusal:
        """All entries, or those strictly later than `since` (clauses RD-1 to RD-3)."""
        session = self._find(id_)
        if isinstance(session, Refusal):
            return session
        rules = self._runtime.rules
        found = rules.listing(session)
        later = found if since is None else rules.behind(found, since)
        return later if isinstance(later, Refusal) else Listing(later, rules.standing(session))

    def nodes(self, id_: str) -> list[Node] | Refusal:
        """All entries as a forest, with their labels (clauses RD-4, LBL-1)."""
        session = self._find(id_)
        if isinstance(session, Refusal):
            return session
        rules = self._runtime.rules
        return rules.forest(rules.listing(session), session.labels)

    def history(self, id_: str) -> list[Message] | Refusal:
        """What was said on the active branch, as the model will be sent it (clauses RD-5, TRE-3)."""
        session = self._find(id_)
        if isinstance(session, Refusal):
            return session
        context = self._runtime.context(session)
        # Paired as a request is: a reader sees each result behind its call, and those that are unknown (TRE-3).
        return self._runtime.rules.pair(self._runtime.rules.history(session, context))


def _moved(runtime: Runtime, session: Session, selected: Selected) -> Moved:
    runtime.stand(session, selected.position)
    return Moved(None if session.leaf is None else session.leaf.id, selected.editor)


def keep_labels(runtime: Runtime, source: Session, child: Session) -> None:
    """Give a fork the labels of entries on its path; those that were set elsewhere are set anew in it (LBL-2)."""
    if not source.labels:
        return
    leaf = child.leaf
    for label in runtime.rules.carried(source.labels, leaf):
        setter = label.setter
        if not on_path(setter, leaf):
            setter = runtime.append(child, "", Labelled(label.target.id, label.text), label.at)
        child.labels[label.target.id] = label._replace(setter=setter)
