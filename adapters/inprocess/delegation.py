"""Scopes, wake-ups, side state and files put back, as the reference does them."""

from __future__ import annotations

from collections.abc import Mapping

from forkproof.adapters.inprocess.handlers import Handler, refused
from forkproof.adapters.protocol import Acknowledged, Answer
from forkproof.adapters.side import Advance, Delegate, FilesPutBack, Fold, PutBack, ReadState, ScopeOpened, StateRead
from forkproof.reference.harness import Harness
from forkproof.reference.refusal import Refusal

__all__ = ["CAPABILITIES", "HANDLERS", "POLICIES"]

CAPABILITIES = frozenset({
    "delegate", "fold", "restore", "state", "tool.agent", "tool.memory", "tool.schedule", "tool.tell", "tool.todo",
    "workspace.copy",
})  # fmt: skip

POLICIES: Mapping[str, str] = {"memory_scope": "path", "restore_shared": "limit", "snapshot_holds": "all"}


async def _delegate(harness: Harness, asked: Delegate) -> Answer:
    scope = harness.delegation.delegate(asked.session)
    return refused(scope) if isinstance(scope, Refusal) else ScopeOpened(scope)


async def _fold(harness: Harness, asked: Fold) -> Answer:
    no = harness.delegation.fold(asked.scope)
    return Acknowledged() if no is None else refused(no)


async def _put_back(harness: Harness, asked: PutBack) -> Answer:
    found = (p.turn for p in harness.fork_points(asked.session) if asked.marker in p.text)
    done = harness.put_back(asked.session, asked.turn or next(found, ""))
    return refused(done) if isinstance(done, Refusal) else FilesPutBack(done.restored, done.left)


async def _advance(harness: Harness, asked: Advance) -> Answer:
    await harness.delegation.advance(asked.seconds)
    return Acknowledged()


async def _read(harness: Harness, asked: ReadState) -> Answer:
    state = harness.delegation.state(asked.session)
    return (
        refused(state)
        if isinstance(state, Refusal)
        else StateRead(*state, processes=harness.machine.processes_of(asked.session))
    )


HANDLERS: Mapping[type, Handler] = {
    Delegate: _delegate,
    Fold: _fold,
    PutBack: _put_back,
    Advance: _advance,
    ReadState: _read,
}
