"""Notes: side state that a model keeps beside what is said, such as its todo list and its memories.

A note belongs to the entry behind which it was written, and counts on every path that holds this entry: so state is
that of the cut, whatever the source noted later. Source: clauses STA-1, STA-4; seed 003, "Branch-relative state".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from forkproof.reference.entries import Entry, on_path
from forkproof.reference.prompt import Text

__all__ = ["Note", "NoteKind", "memories", "notes_at", "statement", "todo"]

NoteKind: TypeAlias = Literal["todo", "memory"]


@dataclass(frozen=True, slots=True)
class Note:
    """The whole new todo list, or one thing to remember; written behind `entry`."""

    kind: NoteKind
    texts: tuple[str, ...]
    entry: Entry = field(repr=False)


def notes_at(notes: Iterable[Note], leaf: Entry | None) -> tuple[Note, ...]:
    """The notes that count at this leaf, oldest first."""
    return tuple(note for note in notes if on_path(note.entry, leaf))


def todo(notes: Sequence[Note]) -> tuple[str, ...]:
    """The todo list: the newest one replaces all before it."""
    return next((note.texts for note in reversed(notes) if note.kind == "todo"), ())


def memories(notes: Iterable[Note]) -> tuple[str, ...]:
    """Everything remembered, oldest first."""
    return tuple(text for note in notes if note.kind == "memory" for text in note.texts)


def statement(notes: Sequence[Note]) -> tuple[Text, ...]:
    """What the model is reminded of in every request; nothing where nothing is noted."""
    lists = ("Todo:", todo(notes)), ("Remember:", memories(notes))
    told = ["\n- ".join((title, *texts)) for title, texts in lists if texts]
    return (Text("\n".join(told)),) if told else ()
