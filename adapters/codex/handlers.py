"""Each operation of the seam in the app-server's terms. One table; what is not in it is unsupported. docs/codex.md."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from forkproof.adapters.codex import modes, reading
from forkproof.adapters.codex.desk import Desk
from forkproof.adapters.codex.forking import fork
from forkproof.adapters.codex.turns import Ending, find_turn, unknown_id
from forkproof.adapters.protocol import (
    Acknowledged,
    Answer,
    AwaitQueued,
    Cancel,
    Compact,
    Configure,
    Delete,
    Fork,
    OpenSession,
    Queue,
    Refused,
    Resume,
    SendPrompt,
    SessionOpened,
    Steer,
    TurnEnded,
    TurnRef,
    Unsupported,
)
from forkproof.adapters.readings import Moved
from forkproof.adapters.tree import Rewind

__all__ = ["HANDLERS"]

_Handler: TypeAlias = Callable[[Desk, Any], Awaitable[Answer]]

_STOPS = {"completed": "end_turn", "interrupted": "cancelled", "failed": "failed"}


async def _open(desk: Desk, asked: OpenSession) -> Answer:
    if strange := modes.strange(asked.settings):
        return Unsupported(f"a new session with {', '.join(strange)}; Codex takes {', '.join(modes.SETTINGS)}")
    params = modes.given({"permissions": "auto"}) | modes.given(asked.settings)
    params |= {"cwd": asked.directory, "historyMode": desk.history}
    return SessionOpened(desk.keep(await desk.server.ask("thread/start", params), asked.settings).id)


async def _prompt(desk: Desk, asked: SendPrompt) -> Answer:
    if asked.attachments:
        return Unsupported("a text file with a message: the app-server takes images and mentions only")
    return _ended(await desk.server.run_turn(asked.session, asked.text))


async def _cancel(desk: Desk, asked: Cancel) -> Answer:
    await desk.server.ask("turn/interrupt", {"threadId": asked.session, "turnId": _latest(desk, asked.session)})
    return Acknowledged()


async def _compact(desk: Desk, asked: Compact) -> Answer:
    ending = await desk.server.compact(asked.session)
    if ending.status == "completed":
        return Acknowledged(ending.turn)
    return Refused("other", f"the compaction was {ending.status}" + (f": {ending.detail}" if ending.detail else ""))


async def _configure(desk: Desk, asked: Configure) -> Answer:
    if strange := modes.strange(asked.settings):
        return Unsupported(f"another {', '.join(strange)}; Codex takes {', '.join(modes.SETTINGS)}")
    await desk.server.change(asked.session, modes.changed(asked.settings))
    desk.heed(asked.settings)
    return Acknowledged()


# --- While a turn runs ---------------------------------------------------------------------------------------------


async def _steer(desk: Desk, asked: Steer) -> Answer:
    params = {"threadId": asked.session, "expectedTurnId": _latest(desk, asked.session), "input": _input(asked.text)}
    await desk.server.ask("turn/steer", params)
    return Acknowledged()


async def _queue(desk: Desk, asked: Queue) -> Answer:
    # The client's own id of the message comes back with the turn that it becomes.
    ticket = str(uuid.uuid4())
    params = {"threadId": asked.session, "clientUserMessageId": ticket, "input": _input(asked.text)}
    await desk.server.ask("thread/queue/add", params)
    return Acknowledged(ticket)


async def _await_queued(desk: Desk, asked: AwaitQueued) -> Answer:
    return _ended(await desk.server.end_of_queued(asked.native or ""))


# --- Stored threads ------------------------------------------------------------------------------------------------


async def _rewind(desk: Desk, asked: Rewind) -> Answer:
    stored = await desk.server.turns(asked.session)
    turn = find_turn(stored, TurnRef("", asked.marker, 0, asked.native)) or asked.native or unknown_id()
    await desk.server.ask("thread/revert", {"threadId": asked.session, "beforeTurnId": turn})
    return Moved()


async def _resume(desk: Desk, asked: Resume) -> Answer:
    answer = await desk.server.ask("thread/resume", {"threadId": asked.session, "excludeTurns": True})
    return SessionOpened(desk.keep(answer, {}).id)


async def _delete(desk: Desk, asked: Delete) -> Answer:
    if asked.turns:
        return Unsupported("to delete single turns; `thread/revert` takes off the last ones only")
    await desk.server.ask("thread/delete", {"threadId": asked.session})
    return Acknowledged()


def _latest(desk: Desk, thread: str) -> str:
    # Where no turn was ever begun Codex itself is to say so.
    return desk.server.ledger.latest(thread) or unknown_id()


def _input(words: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": words, "text_elements": []}]


def _ended(ending: Ending) -> TurnEnded:
    return TurnEnded(_STOPS.get(ending.status, ending.status), ending.turn, ending.detail)


HANDLERS: Mapping[type, _Handler] = {
    OpenSession: _open,
    SendPrompt: _prompt,
    Cancel: _cancel,
    Compact: _compact,
    Configure: _configure,
    Steer: _steer,
    Queue: _queue,
    AwaitQueued: _await_queued,
    Rewind: _rewind,
    Resume: _resume,
    Delete: _delete,
    Fork: fork,
    **reading.HANDLERS,
}
"""The handler of each kind of operation."""
