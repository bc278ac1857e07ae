"""Restarts, and taking things away. Source: clauses ATO-4, ISO-4, ISO-5, CMP-1, NAV-9."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from forkproof.reference.naive.answers import No
from forkproof.reference.naive.items import Item
from forkproof.reference.naive.moves import Moves
from forkproof.reference.naive.session import Label, Session

__all__ = ["Lasting"]


class Lasting(Moves):
    """What is stored, and comes back."""

    def restart(self, *, kill: bool) -> None:
        """End the process and start another one. What was under way is interrupted; messages that waited are gone."""
        for session in self.sessions.values():
            for held in session.queue:
                held.turn = No("other")
            session.queue = []
        for session in list(self.sessions.values()):
            if session.under is not None:
                for fork, _ in session.under.forks:
                    fork.record = No("other")
                session.under.forks = []
                if kill:
                    session.under.heard = []
                self.cancel(session.id)
        self.asleep = set(self.sessions)

    def resume(self, id_: str) -> Session | No:
        """Open a stored session where it stands."""
        self.asleep.discard(id_)
        return self.sessions.get(id_) or No("unknown-session")

    def delete(self, id_: str) -> No | None:
        """Delete a session and nothing else."""
        session = self._quiet(id_)
        if isinstance(session, No):
            return session
        del self.sessions[id_]
        return None

    def _quiet(self, id_: str) -> Session | No:
        session = self.sessions.get(id_)
        if session is None:
            return No("unknown-session")
        return No("busy") if session.under is not None else session

    def delete_turns(self, id_: str, gone: Collection[str]) -> No | None:
        """Take turns out of a session. What hangs behind them is copied, and what it points to with it (CMP-1)."""
        session = self._quiet(id_)
        if isinstance(session, No):
            return session
        if not set(gone) <= {item.turn for item in session.path}:
            return No("unknown-cut")
        stood, log, ways, labels = session.path, session.log, session.ways, session.labels
        session.log, session.ways, session.labels = [], {}, {}
        copies: dict[str, Item] = {}
        led: dict[str, list[Item]] = {}
        for item in log:
            before = ways[item.id][:-1]
            session.path = led[before[-1].id] if before else []
            if item.turn not in gone:
                copies[item.id] = item if session.path == before else self._copy(item, copies, gone)
                session.add(copies[item.id])
            led[item.id] = session.path
        session.path = led[stood[-1].id] if stood else []
        for target, label in labels.items():
            if target in copies and label.setter in copies:
                session.labels[copies[target].id] = Label(label.text, label.at, copies[label.setter].id)
        return None

    def _copy(self, item: Item, copies: dict[str, Item], gone: Collection[str]) -> Item:
        """The item under a new id, with the ids in it renewed where the named item was copied too.

        What a summary covers is named as it was: these are items of the conversation as it then stood (CMP-8).
        """
        names = {id_: copy.id for id_, copy in copies.items()}
        return replace(
            item,
            id=self._new("i"),
            target=names.get(item.target, item.target),
            kept=[copies.get(kept.id, kept) for kept in item.kept if kept.turn not in gone],
        )
