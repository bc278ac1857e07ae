"""YAML with the place of every key and value, and nothing of YAML that surprises.

One pass over PyYAML's events (its C parser where there is one), without recursion, so that nesting is refused before it
can hurt. Anchors, aliases, tags, several documents, duplicate keys, keys that are no text and keys without a value are
refused. Source: design sections 3 and 13.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import yaml

from forkproof.conformance.trace.place import Path, Place
from forkproof.conformance.trace.problem import Problem, TraceError
from forkproof.conformance.trace.scalar import TooLargeError, unprintable, value_of
from forkproof.conformance.trace.source import decode

__all__ = ["MAX_DEPTH", "MAX_VALUES", "Document", "parse"]

MAX_DEPTH = 50
MAX_VALUES = 500_000

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_HINTS = (
    ("flow", "in flow style a text that holds , : [ ] { } must be quoted, or stand in block style"),
    ("mapping values are not allowed", "a text that holds `: ` must be quoted, or stand in block style after `|`"),
    ("cannot start any token", "a text can't begin with @ ` % or a tab: quote it; indent by spaces"),
    ("tab character", "indent by spaces"),
    ("Unicode character escape", "write the character itself; half a surrogate pair is none"),
)
_REFUSED = object()


@dataclass(frozen=True, slots=True)
class Document:
    """What a file says. `spoiled` are the paths whose value was already reported; it stands as None there."""

    value: Any
    place: Place
    problems: tuple[Problem, ...] = ()
    spoiled: frozenset[Path] = frozenset()


def parse(data: bytes, file: str) -> Document:
    """Read one document. Problems that leave the rest readable are in it.

    Raises `TraceError` for those that don't: an unreadable file (FPL001), bad YAML (FPL002), too deep or large
    (FPL006).
    """
    text = decode(data, file)
    builder = _Builder(file)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            builder.take(event)
    except yaml.YAMLError as error:
        raise TraceError([*builder.problems, _syntax(error, file)]) from None
    return builder.document()


def _syntax(error: yaml.YAMLError, file: str) -> Problem:
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    context = getattr(error, "context", None)
    mark = getattr(error, "problem_mark", None)
    if "end of stream" in problem:
        # What was left open tells more than where the file ends.
        mark = getattr(error, "context_mark", None) or mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    message = f"{context}: {problem}" if context else problem
    if "nesting depth" in problem:
        return Problem(file, line, column, "FPL006", f"nested more than {MAX_DEPTH} levels deep")
    hint = next((text for word, text in _HINTS if word in message), None)
    return Problem(file, line, column, "FPL002", message + (f" ({hint})" if hint else ""))


@dataclass(slots=True)
class _Frame:
    """A mapping or list that is still open. `awaits` tells that a key was read; `key` is None if it was refused."""

    value: dict[str, Any] | list[Any]
    place: Place
    keys: dict[str, Place]
    parts: dict[str | int, Place]
    awaits: bool = False
    key: str | None = None
    key_place: Place | None = None

    def wants_key(self) -> bool:
        return isinstance(self.value, dict) and not self.awaits

    def step(self) -> str | int | None:
        """The key or index at which the next value goes; None where it goes nowhere."""
        return len(self.value) if isinstance(self.value, list) else self.key


class _Builder:
    """Builds a value and its places from events; what is wrong goes to `problems`."""

    def __init__(self, file: str) -> None:
        self.problems: list[Problem] = []
        self._file = file
        self._stack: list[_Frame] = []
        self._top: tuple[Any, Place] | None = None
        self._documents = 0
        self._values = 0
        self._spoiled: set[Path] = set()

    def document(self) -> Document:
        if self._top is None:
            raise TraceError([*self.problems, Problem(self._file, 1, 1, "FPL002", "the file is empty")])
        value, place = self._top
        return Document(value, place, tuple(self.problems), frozenset(self._spoiled))

    def take(self, event: yaml.Event) -> None:
        match event:
            case yaml.ScalarEvent():
                self._scalar(event)
            case yaml.MappingStartEvent():
                self._open(event, {})
            case yaml.SequenceStartEvent():
                self._open(event, [])
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                frame = self._stack.pop()
                self._put(frame.value, frame.place)
            case yaml.AliasEvent():
                self._no_collection_as_key(event)
                self._refuse(event, "FPL003", f"the alias *{event.anchor}: write the value out where it is meant")
                self._put(_REFUSED, _place(event))
            case yaml.DocumentStartEvent():
                self._documents += 1
                if self._documents > 1:
                    self._stop(event, "FPL003", "a second document begins here; a file holds one trace")
            case _:
                pass

    # --- keys and values -------------------------------------------------------------------------------------------

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        self._node(event)
        place = _place(event)
        value = self._value(event)
        if self._stack and self._stack[-1].wants_key():
            self._take_key(event, value, place)
        elif value is None:
            self._no_value(event, place)
            self._put(_REFUSED, place)
        else:
            self._put(value, place)

    def _value(self, event: yaml.ScalarEvent) -> Any:
        if event.style not in (None, "") or event.tag is not None:
            strange = unprintable(event.value)
            if strange:
                self._refuse(event, "FPL001", f"a text with a {strange}, which no harness could carry")
            return _REFUSED if strange else event.value
        try:
            return value_of(event.value)
        except TooLargeError:
            self._refuse(event, "FPL010", "a number with too many digits; quote it if it is a text")
            return _REFUSED

    def _open(self, event: yaml.CollectionStartEvent, value: dict[str, Any] | list[Any]) -> None:
        self._node(event)
        if len(self._stack) >= MAX_DEPTH:
            self._stop(event, "FPL006", f"nested more than {MAX_DEPTH} levels deep")
        self._no_collection_as_key(event)
        self._stack.append(_frame(event, value))

    def _take_key(self, event: yaml.ScalarEvent, key: Any, place: Place) -> None:
        frame = self._stack[-1]
        frame.awaits, frame.key, frame.key_place = True, None, place
        if key is _REFUSED:
            return
        if not isinstance(key, str):
            self._refuse(event, "FPL003", f"the key {event.value or '(empty)'} is not a text; quote it")
        elif key in frame.keys:
            first = frame.keys[key].line
            self._refuse(event, "FPL004", f"`{key}` stands twice in this mapping, first in line {first}")
        else:
            frame.key = key

    def _put(self, value: Any, place: Place) -> None:
        if value is _REFUSED:
            self._spoil()
            value = None
        if not self._stack:
            self._top = (value, place)
            return
        frame = self._stack[-1]
        step = frame.step()
        if isinstance(frame.value, list):
            frame.value.append(value)
        elif isinstance(step, str) and frame.key_place is not None:
            frame.value[step] = value
            frame.keys[step] = frame.key_place
        frame.awaits = False
        if step is not None:
            frame.parts[step] = place

    def _spoil(self) -> None:
        steps = [frame.step() for frame in self._stack]
        known = [step for step in steps if step is not None]
        if len(known) == len(steps):
            self._spoiled.add(tuple(known))

    # --- refusals --------------------------------------------------------------------------------------------------

    def _no_value(self, event: yaml.ScalarEvent, place: Place) -> None:
        frame = self._stack[-1] if self._stack else None
        if frame is None:
            message = "the file is empty"
        elif isinstance(frame.value, list):
            message = "an empty entry"
        elif frame.key is None:
            return
        else:
            place = frame.key_place or place
            message = f"`{frame.key}` has no value"
            if event.value:
                message = f"`{frame.key}` is {event.value}; leave the key out"
            elif frame.place.flow:
                message += "; in flow style a comma splits a text: quote it, or write it in block style"
        self._problem(place, "FPL005", message)

    def _node(self, event: yaml.NodeEvent) -> None:
        self._values += 1
        if self._values > MAX_VALUES:
            self._stop(event, "FPL006", f"more than {MAX_VALUES:,} keys and values")
        tag = getattr(event, "tag", None)
        if event.anchor is not None:
            self._refuse(event, "FPL003", f"the anchor &{event.anchor}: write the value out wherever it is meant")
        if tag is not None:
            self._refuse(event, "FPL003", f"the tag {tag}: quote a text, and write a number plainly")

    def _no_collection_as_key(self, event: yaml.Event) -> None:
        if self._stack and self._stack[-1].wants_key():
            self._stop(event, "FPL003", "a key must be a text; quote it")

    def _refuse(self, event: yaml.Event, code: str, message: str) -> None:
        self._problem(_place(event), code, message)

    def _stop(self, event: yaml.Event, code: str, message: str) -> None:
        self._refuse(event, code, message)
        raise TraceError(self.problems)

    def _problem(self, place: Place, code: str, message: str) -> None:
        self.problems.append(Problem(self._file, place.line, place.column, code, message))


def _frame(event: yaml.CollectionStartEvent, value: dict[str, Any] | list[Any]) -> _Frame:
    start, keys, parts = _place(event), dict[str, Place](), dict[str | int, Place]()
    place = Place(start.line, start.column, bool(event.flow_style), keys, parts)
    return _Frame(value, place, keys, parts)


def _place(event: yaml.Event) -> Place:
    mark: Any = event.start_mark  # parsed events always have one
    return Place(mark.line + 1, mark.column + 1)
