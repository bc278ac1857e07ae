"""The desk: what a session's tools reach besides files, and what is kept of what they did.

Child agents, notes, wake-ups, and the log of file changes. It acts; what holds is decided by `rules`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeAlias

from forkproof.reference.agents import Agent
from forkproof.reference.ids import Ids
from forkproof.reference.machine import Machine
from forkproof.reference.model import Call
from forkproof.reference.notes import Note, NoteKind
from forkproof.reference.prompt import Text
from forkproof.reference.rules import Rules
from forkproof.reference.schedules import Schedule
from forkproof.reference.session import Session
from forkproof.reference.tools import Outcome, use
from forkproof.reference.undo import Change
from forkproof.reference.workspace import Workspace

__all__ = ["SPECIAL", "Begin", "Desk"]

_FOUND_OUT_BY_COMMAND: Final = {"rm": 1, "mv": 2}
"""Commands that change files -> how many paths they name."""


Begin: TypeAlias = Callable[[Session, str], Awaitable[str]]
"""Runs a turn in a session, and tells how it stopped; whoever waits for it owns it: cancelling the wait stops it."""


class Desk:
    """One for a harness. `begin` is set by the harness, which is made later."""

    def __init__(self, rules: Rules, ids: Ids) -> None:
        self.notes: list[Note] = []
        self.changes: list[Change] = []
        self.agents: list[Agent] = []
        self.schedules: list[Schedule] = []
        self.now = 0
        self.begin: Begin | None = None
        self._rules = rules
        self._ids = ids

    async def use(self, call: Call, session: Session, turn: str, machine: Machine) -> Outcome:
        """Do the work of one call of a session's turn."""
        special = SPECIAL.get(call.tool)
        if special is not None:
            return await special(self, call, session)
        return await self._on_files(call, session, turn, machine)

    def notes_of(self, session: Session) -> tuple[Note, ...]:
        """The notes that count where the session stands."""
        return self._rules.notes_at(self.notes, session.leaf) if self.notes else ()

    # --- child agents ----------------------------------------------------------------------------------------------

    async def spawn(self, call: Call, session: Session) -> Outcome:
        """Give a task to a new child agent, and return what it says in the end (clause OPS-5)."""
        match call.arguments:
            case {"task": str(task), "context": ("inherit" | "none") as context}:
                leaf = self._rules.agent_start(session.leaf, call.id, context)
                agent = self._rules.agent_of(self._ids.session(), call.id, session, leaf)
                self.agents.append(agent)
                return await self._work(agent, self._rules.assignment(task, leaf))
            case other:
                return Outcome(done=False, output=f"no task: {other!r}")

    async def tell(self, call: Call, session: Session) -> Outcome:
        """Give a further message to a child agent by its handle; only a live handle reaches one (clause SUB-3)."""
        match call.arguments:
            case {"agent": str(handle), "text": str(text)}:
                own = self._rules.owns
                found = (a for a in self.agents if a.handle == handle and own(a, session.header.id))
                agent = next(found, None)
                if agent is None:
                    return Outcome(done=False, output=f"this session has no agent {handle}")
                return await self._work(agent, text)
            case other:
                return Outcome(done=False, output=f"no message to an agent: {other!r}")

    async def _work(self, agent: Agent, text: str) -> Outcome:
        if self.begin is None:
            return Outcome(done=False, output="no agent can be started")
        stop = await self._rules.attend(self.begin(agent.session, text))
        last = agent.session.leaf
        while last is not None and last.message is None:
            last = last.parent
        parts = last.message.parts if last is not None and last.message is not None else ()
        said = "\n".join(part.content for part in parts if isinstance(part, Text))
        return Outcome(done=stop == "end_turn", output=said)

    # --- notes and wake-ups ----------------------------------------------------------------------------------------

    async def note(self, call: Call, session: Session) -> Outcome:
        """Replace the todo list, or remember something."""
        kind: NoteKind = "todo" if call.tool == "todo" else "memory"
        match call.arguments:
            case {"items": items}:
                texts = tuple(map(str, items))
            case other:
                texts = (str(other),)
        if session.leaf is None:
            return Outcome(done=False, output="nothing was said yet")
        self.notes.append(Note(kind, texts, session.leaf))
        return Outcome(done=True, output=f"noted ({kind})")

    async def schedule(self, call: Call, session: Session) -> Outcome:
        """Set a wake-up for this session."""
        match call.arguments:
            case {"after": int(seconds), "text": str(text)}:
                self.schedules.append(Schedule(session.header.id, self.now + seconds, text))
                return Outcome(done=True, output=f"in {seconds} seconds")
            case other:
                return Outcome(done=False, output=f"no wake-up: {other!r}")

    # --- files -----------------------------------------------------------------------------------------------------

    async def _on_files(self, call: Call, session: Session, turn: str, machine: Machine) -> Outcome:
        """Use a tool, and log which paths it changed."""
        directory = session.header.directory
        paths = _named(call)
        if not paths or not machine.exists(directory):
            return await use(call, machine, directory, session.header.id)
        workspace = machine.workspace(directory)
        before = {path: _content(workspace, path) for path in paths}
        outcome = await use(call, machine, directory, session.header.id)
        known = call.tool in ("write", "edit")
        for path, old in before.items():
            new = _content(workspace, path)
            if new != old:
                self.changes.append(Change(turn, directory, path, old, new, known=known))
        return outcome


def _named(call: Call) -> tuple[str, ...]:
    """The paths that a call is about to change, as far as it names them."""
    match call.tool, call.arguments:
        case (("write" | "edit"), Mapping() as files):
            return tuple(files)
        case "run", str(command):
            name, *words = command.split() or [""]
            return tuple(words[: _FOUND_OUT_BY_COMMAND.get(name, 0)])
        case _:
            return ()


def _content(workspace: Workspace, path: str) -> str | None:
    with contextlib.suppress(OSError):
        return workspace.read(path)
    return None


SPECIAL: Final[Mapping[str, Callable[[Desk, Call, Session], Awaitable[Outcome]]]] = {
    "agent": Desk.spawn,
    "tell": Desk.tell,
    "todo": Desk.note,
    "memory": Desk.note,
    "schedule": Desk.schedule,
}
"""Tool -> what it does, for the tools that are none of `tools`."""
