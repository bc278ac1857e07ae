"""The naive harness: every operation does the obvious thing to lists and dictionaries, one after the other.

Nothing here waits. Source: the contract; design sections 3, 9 and 10.
"""

from __future__ import annotations

from typing import Any

from forkproof.reference.naive.answers import No
from forkproof.reference.naive.choosing import settings_of_child
from forkproof.reference.naive.forking import Asked, cut_out, record_of
from forkproof.reference.naive.items import Item
from forkproof.reference.naive.lasting import Lasting
from forkproof.reference.naive.navigation import carry_labels
from forkproof.reference.naive.session import Fork, Session

__all__ = ["NaiveHarness"]


class NaiveHarness(Lasting):
    """Sessions as lists of items; a fork copies the list."""

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
        prefix = cut_out(
            source.path, asked.kind, asked.turn, running, self.choices.busy_source, self.choices.call_group
        )
        if prefix is None:
            return No("unknown-cut")
        if (asked.directory in self.places) is asked.isolated:
            return No("other")
        if asked.isolated:
            self.places[asked.directory] = dict(source.files)
        choices = self.choices
        origins = settings_of_child(source, prefix.items, asked.overrides, choices.defaults, choices.settings_source)
        settings = {name: value for name, (value, _) in origins.items()}
        revision = source.path[-1].id if source.path else "empty"
        files = self.places[asked.directory]
        child = Session(self._new("s"), asked.directory, files, settings)
        child.begin_with(prefix.items)
        child.source, child.begun = source, prefix.items[-1].id if prefix.items else ""
        child.given = {name: value for name, (value, origin) in origins.items() if origin in ("override", "latest")}
        child.lineage = {"source": source.id, "revision": revision, "cut": prefix.cut, "edge": "fork"}
        self.sessions[child.id] = child
        if prefix.open:
            child.add(Item(self._new("i"), "end", prefix.open, "forked"))
        carry_labels(source, child, self._new)
        return record_of(source, child, asked, prefix, origins)
