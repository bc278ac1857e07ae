"""Moving in a session, naming and rewording its items, and reading it. Source: clauses NAV, LBL and RD; seed 003."""

from __future__ import annotations

from typing import Any

from forkproof.reference.naive.answers import No
from forkproof.reference.naive.items import Item, speaks
from forkproof.reference.naive.session import Label, Session

__all__ = ["carry_labels", "left_behind", "listing", "place_of", "relabel", "tree"]


def place_of(session: Session, item: Item) -> tuple[list[Item], str]:
    """Where the session stands after this item was selected, and the text that is put back for editing (NAV-2)."""
    way = session.ways[item.id]
    return (way[:-1], item.text) if item.kind == "user" else (way, "")


def left_behind(old: list[Item], new: list[Item]) -> list[Item]:
    """The items from where both paths part to the end of the old one (NAV-8)."""
    common = 0
    while common < len(old) and common < len(new) and old[common].id == new[common].id:
        common += 1
    return old[common:] if any(speaks(item) for item in old[common:]) else []


def relabel(session: Session, target: str, label: Label) -> None:
    """Name an item, or take its name away with an empty text (LBL-1)."""
    session.labels.pop(target, None)
    if label.text:
        session.labels[target] = label


def carry_labels(source: Session, child: Session, new_id: Any) -> None:
    """A fork keeps the labels of items on its path; those that were set elsewhere are set in it once more (LBL-2)."""
    begun_with = {item.id for item in child.path}
    for target, label in source.labels.items():
        if target in begun_with:
            setter = label.setter
            if setter not in begun_with:
                setter = new_id("i")
                child.add(Item(setter, "label", text=label.text, target=target))
            child.labels[target] = Label(label.text, label.at, setter)


def listing(session: Session, since: str | None) -> tuple[list[Item], str | None] | No:
    """Everything that was recorded, or what was recorded after the item `since`, and where the session stands (RD)."""
    leaf = session.path[-1].id if session.path else None
    if since is None:
        return list(session.log), leaf
    places = [index for index, item in enumerate(session.log) if item.id == since]
    return (session.log[places[0] + 1 :], leaf) if places else No("unknown-cut")


def tree(session: Session) -> list[tuple[Item, str | None, Label | None]]:
    """Each item with the one that it hangs below, and its label."""
    found = []
    for item in session.log:
        way = session.ways[item.id]
        found.append((item, way[-2].id if len(way) > 1 else None, session.labels.get(item.id)))
    return found
