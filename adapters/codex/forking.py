"""A fork: `thread/fork`, and what the listings of both threads then show."""

from __future__ import annotations

from typing import Any

from forkproof.adapters.codex import modes
from forkproof.adapters.codex.answers import StoredTurn, ThreadState
from forkproof.adapters.codex.desk import Desk
from forkproof.adapters.codex.record import applied_cut, fork_record
from forkproof.adapters.codex.turns import find_turn, unknown_id
from forkproof.adapters.jsonrpc import RpcError
from forkproof.adapters.protocol import Answer, Cut, Fork, Forked, Unknown, Unsupported

__all__ = ["fork"]


async def fork(desk: Desk, asked: Fork) -> Answer:
    """Make a fork. Model, effort and mode are passed only where they are given, so that what it inherits is seen."""
    if strange := modes.strange(asked.settings):
        return Unsupported(f"a fork with {', '.join(strange)}; Codex takes {', '.join(modes.SETTINGS)}")
    source = asked.session if asked.exists else unknown_id()
    stored = await desk.server.turns(source) if asked.exists else ()
    turn = _native_turn(asked.cut, stored)
    if turn is None and asked.cut.kind != "head":
        return Unsupported(f"a cut at a turn that thread {source} does not list")
    params: dict[str, Any] = {"threadId": source, "excludeTurns": True, **modes.given(asked.settings)}
    if turn is not None:
        params["beforeTurnId" if asked.cut.kind == "before" else "lastTurnId"] = turn
    if asked.workspace == "isolated":
        # Codex copies no files: the suite does, before the fork, so that Codex finds the directory as it will be.
        params["cwd"] = asked.directory
        if source in desk.threads:
            desk.world.copy(desk.directory(source), asked.directory)
    child = desk.keep(await desk.server.ask("thread/fork", params), asked.settings)
    return await _forked(desk, asked, child, turn, stored)


async def _forked(
    desk: Desk, asked: Fork, child: ThreadState, turn: str | None, stored: tuple[StoredTurn, ...]
) -> Answer:
    try:
        copied = await desk.server.turns(child.id)
    except RpcError as error:
        return Unknown(f"thread {child.id} was made, but Codex does not list its turns: {error.message}")
    source = desk.threads.get(asked.session)
    cut = applied_cut(asked.cut, turn, stored, copied)
    return Forked(fork_record(asked, child, source.directory if source else None, cut, copied))


def _native_turn(cut: Cut, stored: tuple[StoredTurn, ...]) -> str | None:
    """The id to send for the cut's turn: for one that the thread doesn't list, whatever Codex must refuse."""
    if cut.turn is None:
        return None
    if not cut.turn.exists:
        return unknown_id()
    return find_turn(stored, cut.turn) or cut.turn.native
