"""Mutants that show a session wrongly to whoever reads it. Clauses RD-1 to RD-6, TRE-1, TRE-3."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from forkproof.reference.entries import Checkpoint, Entry, UserSaid, on_path
from forkproof.reference.harness import Harness
from forkproof.reference.labels import Label
from forkproof.reference.links import Row, linked
from forkproof.reference.mutants.mutant import Mutant
from forkproof.reference.project import full_path
from forkproof.reference.reading import Node, behind, forest, history, listing, points, standing
from forkproof.reference.refusal import Refusal
from forkproof.reference.session import Session

__all__ = ["MUTANTS"]


# --- listings ------------------------------------------------------------------------------------------------------


def _newest_first(session: Session) -> list[Entry]:
    return listing(session)[::-1]


def _since_the_compaction(session: Session) -> list[Entry]:
    entries = listing(session)
    newest = max((n for n, entry in enumerate(entries) if isinstance(entry.body, Checkpoint)), default=0)
    return entries[newest:]


def _with_the_cursor(entries: Sequence[Entry], cursor: str) -> list[Entry] | Refusal:
    later = behind(entries, cursor)
    return later if isinstance(later, Refusal) else [*(e for e in entries if e.id == cursor), *later]


def _all_for_an_unknown(entries: Sequence[Entry], cursor: str) -> list[Entry] | Refusal:
    later = behind(entries, cursor)
    return list(entries) if isinstance(later, Refusal) else later


def _none_for_an_unknown(entries: Sequence[Entry], cursor: str) -> list[Entry] | Refusal:
    later = behind(entries, cursor)
    return [] if isinstance(later, Refusal) else later


def _below_the_cursor(entries: Sequence[Entry], cursor: str) -> list[Entry] | Refusal:
    """Only what descends from the cursor's entry: what was written since on another branch is missed."""
    later = behind(entries, cursor)
    at = next((entry for entry in entries if entry.id == cursor), None)
    return later if isinstance(later, Refusal) or at is None else [e for e in later if on_path(at, e)]


def _newest(session: Session) -> str | None:
    return session.written[-1].id if session.written else standing(session)


# --- trees ---------------------------------------------------------------------------------------------------------


def _in_stored_order(rows: Sequence[Row]) -> list[tuple[int, int | None]]:
    """A row is hung below its parent only if that was read before it."""
    seen: dict[str, int] = {}
    found: list[tuple[int, int | None]] = []
    for number, row in enumerate(rows):
        found.append((number, seen.get(row.behind or "")))
        seen[row.key] = number
    return found


def _without_orphans(rows: Sequence[Row]) -> list[tuple[int, int | None]]:
    """What leads to no first row is not read at all; the first row of all is one."""
    keys = {row.key for row in rows}
    found: list[tuple[int, int | None]] = []
    kept: set[int] = set()
    for number, parent in linked(rows):
        row = rows[number]
        broken = row.behind is not None and (row.behind not in keys or parent is None)
        if (parent is None and broken) or (parent is not None and parent not in kept):
            continue
        kept.add(number)
        found.append((number, parent))
    return found


def _first_root_only(entries: Sequence[Entry], labels: Mapping[str, Label]) -> list[Node]:
    nodes = forest(entries, labels)
    known: set[str] = set()
    for node in nodes:
        if node.under in known or not known:
            known.add(node.entry.id)
    return [node for node in nodes if node.entry.id in known]


class _ForgetsSiblings(Harness):
    def delete_turns(self, id_: str, turns: Collection[str]) -> Refusal | None:
        session, refused = self.session(id_), super().delete_turns(id_, turns)
        if session is not None and refused is None:
            path = set(full_path(session.leaf))
            session.written[:] = [entry for entry in session.written if entry in path]
        return refused


# --- history and cut points ----------------------------------------------------------------------------------------


def _every_branch(session: Session, _context: Sequence[Entry]) -> list[Entry]:
    return listing(session)


def _own_history(session: Session, context: Sequence[Entry]) -> list[Entry]:
    own = set(session.written)
    return [entry for entry in history(session, context) if entry in own]


