"""One `pi --mode rpc` process: its talk, its turns, and the one session that it has open."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forkproof.adapters import environment
from forkproof.adapters.errors import Garbage, HarnessDied, StartFailed
from forkproof.adapters.pi.peer import Event, Peer, Rejected
from forkproof.adapters.pi.turns import Ledger, Turn
from forkproof.adapters.protocol import Deadlines
from forkproof.adapters.supervisor import Supervised

__all__ = ["PiProcess", "Standing", "Start"]

_TURN_OPERATIONS = 10
"""A turn may wait for a command while the player does other things, each within a deadline of its own."""

_LOOK_EVERY, _QUIET_FOR = 0.05, 2.0
"""Seconds between two looks for a turn that goes on unseen, and without a command after which it is over."""


@dataclass(frozen=True, slots=True)
class Start:
    """How to start a pi: the whole command but for what is particular to one start, its HOME, and its variables.

    `settles` says whether this release ends its turns with `agent_settled`; `roams` whether a fork stays in the
    directory of its source wherever pi was started; `ask` answers a question of a hook, which comes and goes as JSON.
    """

    command: Sequence[str]
    home: Path
    variables: Mapping[str, str]
    deadlines: Deadlines
    settles: bool
    roams: bool
    ask: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Standing:
    """What pi states of the session that it has open. `file` is where it is or will be stored."""

    id: str
    file: Path | None
    model: str
    effort: str
    streaming: bool
    compacting: bool


class PiProcess:
    """One running pi. Made by `start`, ended by `stop` or `kill`; the requests in between raise as `Peer.request`.

    `open` is the session that it has open, as `look` saw it last; `free` says that nobody needs that one any more;
    `directory` is where it was started.
    """

    def __init__(self, process: Supervised, start: Start, directory: Path) -> None:
        """Use `start`."""
        self._process = process
        self.directory = directory
        self._deadlines = start.deadlines
        self._ask = start.ask
        self._told: dict[str, Mapping[str, Any]] = {}
        self._unseen: set[asyncio.Task[None]] = set()
        self._own: frozenset[int] = frozenset()
        self.ledger = Ledger(settles=start.settles)
        self.peer = Peer(process, self._hear)
        self.open = Standing("", None, "", "", streaming=False, compacting=False)
        self.compacting = False
        self.free = False
        self._watch = asyncio.create_task(self._watch_end())

    @classmethod
    async def start(cls, how: Start, directory: Path, *more: str) -> PiProcess:
        """Start pi in this directory with these further arguments, and wait until it answers.

        Raises an `AdapterError`, and leaves nothing running then.
        """
        process = await Supervised.start(
            (*how.command, *more),
            directory=directory,
            environment=environment.build(how.home, how.variables),
            stop_within=how.deadlines.stop,
        )
        pi = cls(process, how, directory)
        try:
            await pi.look(how.deadlines.start)
            if not how.settles:  # only these releases run on unseen
                pi._own = frozenset(process.leftovers())
        except HarnessDied as error:
            await pi.stop()
            raise StartFailed(error.cause, "`forkproof harness doctor pi` looks for the cause") from error
        except BaseException:
            await pi.stop()
            raise
        return pi

    # --- Talking ---------------------------------------------------------------------------------------------------

    async def ask(self, kind: str, deadline: float | None = None, **members: Any) -> Any:
        """The data of one answer. Raises `Rejected` for a failure that pi states, else an `AdapterError`."""
        return await self.peer.request(kind, deadline or self._deadlines.operation, **members)

    async def patiently(self, kind: str) -> Any:
        """As `ask`, for what may wait for the model while the player does other things."""
        return await self.ask(kind, self._deadlines.operation * _TURN_OPERATIONS)

    async def look(self, deadline: float | None = None) -> Standing:
        """Ask pi which session it has open and how it stands."""
        told = await self.ask("get_state", deadline)
        match told:
            case {"sessionId": str(session)}:
                model = told.get("model")
                file = told.get("sessionFile")
                self.open = Standing(
                    session,
                    Path(file) if isinstance(file, str) else None,
                    str(model.get("id")) if isinstance(model, Mapping) else "",
                    str(told.get("thinkingLevel") or ""),
                    streaming=bool(told.get("isStreaming")),
                    compacting=bool(told.get("isCompacting")),
                )
                return self.open
        raise Garbage(
            f"get_state names no session: {str(told)[:200]}", "docs/pi.md names the releases that were driven"
        )

    async def bridge(self, action: str, **members: Any) -> Any:
        """What the bridge's action gave, None where the session was replaced before it could say.

        Raises `Rejected` with pi's words where it failed.
        """
        token = secrets.token_hex(4)
        asked = json.dumps({"token": token, "do": action, **members})
        await self.ask("prompt", message=f"/forkproof {asked}")
        told = self._told.pop(token, None)
        if told is not None and "failed" in told:
            raise Rejected(str(told["failed"]))
        return None if told is None else told.get("done")

    async def until_quiet(self) -> None:
        """Return when pi says that nothing runs: older releases say so a moment after their last event."""
        while self.ledger.unsure and not self.ledger.busy:
            self.ledger.unsure = (await self.look()).streaming

    def replaced(self) -> None:
        """Note that pi opened another session.

        0.73.1 does not stop what ran in the one before, and tells nothing more of it. That is over when none of its
        commands runs, for long enough to ask the model once more.
        """
        if turns := self.ledger.replaced():
            task = asyncio.create_task(self._see_off(turns))
            self._unseen.add(task)
            task.add_done_callback(self._unseen.discard)

    async def _see_off(self, turns: Sequence[Turn]) -> None:
        quiet = 0.0
        while quiet < _QUIET_FOR:
            await asyncio.sleep(_LOOK_EVERY)
            quiet = quiet + _LOOK_EVERY if self._own.issuperset(self._process.leftovers()) else 0.0
        for turn in turns:
            self.ledger.lose(turn)

    async def attend(self, ended: asyncio.Future[Any]) -> Any:
        """Wait for the end of a turn."""
        seconds = self._deadlines.operation * _TURN_OPERATIONS
        return await self.peer.attend(asyncio.shield(ended), seconds, "the end of a turn")

    @property
    def idle(self) -> bool:
        """Whether another session can be opened here and nothing is lost: nothing runs, and what is open is stored."""
        stored = self.open.file is not None and self.open.file.exists()
        return (stored or self.free) and not self.ledger.busy and not self.compacting and not self.peer.over

    def _hear(self, event: Event) -> None:
        match event:
            case {"type": "extension_ui_request", "method": "notify", "message": str(text)}:
                self._notified(text)
            case {"type": "extension_ui_request", "method": "input", "id": str(number)}:
                value = self._ask(str(event.get("placeholder") or ""))
                self.peer.send({"type": "extension_ui_response", "id": number, "value": value})
            case _:
                self.ledger.hear(event)

    def _notified(self, text: str) -> None:
        try:
            told = json.loads(text)
        except ValueError:
            return
        if isinstance(told, dict) and isinstance(told.get("forkproof"), str):
            self._told.setdefault(told["forkproof"], told)

    # --- Ending ----------------------------------------------------------------------------------------------------

    async def _watch_end(self) -> None:
        error = await self.peer.ended()
        self.ledger.fail(error)

    def diagnostics(self) -> str:
        """The end of standard error, and what arrived and belongs to nothing."""
        return "\n".join(p for p in (self._process.stderr(), *(f"sent {odd}" for odd in self.peer.oddities)) if p)

    async def stop(self) -> None:
        """End the process and every descendant; never raises, and may be called twice."""
        await self._process.stop()
        await self._closed()

    async def kill(self) -> None:
        """End it as a crash would, with no chance to write anything."""
        self._process.kill()
        await self._closed()

    async def _closed(self) -> None:
        await self.peer.close()
        for task in self._unseen:
            task.cancel()
        await asyncio.gather(self._watch, *self._unseen, return_exceptions=True)
