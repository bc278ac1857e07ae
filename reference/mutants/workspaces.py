"""Mutants that mix up where tools run, or take a fork for a rollback of the world. Clauses ENV-1 to ENV-3."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from forkproof.reference.cut import Place, Point
from forkproof.reference.entries import Answered, Entry
from forkproof.reference.fork import Child, ForkRequest
from forkproof.reference.harness import Harness
from forkproof.reference.mutants.mutant import Mutant
from forkproof.reference.mutants.surgery import of_forks, path_after
from forkproof.reference.prompt import ToolCall
from forkproof.reference.record import Record, WorkspaceKind
from forkproof.reference.refusal import Refusal
from forkproof.reference.session import Session

__all__ = ["MUTANTS"]


class _RevertsFiles(Harness):
    """A fork takes back the files that the turns after its cut wrote."""

    async def fork(self, id_: str, point: Point, request: ForkRequest) -> Record | Refusal:
        record = await super().fork(id_, point, request)
        source = self.session(id_)
        child = None if isinstance(record, Refusal) else self.session(record.session)
        if source is not None and child is not None:
            for path in _written(path_after(source.leaf, child.leaf)):
                with suppress(FileNotFoundError):
                    self.machine.workspace(source.header.directory).remove(path)
        return record


def _written(entries: list[Entry]) -> list[str]:
    calls = [
        part for e in entries if isinstance(e.body, Answered) for part in e.body.parts if isinstance(part, ToolCall)
    ]
    return [path for call in calls if call.name == "write" for path in call.arguments]


class _IsolatesNothing(Harness):
    """An isolated fork gets the source's own workspace under another name."""

    def _workspace_for(self, source: Session, request: ForkRequest) -> WorkspaceKind | Refusal:
        if request.workspace == "isolated":
            self.machine._workspaces[request.directory] = self.machine.workspace(source.header.directory)  # noqa: SLF001  # the fault
            return "isolated"
        return super()._workspace_for(source, request)


class _CopiesTheShared(Harness):
    """The tools of a fork that shares its workspace run in a copy of it, and nobody is told."""

    def _make_child(self, source: Session, place: Place, request: ForkRequest, workspace: WorkspaceKind) -> Record:
        record = super()._make_child(source, place, request, workspace)
        child = self.session(record.session)
        if child is not None and workspace == "shared":
            copy = self.machine.snapshot(request.directory, f"{request.directory}-{record.session}")
            child.header = child.header._replace(directory=copy.directory)
        return record


def _runs_in_source(child: Child, source: Session, _place: Place) -> Child:
    """The record names the new directory, and the tools run in the old one."""
    child.session.header = child.session.header._replace(directory=source.header.directory)
    return child


MUTANTS: Final = (
    Mutant(
        "fork-takes-files-back",
        "ENV-1",
        "file-rollback",
        "A fork removes the files that the turns after its cut wrote.",
        harness=_RevertsFiles,
    ),
    Mutant(
        "shared-workspace-copied",
        "ENV-2",
        "cwd-worktree",
        "The tools of a fork with a shared workspace run in a copy of it.",
        harness=_CopiesTheShared,
    ),
    Mutant(
        "isolated-workspace-shared",
        "ENV-3",
        "cwd-worktree",
        "An isolated fork works on the source's own files.",
        harness=_IsolatesNothing,
    ),
    Mutant(
        "isolated-tools-run-in-source",
        "ENV-3",
        "cwd-worktree",
        "The tools of an isolated fork run in the source's directory.",
        rules=of_forks(_runs_in_source),
    ),
)
