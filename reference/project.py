"""Projection: from a leaf to the prompt that the model gets.

Source: design section 10; clauses CUT-1, CMP-2, CMP-4, TRE-3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final, TypeAlias

from forkproof.reference.entries import Checkpoint, Entry, newest_checkpoint
from forkproof.reference.prompt import Message, Prompt
from forkproof.reference.session import Header
from forkproof.reference.tools import TOOLS
from forkproof.reference.wording import SUMMARIZE, hook_statement, place_statement

__all__ = ["MODEL_SETTINGS", "active", "full_path", "place_of", "prompt_of", "summary_prompt", "with_hooks"]

Pair: TypeAlias = Callable[[Iterable[Entry]], list[Message]]

MODEL_SETTINGS: Final = ("effort",)
"""The session settings that are sent with every request, besides the model's name."""


def full_path(leaf: Entry | None) -> list[Entry]:
    """Every entry from the root to the leaf, compactions and what they cover included."""
    return _back_to(leaf, None)


def _back_to(leaf: Entry | None, end: Entry | None) -> list[Entry]:
    """The entries behind `end` up to `leaf`, oldest first. `end` must be on the path (None: the whole path)."""
    found: list[Entry] = []
    add = found.append
    entry = leaf
    while entry is not end and entry is not None:
        add(entry)
        entry = entry.parent
    found.reverse()
    return found


def active(leaf: Entry | None) -> list[Entry]:
    """The entries that make up the context at this leaf, in prompt order.

    The newest checkpoint on the path comes first, then the tail that it keeps, then all that came behind it; without a
    checkpoint it is the whole path. Older checkpoints inside the tail are covered by the newest one and stay out.
    """
    checkpoint = newest_checkpoint(leaf)
    if checkpoint is None:
        return full_path(leaf)
    body = checkpoint.body
    tail = body.tail if isinstance(body, Checkpoint) else None
    kept = [] if tail is None else _back_to(checkpoint.parent, tail.parent)
    kept = [entry for entry in kept if type(entry.body) is not Checkpoint]
    return [checkpoint, *kept, *_back_to(leaf, checkpoint)]


def place_of(header: Header) -> Message:
    """The statement of the place: where the session's tools run, and nowhere else (clause ENV-4)."""
    return place_statement(header.directory)


def prompt_of(header: Header, entries: Iterable[Entry], pair: Pair, place: Message | None = None) -> Prompt:
    """The request for a session whose context these entries are, paired by `pair`, behind a statement of its place."""
    settings = header.settings
    return Prompt(
        messages=(place or place_of(header), *pair(entries)),
        tools=TOOLS,
        model=str(settings.get("model", "")),
        settings={name: str(settings[name]) for name in MODEL_SETTINGS if name in settings},
        session=header.id,
    )


def with_hooks(prompt: Prompt, context: tuple[str, ...]) -> Prompt:
    """The prompt with what the start hooks said, behind the statement of the place (clause SET-4)."""
    if not context:
        return prompt
    place, *said = prompt.messages
    return replace(prompt, messages=(place, *map(hook_statement, context), *said))


def summary_prompt(header: Header, covered: Iterable[Entry], pair: Pair) -> Prompt:
    """The request for a summary of these entries; it offers no tools, and its setting `purpose` tells what it is."""
    prompt = prompt_of(header, covered, pair)
    return replace(
        prompt, messages=(*prompt.messages, SUMMARIZE), tools=(), settings={**prompt.settings, "purpose": "summary"}
    )
