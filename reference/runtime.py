"""The runtime: what sessions run on, and the only place where a session's leaf moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from forkproof.reference.approvals import Approvals
from forkproof.reference.clock import Clock, seconds_of
from forkproof.reference.desk import Desk
from forkproof.reference.entries import Body, Checkpoint, Entry, Stamp, append
from forkproof.reference.hooks import NO_HOOKS, Hooks
from forkproof.reference.ids import Ids
from forkproof.reference.inherit import Value
from forkproof.reference.machine import Machine
from forkproof.reference.model import Model
from forkproof.reference.project import prompt_of, with_hooks
from forkproof.reference.prompt import Message, Prompt, Stored
from forkproof.reference.provider import Keeping, Kept
from forkproof.reference.rules import Rules
from forkproof.reference.semantics import Semantics
from forkproof.reference.session import Header, Session
from forkproof.reference.store import Moved, Store, Wrote

__all__ = ["Runtime"]


@dataclass(frozen=True, slots=True)
class Runtime:
    """Everything that a harness was given.

    `keeping` is set where the provider is to keep conversations; `kept` is then what it keeps, by its own ids.
    """

    model: Model
    machine: Machine
    semantics: Semantics
    rules: Rules
    ids: Ids
    clock: Clock
    desk: Desk
    keeping: Keeping | None = None
    kept: dict[str, Kept] = field(default_factory=dict)
    store: Store = field(default_factory=Store)
    approvals: Approvals = field(default_factory=Approvals)
    hooks: Hooks = NO_HOOKS

    def append(self, session: Session, turn: str, body: Body, at: int | str | None = None) -> Entry:
        """Record something behind the session's leaf, now or at the given time."""
        ids = self.ids
        id_ = ids.compaction() if isinstance(body, Checkpoint) else ids.entry()
        if isinstance(at, str):
            stamp = Stamp(id_, session.header.id, turn, seconds_of(at), at)
        else:
            stamp = Stamp(id_, session.header.id, turn, self.clock.now() if at is None else at)
        entry = session.leaf = append(session.leaf, body, stamp)
        session.written.append(entry)
        self.store.write(Wrote(stamp.session, entry))
        if self.rules.flushed(body):
            self.store.flush()
        return entry

    def stand(self, session: Session, leaf: Entry | None) -> None:
        """Let a session go on from elsewhere: from an entry that is there already, or from nothing."""
        session.leaf = leaf
        self.store.write(Moved(session.header.id, leaf))
        self.store.flush()

    def context(self, session: Session) -> Sequence[Entry]:
        """The entries that make up the session's context as of now, as its edits have them."""
        rules, leaf = self.rules, session.leaf
        shown = rules.shown(rules.active(leaf), leaf)
        return rules.thinking(shown, self.model_of(session)) if leaf is not None and leaf.thinks else shown

    def prompt(self, session: Session) -> Prompt:
        """The session's next request, as of now: all of its context, or what the provider does not keep of it yet."""
        header = self.header(session)
        prompt = prompt_of(header, self.context(session), self.rules.pair, self.rules.place(header))
        notes = self.desk.notes_of(session)
        if notes:
            place, *said = prompt.messages
            place = replace(place, parts=(*place.parts, *self.rules.statement(notes)))
            prompt = replace(prompt, messages=(place, *said))
        prompt = replace(
            with_hooks(prompt, session.context),
            tools=self.rules.offered(header.settings),
            cache_key=self.rules.cache_key(header, self.semantics.cache_key),
        )
        if self.keeping is None:
            return prompt
        place, *said = prompt.messages
        id_, rest = self.rules.continuation(tuple(said), self.kept, self.keeping, header.id)
        return replace(prompt, messages=(place, *rest), stored=Stored(self.keeping, id_))

    def settings(self, session: Session) -> Mapping[str, Value]:
        """The session's settings, as of now."""
        return self.rules.in_force(session.header, session.leaf)

    def header(self, session: Session) -> Header:
        """The session's header with the settings that it has now."""
        return session.header._replace(settings=self.settings(session))

    def model_of(self, session: Session) -> str:
        """The model that the session asks, as of now."""
        return str(self.settings(session).get("model", ""))

    def keep(self, session: Session, asked: Prompt, answer: Message, id_: str) -> None:
        """The provider stored a request and its answer under this id, behind what the request continued, if anything.

        Statements of the harness, such as that of the place, are given anew with every request and not kept.
        """
        stored = asked.stored
        if stored is None or self.keeping is None or not id_:
            return
        before = self.kept[stored.id].messages if stored.id is not None and stored.id in self.kept else ()
        self.kept[id_] = Kept(self.keeping, session.header.id, (*before, *asked.messages[1:], answer))