def _own_points(session: Session) -> list[Entry]:
    own = set(session.written)
    return [entry for entry in points(session) if entry in own]


def _answers_too(session: Session) -> list[Entry]:
    """The ids are those of the entries behind the messages, which are the answers' own."""
    path = full_path(session.leaf)
    found = []
    for number, entry in enumerate(path[:-1]):
        if isinstance(entry.body, UserSaid):
            after = path[number + 1]
            found.append(replace(entry, stamp=replace(entry.stamp, id=after.stamp.id)))
    return found


MUTANTS: Final = (
    Mutant(
        "listing-newest-first",
        "RD-1",
        None,
        "The listing begins with the newest entry.",
        rules=lambda rules: replace(rules, listing=_newest_first),
    ),
    Mutant(
        "listing-since-the-compaction",
        "RD-1",
        "precompaction-lost",
        "The listing begins with the newest compaction; what it covers is not listed.",
        rules=lambda rules: replace(rules, listing=_since_the_compaction),
    ),
    Mutant(
        "cursor-listed-again",
        "RD-2",
        None,
        "Listing since an entry gives that entry once more.",
        rules=lambda rules: replace(rules, behind=_with_the_cursor),
    ),
    Mutant(
        "unknown-cursor-gives-all",
        "RD-2",
        None,
        "Listing since an entry that never was gives the whole listing.",
        rules=lambda rules: replace(rules, behind=_all_for_an_unknown),
    ),
    Mutant(
        "unknown-cursor-gives-nothing",
        "RD-2",
        None,
        "Listing since an entry that never was gives an empty list.",
        rules=lambda rules: replace(rules, behind=_none_for_an_unknown),
    ),
    Mutant(
        "cursor-follows-one-branch",
        "RD-2",
        None,
        "Listing since an entry misses what was written since on another branch.",
        rules=lambda rules: replace(rules, behind=_below_the_cursor),
    ),
    Mutant(
        "leaf-is-the-newest-entry",
        "RD-3",
        "wrong-leaf",
        "The listing gives the newest entry as the leaf, wherever the session stands.",
        rules=lambda rules: replace(rules, standing=_newest),
    ),
    Mutant(
        "orphans-are-lost",
        "RD-4",
        "tree-structure",
        "Entries whose chain is broken or goes in a circle are not read.",
        rules=lambda rules: replace(rules, linked=_without_orphans),
    ),
    Mutant(
        "tree-has-one-root",
        "RD-4",
        "tree-structure",
        "The tree reading shows what hangs below the first root and nothing else.",
        rules=lambda rules: replace(rules, forest=_first_root_only),
    ),
    Mutant(
        "history-of-every-branch",
        "RD-5",
        "abandoned-branch-leak",
        "The conversation that is shown holds the messages of branches that were left.",
        rules=lambda rules: replace(rules, history=_every_branch),
    ),
    Mutant(
        "fork-points-by-the-answer",
        "RD-6",
        None,
        "A fork point gives the person's text with the id of the answer to it.",
        rules=lambda rules: replace(rules, points=_answers_too),
    ),
    Mutant(
        "parents-must-come-first",
        "TRE-1",
        "tree-structure",
        "An entry that is stored before its parent becomes a root.",
        rules=lambda rules: replace(rules, linked=_in_stored_order),
    ),
    Mutant(
        "deletion-hides-siblings",
        "TRE-1",
        "tree-structure",
        "Deleting a turn hides every branch but the one that the session stands on.",
        harness=_ForgetsSiblings,
    ),
    Mutant(
        "fork-shows-no-past",
        "TRE-3",
        "view-context-divergence",
        "A fork's history shows only what was said in the fork, though the model is sent all.",
        rules=lambda rules: replace(rules, history=_own_history),
    ),
    Mutant(
        "copied-turns-are-no-cut-points",
        "TRE-3",
        "view-context-divergence",
        "A fork offers no cut points among the turns that it took over.",
        rules=lambda rules: replace(rules, points=_own_points),
    ),
)
