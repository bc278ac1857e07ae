"""Handlers of what is asked about stored sessions: restart, resume, delete."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from forkproof.adapters.answers import Acknowledged, Answer, SessionOpened
from forkproof.adapters.durable import Delete, Restart, Resume
from forkproof.adapters.inprocess.handlers import refused
from forkproof.reference.harness import Harness
from forkproof.reference.refusal import Refusal

__all__ = ["HANDLERS"]

_Handler: TypeAlias = Callable[[Harness, Any], Awaitable[Answer]]


async def _restart(harness: Harness, asked: Restart) -> Answer:
    await harness.restart(kill=asked.kill)
    return Acknowledged()


async def _resume(harness: Harness, asked: Resume) -> Answer:
    session = harness.resume(asked.session)
    return refused(session) if isinstance(session, Refusal) else SessionOpened(session.header.id)


async def _delete(harness: Harness, asked: Delete) -> Answer:
    refusal = harness.delete_turns(asked.session, asked.turns) if asked.turns else harness.delete(asked.session)
    return Acknowledged() if refusal is None else refused(refusal)


HANDLERS: Mapping[type, _Handler] = {
    Restart: _restart,
    Resume: _resume,
    Delete: _delete,
}
"""The handler of each kind of operation on stored sessions."""
