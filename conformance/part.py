"""The books of one part while it is played.

Which session, directory, turn and record each name of the trace stands for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from forkproof.adapters.model.script import ScriptedModel
from forkproof.adapters.protocol import Covered, Cut, Fork, Forked, ForkRecord, ItemRef, TurnRef
from forkproof.conformance.observation import PartSeen, StepSeen, TurnSeen
from forkproof.conformance.trace.model import ForkStep, UnknownName

__all__ = ["BlockedError", "Part"]


class BlockedError(Exception):
    """A step can't be tried: something that it needs did not happen."""


@dataclass(slots=True)
class Part:
    """One part of a trace.

    `paths` holds the turns on each session's path, as the trace means it. `forks` holds what was asked for each fork,
    `stored` the sessions that have to be opened again after a restart.

    `marks` holds, by turn, compaction or move, the path at whose end it stands; `entries` the id under which an item of
    a session was listed first.
    """

    name: str
    script: ScriptedModel
    steps: list[StepSeen] = field(default_factory=list)
    sessions: dict[str, str] = field(default_factory=dict)
    directories: dict[str, str] = field(default_factory=dict)
    paths: dict[str, list[str]] = field(default_factory=dict)
    turns: dict[str, TurnSeen] = field(default_factory=dict)
    records: dict[str, ForkRecord] = field(default_factory=dict)
    probes: dict[str, str] = field(default_factory=dict)
    compactions: dict[str, str] = field(default_factory=dict)
    forks: dict[str, Fork] = field(default_factory=dict)
    stored: set[str] = field(default_factory=set)
    opened: dict[int, tuple[str, str]] = field(default_factory=dict)
    together: list[StepSeen] = field(default_factory=list)
    entries: dict[tuple[str, str], str] = field(default_factory=dict)
    marks: dict[str, list[str]] = field(default_factory=dict)
    covered: dict[str, Covered] = field(default_factory=dict)

    def seen(self) -> PartSeen:
        """Everything seen so far, as frozen data."""
        return PartSeen(
            nonce=self.script.markers.nonce,
            steps=tuple(self.steps),
            requests=tuple(self.script.requests),
            produced=frozenset(self.script.produced),
            sessions=dict(self.sessions),
            directories=dict(self.directories),
            turns=dict(self.turns),
            records=dict(self.records),
            probes=dict(self.probes),
            compactions=dict(self.compactions),
            opened=dict(self.opened),
            together=tuple(self.together),
            thoughts=dict(self.script.given.thoughts),
            covered=dict(self.covered),
        )

    def session(self, label: str) -> str:
        """The harness's id of this session. Raises `BlockedError` if it was never made."""
        if label not in self.sessions:
            raise BlockedError(f"session {label} was never made")
        return self.sessions[label]

    def directory_of(self, *labels: str) -> str | None:
        """The workspace of the first of these sessions that has one."""
        return next((self.directories[label] for label in labels if label in self.directories), None)

    def begin_turn(self, turn: str, label: str) -> None:
        """Enter a turn of this session."""
        self.turns[turn] = TurnSeen(label)
        self.paths[label].append(turn)
        self.marks[turn] = list(self.paths[label])

    def move(self, label: str, name: str, path: list[str]) -> None:
        """Enter that this session now stands at the end of another path, and under which name that is known."""
        self.paths[label] = path
        self.marks[name] = list(path)

    def prepare_child(self, step: ForkStep, source: str, directory: str) -> None:
        """Enter what a fork gives its child: the turns up to the cut, and a directory."""
        path = self.paths[source]
        anchor = step.before or step.after or self.owner_of(step.at)
        if isinstance(anchor, str) and anchor in path:
            path = path[: path.index(anchor) + (0 if step.before else 1)]
        self.paths[step.fork] = list(path)
        self.directories[step.fork] = directory

    def owner_of(self, at: str | UnknownName | None) -> str | None:
        """The turn on a path that an item stands in, as far as its name tells; a call's is found by the script."""
        return None if not isinstance(at, str) else self.script.turn_of(at)

    def request(self, fork: str) -> str:
        """The id of the request for this fork; no other part's request has it."""
        return self.script.markers.tag(f"{fork}.request")

    def adopt(self, label: str, answer: Forked) -> None:
        """Enter the fork record of a session that now exists."""
        self.records[label] = answer.record
        if isinstance(answer.record.session.value, str):
            self.sessions[label] = answer.record.session.value

    def cut(self, step: ForkStep, source: str) -> Cut:
        """The fork's cut in the adapter's terms. Raises `BlockedError` if its turn was not played."""
        if step.head:
            return Cut("head")
        if step.at is not None:
            return Cut("at", item=self._item(step.at))
        anchor = step.before if step.before is not None else step.after
        kind: Literal["before", "after"] = "before" if step.before is not None else "after"
        if isinstance(anchor, UnknownName):
            return Cut(kind, TurnRef(anchor.unknown, self._marker(anchor.unknown), 0, exists=False))
        turn = self.turns.get(str(anchor))
        if turn is None:
            raise BlockedError(f"turn {anchor} was not played")
        path = self.paths.get(source, [])
        ordinal = path.index(str(anchor)) if anchor in path else len(path)
        return Cut(kind, TurnRef(str(anchor), self._marker(str(anchor)), ordinal, turn.native))

    def _item(self, at: str | UnknownName) -> ItemRef:
        if isinstance(at, UnknownName):
            return ItemRef(at.unknown, self._marker(at.unknown), exists=False)
        owner, kind = at.split(".")[:2]
        if at not in self.script.produced:
            raise BlockedError(f"{at} never came to be")
        markers = self.script.markers
        return ItemRef(at, markers.call_id(owner) if kind in ("call", "result") else markers.tag(at))

    def _marker(self, turn: str) -> str:
        return self.script.markers.tag(f"{turn}.user")
