"""Lint rules on steps and expectations about a session's tree: their names, and the capabilities that they use.

Rules FPL021, FPL022 and FPL031; `codes` says what each means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from forkproof.conformance.trace.base import UnknownName
from forkproof.conformance.trace.fault import Fault, Story
from forkproof.conformance.trace.model import Expectation
from forkproof.conformance.trace.names import BEFORE_ALL
from forkproof.conformance.trace.place import Path
from forkproof.conformance.trace.steps_tree import BranchStep, CloneStep, EditContextStep, LabelStep, RewindStep
from forkproof.conformance.trace.suggestion import did_you_mean

__all__ = ["needs_of_reading", "needs_of_step", "tree_items", "tree_steps"]

_READINGS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("entries", "entries_have", "entries_since", "unknown_cursor", "entry", "leaf"), "entries"),
    **dict.fromkeys(("paths", "labels"), "tree"),
    **dict.fromkeys(("history", "shown_as_sent"), "history"),
    "cut_points": "fork.points",
    **dict.fromkeys(("sessions", "lineage", "titles_differ"), "sessions"),
}


def needs_of_reading(expectation: Expectation) -> Iterator[tuple[str, Path]]:
    """The capabilities that an expectation's readings use, each with the key that uses it."""
    for kind in expectation.kinds():
        if kind in _READINGS:
            yield _READINGS[kind], (kind,)


def needs_of_step(step: Any) -> Iterator[tuple[str, Path]]:
    """The capabilities that a step in the tree uses."""
    match step:
        case BranchStep():
            yield "branch", ("branch",)
            if step.summary is not None:
                yield "branch.summary", ("summary",)
        case RewindStep():
            yield "rewind", ("rewind",)
        case CloneStep():
            yield "clone", ("clone",)
        case LabelStep():
            yield "label", ("label",)
        case EditContextStep():
            yield "edit-context", ("edit_context",)
        case _:
            pass


def tree_steps(story: Story) -> Iterator[Fault]:
    """The sessions that these steps act in, and the entries and turns that they go to, were there before."""
    for number, turn in enumerate(story.trace.import_):
        if isinstance(turn.behind, str) and turn.behind not in {t.turn for t in story.trace.import_}:
            yield Fault(("import", number, "behind"), "FPL021", f"no imported turn `{turn.behind}`")
        elif isinstance(turn.behind, UnknownName) and story.names.kinds(turn.behind.unknown):
            message = f"`{turn.behind.unknown}` is meant to be unknown"
            yield Fault(("import", number, "behind"), "FPL021", message)
    for index, step in enumerate(story.trace.steps):
        path: Path = ("steps", index)
        match step:
            case BranchStep() | RewindStep() | CloneStep() | LabelStep() | EditContextStep():
                yield from _known(story, "session", step.in_, index, (*path, "in"))
            case _:
                continue
        match step:
            case BranchStep():
                yield from _item(story, step.to, index, (*path, "to"))
            case LabelStep() | EditContextStep():
                yield from _item(story, step.of, index, (*path, "of"))
            case RewindStep():
                yield from _known(story, "turn", step.before, index, (*path, "before"))
            case _:
                pass


def tree_items(story: Story) -> Iterator[Fault]:
    """The items in readings: each was brought by this step or an earlier one."""
    for check in story.checks:
        for path, item in _items_of(check.expectation):
            yield from _item(story, item, check.index + 1, (*check.path, *path))
        for number, session in enumerate(check.expectation.sessions or ()):
            yield from _known(story, "session", session, check.index + 1, (*check.path, "sessions", number))


def _items_of(wanted: Expectation) -> Iterator[tuple[Path, str]]:
    for kind in ("entries", "entries_have", "history", "summarized"):
        for number, item in enumerate(getattr(wanted, kind) or ()):
            yield (kind, number), item
    for number, path in enumerate(wanted.paths or ()):
        yield from ((("paths", number, place), item) for place, item in enumerate(path))
    for cursor, items in (wanted.entries_since or {}).items():
        yield ("entries_since", cursor), cursor
        yield from ((("entries_since", cursor, number), item) for number, item in enumerate(items))
    for kind in ("labels", "cut_points"):
        for item in getattr(wanted, kind) or {}:
            yield (kind, item), item
    yield from _places_of(wanted)


def _places_of(wanted: Expectation) -> Iterator[tuple[Path, str]]:
    if wanted.entry is not None:
        yield ("entry", "id"), wanted.entry.id
        for key, item in (("parent", wanted.entry.parent), ("from", wanted.entry.from_)):
            if item is not None and item != "none":
                yield ("entry", key), item
    if wanted.leaf is not None and wanted.leaf != "none":
        yield ("leaf",), wanted.leaf


def _item(story: Story, item: str, before: int, path: Path) -> Iterator[Fault]:
    """An item that was brought by a step before this index."""
    since = story.names.items.get(item)
    if since is None:
        yield Fault(path, "FPL021", f"no item `{item}`{did_you_mean(item, story.names.items)}")
    elif since >= before and since != BEFORE_ALL:
        yield Fault(path, "FPL022", f"`{item}` comes to be only in a later step")


def _known(story: Story, kind: Any, name: str, before: int, path: Path) -> Iterator[Fault]:
    known = story.names.known[kind]
    if name not in known:
        yield Fault(path, "FPL021", f"no {kind} `{name}`{did_you_mean(name, known)}")
    elif known[name] >= before and known[name] != BEFORE_ALL:
        yield Fault(path, "FPL022", f"the {kind} `{name}` begins only in a later step")
