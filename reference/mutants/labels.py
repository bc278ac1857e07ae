"""Mutants of labels and of context edits. Clauses LBL-1 to LBL-3."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from forkproof.reference.edits import shown
from forkproof.reference.entries import Edited, Entry, Labelled, newest_edit, on_path
from forkproof.reference.labels import Label, carried
from forkproof.reference.mutants.mutant import Mutant
from forkproof.reference.reading import Node, forest, listing
from forkproof.reference.rules import Rules
from forkproof.reference.session import Session
from forkproof.reference.wording import message_of_user

__all__ = ["MUTANTS"]


def _without_labels(session: Session) -> list[Entry]:
    """A fork's copy leaves the label entries out and does not chain the others anew."""
    entries = listing(session)
    forked = session.header.lineage is not None
    return [entry for entry in entries if not isinstance(entry.body, Labelled)] if forked else entries


def _labels_in_the_context(context: Sequence[Entry], leaf: Entry | None) -> Sequence[Entry]:
    labels = [e for e in context if isinstance(e.body, Labelled) and e.body.text]
    if not labels:
        return shown(context, leaf)
    told = {e: message_of_user(e.body.text) for e in labels if isinstance(e.body, Labelled)}
    return [replace(e, message=told[e]) if e in told else e for e in shown(context, leaf)]


def _never_cleared(entries: Sequence[Entry], labels: Mapping[str, Label]) -> list[Node]:
    said = {e.body.target: e for e in entries if isinstance(e.body, Labelled) and e.body.text}
    known = {e.id: e for e in entries}
    kept = {
        target: Label(known[target], e.body.text, e.stamp.at, e)
        for target, e in said.items()
        if target in known and isinstance(e.body, Labelled)
    }
    return forest(entries, {**kept, **labels})


def _dated_by_the_entry(entries: Sequence[Entry], labels: Mapping[str, Label]) -> list[Node]:
    nodes = forest(entries, labels)
    return [n._replace(labelled_at=n.entry.stamp.at) if n.labelled_at is not None else n for n in nodes]


def _none_carried(_labels: Mapping[str, Label], _leaf: Entry | None) -> list[Label]:
    return []


def _set_before_the_cut(labels: Mapping[str, Label], leaf: Entry | None) -> list[Label]:
    return [label for label in carried(labels, leaf) if on_path(label.setter, leaf)]


def _everywhere() -> Callable[[Rules], Rules]:
    """An edit changes the entry itself, for every branch; each harness has a memory of its own."""

    def change(rules: Rules) -> Rules:
        texts: dict[str, Entry] = {}

        def rule(context: Sequence[Entry], leaf: Entry | None) -> Sequence[Entry]:
            edit = newest_edit(leaf)
            if edit is not None and isinstance(edit.body, Edited):
                texts.setdefault(edit.body.target, edit)
            found: Sequence[Entry] = context
            for each in texts.values():
                found = shown(found, each)
            return found

        return replace(rules, shown=rule)

    return change


def _only_after(context: Sequence[Entry], leaf: Entry | None) -> Sequence[Entry]:
    """The edit counts only for the request right behind it."""
    edit = newest_edit(leaf)
    near = edit is not None and leaf is not None and leaf.depth - edit.depth <= 1
    return shown(context, leaf) if near else context


MUTANTS: Final = (
    Mutant(
        "labels-reach-the-model",
        "LBL-1",
        None,
        "A label is sent to the model as a message of the person.",
        rules=lambda rules: replace(rules, shown=_labels_in_the_context),
    ),
    Mutant(
        "label-is-never-cleared",
        "LBL-1",
        None,
        "A label still shows after it was cleared.",
        rules=lambda rules: replace(rules, forest=_never_cleared),
    ),
    Mutant(
        "label-dated-by-its-entry",
        "LBL-1",
        None,
        "A label bears the time of its entry in place of the time at which it was set.",
        rules=lambda rules: replace(rules, forest=_dated_by_the_entry),
    ),
    Mutant(
        "fork-loses-labels",
        "LBL-2",
        None,
        "A fork has none of the labels of the entries on its path.",
        rules=lambda rules: replace(rules, carried=_none_carried),
    ),
    Mutant(
        "fork-loses-later-labels",
        "LBL-2",
        None,
        "A fork keeps only labels that were set before the cut, though their entries are on its path.",
        rules=lambda rules: replace(rules, carried=_set_before_the_cut),
    ),
    Mutant(
        "label-entries-leave-gaps",
        "LBL-2",
        "id-remap",
        "A fork leaves label entries out, and the entries behind them lose their parents.",
        rules=lambda rules: replace(rules, listing=_without_labels),
    ),
    Mutant(
        "edit-for-every-branch",
        "LBL-3",
        "abandoned-branch-leak",
        "A context edit changes the entry itself, so siblings and forks see it too.",
        rules=_everywhere(),
    ),
    Mutant(
        "edit-fades",
        "LBL-3",
        None,
        "A context edit counts for the next request only; later ones show the original.",
        rules=lambda rules: replace(rules, shown=_only_after),
    ),
)
