"""Mutants that put back wrong files, copy a workspace badly, or say what is not so. Clauses ENV-4 to ENV-7, REC-9."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final, cast

from forkproof.reference.cut import Place
from forkproof.reference.fork import Child, ForkRequest
from forkproof.reference.harness import Harness
from forkproof.reference.mutants.mutant import Mutant
from forkproof.reference.mutants.surgery import of_forks
from forkproof.reference.project import place_of
from forkproof.reference.prompt import Blob, Message
from forkproof.reference.record import WorkspaceKind
from forkproof.reference.refusal import Refusal
from forkproof.reference.rules import Rules
from forkproof.reference.session import Edge, Header, Session
from forkproof.reference.turn import Ended
from forkproof.reference.undo import Change, Restore, undo

__all__ = ["MUTANTS"]


# --- putting back ----------------------------------------------------------------------------------------------------


def _of_all_turns(changes: Sequence[Change], turns: Collection[str], now: Mapping[str, str]) -> Restore:
    del turns
    return undo(changes, {change.turn for change in changes}, now)


def _over_others(changes: Sequence[Change], turns: Collection[str], now: Mapping[str, str]) -> Restore:
    own = [change for change in changes if change.turn in turns]
    return undo(own, turns, {**now, **{c.path: c.after for c in own if c.after is not None}})


def _but_one(changes: Sequence[Change], turns: Collection[str], now: Mapping[str, str]) -> Restore:
    done = undo(changes, turns, now)
    return done._replace(contents=dict(list(done.contents.items())[:-1]))


def _all_is_well(done: Restore) -> Restore:
    return Restore({**dict.fromkeys(done.left), **done.contents}, ())


def _no_word_of_gaps(done: Restore) -> Restore:
    return done._replace(left=())


# --- copies and directories ------------------------------------------------------------------------------------------


class _LosesAFile(Harness):
    """An isolated workspace lacks the last file, and the record says that it holds them all."""

    def _workspace_for(self, source: Session, request: ForkRequest) -> WorkspaceKind | Refusal:
        made = super()._workspace_for(source, request)
        if made == "isolated":
            copy = self.machine.workspace(request.directory)
            for path in sorted(copy.files())[-1:]:
                copy.remove(path)
        return made


class _CopiesOrNot(Harness):
    """A fork whose workspace could not be copied is made all the same."""

    def _workspace_for(self, source: Session, request: ForkRequest) -> WorkspaceKind | Refusal:
        made = super()._workspace_for(source, request)
        return "isolated" if isinstance(made, Refusal) and request.workspace == "isolated" else made


class _DriftsBack(Harness):
    """From its second turn on a fork works in the directory of its source."""

    async def prompt(self, id_: str, text: str, attachments: tuple[Blob, ...] = ()) -> Ended | Refusal:
        session = self.session(id_)
        lineage = None if session is None else session.header.lineage
        source = None if lineage is None else self.session(lineage.source)
        if session is not None and source is not None and session.written:
            session.header = session.header._replace(directory=source.header.directory)
        return await super().prompt(id_, text, attachments)


def _told_the_source(rules: Rules) -> Rules:
    """The statement to the model of a fork's place is that of its source, from its second request on."""
    places: dict[str, str] = {}

    def place(header: Header) -> Message:
        again = header.id in places
        places[header.id] = header.directory
        source = header.lineage.source if header.lineage is not None else ""
        return place_of(header._replace(directory=places.get(source, header.directory)) if again else header)

    return replace(rules, place=place)


def _without_snapshot(child: Child, _source: Session, _place: Place) -> Child:
    return child._replace(record=child.record._replace(snapshot=None))


def _old_directory(child: Child, source: Session, _place: Place) -> Child:
    return child._replace(record=child.record._replace(directory=source.header.directory))


def _one_revision(child: Child, _source: Session, _place: Place) -> Child:
    return child._replace(record=child.record._replace(revision="latest"))


def _goes_on_where_compacted(child: Child, _source: Session, _place: Place) -> Child:
    if child.record.checkpoint == "none":
        return child
    return child._replace(record=child.record._replace(edge=cast("Edge", "continuation")))


MUTANTS: Final = (
    Mutant(
        "restore-of-all-turns",
        "ENV-6",
        "file-rollback",
        "A restore takes back also what earlier turns did.",
        rules=lambda rules: replace(rules, undo=_of_all_turns),
    ),
    Mutant(
        "restore-overwrites-others",
        "ENV-6",
        "file-rollback",
        "A restore puts back paths that another session has changed since.",
        rules=lambda rules: replace(rules, undo=_over_others),
    ),
    Mutant(
        "restore-forgets-a-path",
        "ENV-7",
        "file-rollback",
        "A restore leaves one path as it is, and does not say so.",
        rules=lambda rules: replace(rules, undo=_but_one),
    ),
    Mutant(
        "restore-claims-everything",
        "ENV-7",
        "file-rollback",
        "A restore says that it put back what it could not.",
        rules=lambda rules: replace(rules, said_of_restore=_all_is_well),
    ),
    Mutant(
        "restore-is-silent-on-gaps",
        "ENV-7",
        "file-rollback",
        "A restore does not name the paths that it left as they are.",
        rules=lambda rules: replace(rules, said_of_restore=_no_word_of_gaps),
    ),
    Mutant(
        "snapshot-loses-a-file",
        "ENV-5",
        "partial-fork",
        "An isolated workspace lacks a file, and the record says that it holds them all.",
        harness=_LosesAFile,
    ),
    Mutant(
        "snapshot-not-stated",
        "ENV-5",
        None,
        "The record does not say what an isolated workspace holds.",
        rules=of_forks(_without_snapshot),
    ),
    Mutant(
        "failed-copy-ignored",
        "ENV-5",
        "partial-fork",
        "A fork whose workspace could not be copied is made all the same.",
        harness=_CopiesOrNot,
    ),
    Mutant(
        "record-names-the-old-directory",
        "ENV-4",
        "cwd-worktree",
        "The record of an isolated fork names the source's directory.",
        rules=of_forks(_old_directory),
    ),
    Mutant(
        "fork-told-it-is-in-the-source",
        "ENV-4",
        "cwd-worktree",
        "From its second request on the model of a fork is told that it works in the source's directory.",
        rules=_told_the_source,
    ),
    Mutant(
        "fork-drifts-back-to-the-source",
        "ENV-4",
        "cwd-worktree",
        "From its second turn on an isolated fork works in the source's directory.",
        harness=_DriftsBack,
    ),
    Mutant(
        "revision-stands-still",
        "REC-9",
        None,
        "Every record states the same revision, however far the source went on.",
        rules=of_forks(_one_revision),
    ),
    Mutant(
        "compacted-fork-is-a-continuation",
        "REC-4",
        "lineage",
        "A fork of a compacted session is recorded as the continuation of it.",
        rules=of_forks(_goes_on_where_compacted),
    ),
)
