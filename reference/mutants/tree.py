"""Mutants that move wrongly within a session, or lose the path that was left. Clauses NAV-1 to NAV-9, TRE-2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from forkproof.reference.entries import Answered, BranchLeft, Entry, UserSaid
from forkproof.reference.mutants.mutant import Mutant
from forkproof.reference.navigate import Selected, left_behind, select
from forkproof.reference.project import full_path
from forkproof.reference.prompt import Text
from forkproof.reference.reading import listing
from forkproof.reference.refusal import Refusal
from forkproof.reference.restore import Stored, restore
from forkproof.reference.session import Session
from forkproof.reference.store import Moved, Row

__all__ = ["MUTANTS"]


# --- what is selected ----------------------------------------------------------------------------------------------


def _behind_the_message(entry: Entry) -> Selected:
    return Selected(entry, select(entry).editor)


def _without_the_text(entry: Entry) -> Selected:
    return Selected(select(entry).position)


def _before_any(entry: Entry) -> Selected:
    return Selected(entry.parent, select(entry).editor)


def _with_the_answer(entry: Entry) -> Selected:
    body = entry.body
    if isinstance(body, Answered):
        return Selected(entry, "\n".join(part.content for part in body.parts if isinstance(part, Text)))
    return select(entry)


# --- what is left --------------------------------------------------------------------------------------------------


def _whole_path(old: Entry | None, _new: Entry | None) -> list[Entry]:
    return full_path(old)


def _without_the_newest(old: Entry | None, new: Entry | None) -> list[Entry]:
    left = left_behind(old, new)
    said = [number for number, entry in enumerate(left) if entry.message is not None]
    return left[: said[-1]] if said else left


def _only_the_newest(old: Entry | None, new: Entry | None) -> list[Entry]:
    left = left_behind(old, new)
    begun = [number for number, entry in enumerate(left) if isinstance(entry.body, UserSaid)]
    return left[begun[-1] :] if begun else left


def _in_full(session: str, old: Entry, summary: str) -> BranchLeft:
    said = (e.message.parts for e in full_path(old) if e.message is not None)
    words = [part.content for parts in said for part in parts if isinstance(part, Text)]
    return BranchLeft("\n".join([summary, *words]), session, old.id)


def _from_the_root(session: str, old: Entry, summary: str) -> BranchLeft:
    return BranchLeft(summary, session, full_path(old)[0].id)


def _active_path(session: Session) -> list[Entry]:
    return full_path(session.leaf)


def _in_place_of_the_branch(session: Session) -> list[Entry]:
    entries = listing(session)
    if not any(isinstance(entry.body, BranchLeft) for entry in entries):
        return entries
    path = set(full_path(session.leaf))
    return [entry for entry in entries if entry in path]


def _always(left: Sequence[Entry], *, accepted: bool) -> bool:
    del accepted
    return any(entry.message is not None for entry in left)


def _never_refused(_id: str, *, busy: bool) -> Refusal | None:
    del busy
    return None


def _at_the_newest(rows: Sequence[Row]) -> Stored:
    return restore([row for row in rows if not isinstance(row, Moved)])


MUTANTS: Final = (
    Mutant(
        "move-deletes-the-path-left",
        "NAV-1",
        None,
        "Going back in a session deletes what lies behind the place that one goes to.",
        rules=lambda rules: replace(rules, listing=_active_path),
    ),
    Mutant(
        "selected-message-stays",
        "NAV-2",
        "wrong-cut",
        "Selecting one's own message goes on behind it, so what is sent next is its child.",
        rules=lambda rules: replace(rules, select=_behind_the_message),
    ),
    Mutant(
        "selected-message-is-lost",
        "NAV-2",
        None,
        "Selecting one's own message does not put its text back for editing.",
        rules=lambda rules: replace(rules, select=_without_the_text),
    ),
    Mutant(
        "selected-answer-is-dropped",
        "NAV-3",
        "wrong-cut",
        "Selecting an answer goes on before it, as if it were a message of the person.",
        rules=lambda rules: replace(rules, select=_before_any),
    ),
    Mutant(
        "selected-answer-fills-the-editor",
        "NAV-3",
        None,
        "Selecting an answer puts the model's words into the person's editor.",
        rules=lambda rules: replace(rules, select=_with_the_answer),
    ),
    Mutant(
        "summary-brings-the-branch-along",
        "NAV-4",
        "abandoned-branch-leak",
        "The summary of a branch that was left holds the messages of that branch, word for word.",
        rules=lambda rules: replace(rules, farewell=_in_full),
    ),
    Mutant(
        "summary-from-the-root",
        "NAV-5",
        None,
        "A branch summary names the first entry of the session as what was left.",
        rules=lambda rules: replace(rules, farewell=_from_the_root),
    ),
    Mutant(
        "summary-replaces-the-branch",
        "NAV-5",
        None,
        "A branch summary stands in place of the entries that it covers.",
        rules=lambda rules: replace(rules, listing=_in_place_of_the_branch),
    ),
    Mutant(
        "summary-although-declined",
        "NAV-6",
        None,
        "Leaving a branch makes a summary of it, also where the person declined one.",
        rules=lambda rules: replace(rules, summarizes=_always),
    ),
    Mutant(
        "moves-while-busy",
        "NAV-7",
        None,
        "A session can be moved while its model works or a compaction runs.",
        rules=lambda rules: replace(rules, movable=_never_refused),
    ),
    Mutant(
        "summary-of-the-whole-path",
        "NAV-8",
        None,
        "A branch summary covers all of the path that was left, what both branches share among it.",
        rules=lambda rules: replace(rules, left_behind=_whole_path),
    ),
    Mutant(
        "summary-stops-short",
        "NAV-8",
        None,
        "A branch summary leaves out the last message of the branch that was left.",
        rules=lambda rules: replace(rules, left_behind=_without_the_newest),
    ),
    Mutant(
        "summary-of-the-last-turn",
        "NAV-8",
        None,
        "A branch summary covers only the last turn of the branch that was left.",
        rules=lambda rules: replace(rules, left_behind=_only_the_newest),
    ),
    Mutant(
        "position-forgotten-by-a-restart",
        "NAV-9",
        "wrong-leaf",
        "After a restart a session stands at its newest entry, wherever it had been moved to.",
        rules=lambda rules: replace(rules, restore=_at_the_newest),
    ),
    Mutant(
        "rewound-message-stays",
        "TRE-2",
        "wrong-cut",
        "A message that is taken back for editing stays, so that its edited form comes behind it.",
        rules=lambda rules: replace(rules, rewound=_behind_the_message),
    ),
)
