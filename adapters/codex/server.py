"""A running `codex app-server`: its process, the talk with it, and the turns that it tells of."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from forkproof.adapters import environment
from forkproof.adapters.codex import approvals, configuration
from forkproof.adapters.codex.answers import StoredTurn, at, stored_turn, text
from forkproof.adapters.codex.turns import Ending, Ledger
from forkproof.adapters.errors import HarnessDied, StartFailed
from forkproof.adapters.jsonrpc import Peer, RpcError
from forkproof.adapters.protocol import Deadlines, Endpoint, Person
from forkproof.adapters.supervisor import Supervised

__all__ = ["AppServer"]

_CLIENT = {
    "clientInfo": {"name": "forkproof", "title": None, "version": "1"},
    "capabilities": {"experimentalApi": True, "requestAttestation": False},
}

_CHANGE_SECONDS = 5.0

# A turn may wait for a command while the player does other things, each within a deadline of its own.
_OPERATIONS_IN_A_TURN = 10


class AppServer:
    """One app-server process. Made by `start`, ended by `stop`; the requests in between raise as `Peer.request` does.

    `approvals` are the methods by which it asked for approval, in order; `person` answers them, if there is one.
    """

    def __init__(self, process: Supervised, deadlines: Deadlines) -> None:
        """Use `start`."""
        self._process = process
        self._deadlines = deadlines
        self.ledger = Ledger()
        self.approvals: list[str] = []
        self.person: Person | None = None
        self._peer = Peer(process, jsonrpc_member=False, on_request=self._asked, on_notification=self.ledger.hear)

    @classmethod
    async def start(cls, command: Sequence[str], root: Path, endpoint: Endpoint, deadlines: Deadlines) -> AppServer:
        """Start the program with a HOME of its own below `root` and shake hands; a HOME that is there is used as it is.

        Raises an `AdapterError`, and leaves nothing running then.
        """
        home = root / "home"
        environment.make_home(home)
        if not (home / "config.toml").exists():
            (home / "config.toml").write_text(configuration.render(endpoint.url), encoding="utf-8")
        own = {"CODEX_HOME": str(home), configuration.KEY_VARIABLE: endpoint.key}
        process = await Supervised.start(
            (*command, "app-server"),
            directory=home,
            environment=environment.build(home, own),
            stop_within=deadlines.stop,
        )
        server = cls(process, deadlines)
        try:
            await server._shake_hands()
        except BaseException:
            await server.stop()
            raise
        return server

    async def _shake_hands(self) -> None:
        try:
            await self._peer.request("initialize", _CLIENT, self._deadlines.start)
            self._peer.notify("initialized")
        except HarnessDied as error:
            raise StartFailed(error.cause, "`forkproof harness doctor codex` looks for the cause") from error
        except RpcError as error:
            cause = f"codex app-server refused the handshake: {error}"
            raise StartFailed(cause, "docs/codex.md names the releases that were driven") from error

    @property
    def running(self) -> bool:
        """Whether the process has not ended."""
        return self._process.returncode is None

    async def ask(self, method: str, params: Any) -> Any:
        """The result of one request. Raises `RpcError` for an error answer, else an `AdapterError`."""
        return await self._peer.request(method, params, self._deadlines.operation)

    async def run_turn(self, thread: str, words: str) -> Ending:
        """Give a thread a user message and wait for the end of its turn."""
        message = {"type": "text", "text": words, "text_elements": []}
        answer = await self.ask("turn/start", {"threadId": thread, "input": [message]})
        turn = text(answer, "turn", "id")
        self.ledger.begun(thread, turn)
        return await self._end_of(turn, self._deadlines.operation * _OPERATIONS_IN_A_TURN)

    async def compact(self, thread: str) -> Ending:
        """Compact a thread's history and wait for the turn in which Codex does so."""
        begun = self.ledger.next_start(thread)
        await self.ask("thread/compact/start", {"threadId": thread})
        seconds = self._deadlines.operation
        turn = await self._peer.attend(asyncio.shield(begun), seconds, "the start of the compaction")
        return await self._end_of(turn, seconds)

    async def change(self, thread: str, settings: Mapping[str, Any]) -> None:
        """Change a thread's settings, and wait until Codex tells that they are in force.

        Its answer comes before that. A change that changes nothing is told by nothing, so there is an end to the wait.
        """
        told = self.ledger.next_change(thread)
        await self.ask("thread/settings/update", {"threadId": thread, **settings})
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CHANGE_SECONDS):
                await asyncio.shield(told)

    async def end_of_queued(self, ticket: str) -> Ending:
        """Wait until a queued message has become a turn, and for the end of that."""
        seconds = self._deadlines.operation
        turn = await self._peer.attend(asyncio.shield(self.ledger.turn_of(ticket)), seconds, "a queued message's turn")
        return await self._end_of(turn, seconds)

    async def _end_of(self, turn: str, seconds: float) -> Ending:
        ending = asyncio.shield(self.ledger.ending(turn))
        return await self._peer.attend(ending, seconds, "the end of a turn (turn/completed)")

    async def turns(self, thread: str) -> tuple[StoredTurn, ...]:
        """All turns of a thread, oldest first, in the server's own listing; none for a thread that had no turn yet."""
        params = {"threadId": thread, "sortDirection": "asc", "itemsView": "full", "limit": 100}
        found: list[StoredTurn] = []
        cursor: Any = None
        while True:
            try:
                page = await self.ask("thread/turns/list", params | ({"cursor": cursor} if cursor else {}))
            except RpcError as error:
                if "not materialized yet" in error.message:
                    return ()
                raise
            found.extend(stored_turn(turn) for turn in at(page, "data") or ())
            cursor = at(page, "nextCursor")
            if not cursor:
                return tuple(found)

    async def _asked(self, method: str, params: Any) -> Any:
        if method in approvals.REQUESTS:
            self.approvals.append(method)
        turn = at(params, "turnId")
        return await approvals.answer(method, params, self.person, self.ledger.ending(turn) if turn else None)

    def diagnostics(self) -> str:
        """The end of standard error, the approvals that were asked for, and answers that belong to nothing."""
        notes = [f"asked for an approval: {method}" for method in self.approvals]
        notes += [f"sent {oddity}" for oddity in self._peer.oddities]
        return "\n".join(part for part in (self._process.stderr(), *notes) if part)

    async def threads(self) -> list[Any]:
        """Every thread that Codex lists, in its order."""
        found: list[Any] = []
        cursor: Any = None
        while True:
            page = await self.ask("thread/list", {"limit": 100} | ({"cursor": cursor} if cursor else {}))
            found.extend(at(page, "data") or ())
            cursor = at(page, "nextCursor")
            if not cursor:
                return found

    def kill(self) -> None:
        """End the process and every descendant at once, as a crash would; `stop` it afterwards all the same."""
        self._process.kill()

    async def stop(self) -> None:
        """End the process and every descendant; never raises, and may be called twice."""
        await self._process.stop()
        await self._peer.close()
