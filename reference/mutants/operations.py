"""Mutants in which a fork does more than it was asked for, or fails by halves. Clauses OPS-2, ATO-1, ATO-2."""

from __future__ import annotations

from typing import Final

from forkproof.reference.cut import Point
from forkproof.reference.fork import ForkRequest
from forkproof.reference.harness import Harness
from forkproof.reference.mutants.mutant import Mutant
from forkproof.reference.record import Record
from forkproof.reference.refusal import Refusal

__all__ = ["MUTANTS"]


class _AsksAtTheFork(Harness):
    """A fork asks the model for the next answer at once."""

    async def fork(self, id_: str, point: Point, request: ForkRequest) -> Record | Refusal:
        record = await super().fork(id_, point, request)
        child = None if isinstance(record, Refusal) else self.session(record.session)
        if child is not None:
            await self._runtime.model(self._runtime.prompt(child))
        return record


class _UnknownIsNew(Harness):
    """A fork of a session that is not there opens a new one."""

    async def fork(self, id_: str, point: Point, request: ForkRequest) -> Record | Refusal:
        if self.session(id_) is not None:
            return await super().fork(id_, point, request)
        opened = self.open(request.directory)
        return opened if isinstance(opened, Refusal) else await super().fork(opened.header.id, Point("head"), request)


class _UnknownIsNewest(Harness):
    """A fork of a session that is not there forks the newest one."""

    async def fork(self, id_: str, point: Point, request: ForkRequest) -> Record | Refusal:
        known = self.sessions()
        if self.session(id_) is None and known:
            return await super().fork(known[-1], Point("head"), request)
        return await super().fork(id_, point, request)


class _FailureRewinds(Harness):
    """A fork that is refused leaves the source without its newest turn."""

    async def fork(self, id_: str, point: Point, request: ForkRequest) -> Record | Refusal:
        record = await super().fork(id_, point, request)
        source = self.session(id_)
        if isinstance(record, Refusal) and source is not None and source.leaf is not None:
            turn = source.leaf.turn
            while source.leaf is not None and source.leaf.turn == turn:
                source.leaf = source.leaf.parent
        return record


class _FailureCleansUp(Harness):
    """A fork that is refused empties the workspace that it did not make."""

    async def fork(self, id_: str, point: Point, request: ForkRequest) -> Record | Refusal:
        record = await super().fork(id_, point, request)
        if isinstance(record, Refusal) and self.machine.exists(request.directory):
            workspace = self.machine.workspace(request.directory)
            for path in list(workspace.files()):
                workspace.remove(path)
        return record


MUTANTS: Final = (
    Mutant(
        "fork-asks-the-model",
        "OPS-2",
        "runtime-ownership",
        "A fork sends a request to the model before anybody has said anything.",
        harness=_AsksAtTheFork,
    ),
    Mutant(
        "unknown-source-is-new",
        "ATO-2",
        "missing-source-silent",
        "A fork of a session that is not there gives a new, empty one.",
        harness=_UnknownIsNew,
    ),
    Mutant(
        "unknown-source-is-newest",
        "ATO-2",
        "missing-source-silent",
        "A fork of a session that is not there forks the newest one.",
        harness=_UnknownIsNewest,
    ),
    Mutant(
        "failed-fork-rewinds-source",
        "ISO-1",
        "partial-fork",
        "A fork that is refused takes the newest turn of its source away.",
        harness=_FailureRewinds,
    ),
    Mutant(
        "failed-fork-empties-workspace",
        "ATO-1",
        "partial-fork",
        "A fork that is refused clears the workspace that it was to share.",
        harness=_FailureCleansUp,
    ),
)
