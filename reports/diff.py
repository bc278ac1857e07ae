"""Readable differences between what was expected and what was seen. Pure functions; source: design sections 8 and 13.

Prompts are compared item by item, never as JSON: one canonical line an item, e.g. `user       plan.user`. Files are
compared line by line, records and counts field by field.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal, TypeAlias

from forkproof.reports.plain import compact

__all__ = [
    "ANYTHING", "Item", "Line", "Section", "Sign", "collapse", "diff_fields", "diff_files", "diff_items", "diff_texts",
    "differences", "item",
]  # fmt: skip

Sign: TypeAlias = Literal[" ", "-", "+", "@", "."]

ANYTHING = "(anything)"
"""Stands for any value of a field that must be there."""

LONGEST_TEXT = 2000
"""Lines above which two texts are not compared line by line: the comparison's cost grows with their product."""

_ITEM = re.compile(
    r"^(?P<name>[a-z][a-z0-9-]*\.(?P<kind>user|say|think|call|result|summary)(?:\.[0-9]+)?)"
    r"(?:: (?P<status>done|failed|unfinished))?(?: as (?P<role>[a-z]+))?$"
)
_ROLES = {"user": "user", "say": "assistant", "think": "assistant", "call": "assistant", "result": "tool"}
_UNREMARKABLE = frozenset({"", "own", "inherited"})


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a difference.

    sign: " " the same on both sides, "-" only expected, "+" only seen, "@" a heading, "." stands for lines left out.
    note: why, where the sign does not say it, e.g. `leaked`.
    """

    sign: Sign
    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """The difference of one kind of expectation (`prompt`, `files`, ...)."""

    kind: str
    lines: tuple[Line, ...]

    @property
    def differs(self) -> bool:
        """Whether any line is on one side only."""
        return any(line.sign in "-+" for line in self.lines)


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a prompt. An empty role or status in what is expected means: any."""

    name: str
    role: str = ""
    status: str = ""
    label: str = ""

    @property
    def line(self) -> str:
        """The canonical line: role, name, status."""
        role = self.role or _ROLES.get(_kind(self.name), "")
        named = f"{self.name}: {self.status}" if self.status else self.name
        return f"{role:<9}  {named}" if role or _kind(self.name) else named

    def admits(self, seen: Item) -> bool:
        """Whether the seen item is what this expected one asks for."""
        return self.name == seen.name and self.role in {"", seen.role} and self.status in {"", seen.status}


def _kind(name: str) -> str:
    found = _ITEM.match(name)
    return found["kind"] if found else ""


def item(value: Any) -> Item:
    """The item that a JSON value names.

    That is `plan.user`, `edit.result: done as tool`, `{"edit.result": "done"}`, or a mapping with `item` and any of
    `role`, `status`, `label`. Anything else is an item of its own, by its compact JSON.
    """
    if isinstance(value, Mapping) and "item" in value:
        role, status, label = (str(value.get(k) or "") for k in ("role", "status", "label"))
        return Item(str(value["item"]), role or _ROLES.get(_kind(str(value["item"])), ""), status, label)
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, status),) = value.items()
        value = f"{name}: {status}"
    found = _ITEM.match(value) if isinstance(value, str) else None
    return Item(found["name"], found["role"] or "", found["status"] or "") if found else Item(compact(value))


def diff_items(expected: Sequence[Any], seen: Sequence[Any]) -> list[Line]:
    """Two prompts, in order. Provenance labels of what was seen stand as notes."""
    left, right = [item(v) for v in expected], [item(v) for v in seen]
    lines: list[Line] = []
    for tag, a, b, c, d in _opcodes([i.name for i in left], [i.name for i in right]):
        if tag != "equal":
            lines += [Line("-", i.line) for i in left[a:b]]
            lines += [_seen("+", i) for i in right[c:d]]
            continue
        for want, got in zip(left[a:b], right[c:d], strict=True):
            shown = got if got.role or not want.role else Item(got.name, want.role, got.status, got.label)
            lines += [_seen(" ", shown)] if want.admits(shown) else [Line("-", want.line), _seen("+", got)]
    return lines


def _opcodes(left: Sequence[Any], right: Sequence[Any]) -> Iterable[tuple[str, int, int, int, int]]:
    return SequenceMatcher(None, left, right, autojunk=False).get_opcodes()


def _seen(sign: Sign, got: Item) -> Line:
    return Line(sign, got.line, "" if got.label in _UNREMARKABLE else got.label)


def _has(expected: Sequence[Any], seen: Sequence[Any]) -> list[Line]:
    """The whole prompt, then what it should also hold."""
    right = [item(v) for v in seen]
    missing = [want for want in map(item, expected) if not any(want.admits(got) for got in right)]
    return [_seen(" ", i) for i in right] + [Line("-", i.line) for i in missing]


def _lacks(expected: Sequence[Any], seen: Sequence[Any]) -> list[Line]:
    """The whole prompt, with a plus where an item should not be."""
    banned = [item(v) for v in expected]
    return [_seen("+" if any(b.admits(i) for b in banned) else " ", i) for i in map(item, seen)]


def diff_texts(expected: str, seen: str) -> list[Line]:
    """Two texts, line by line; an end that can't be seen is shown (blanks: as a JSON string; no newline: a note)."""
    left, right = _lines(expected), _lines(seen)
    if max(len(left), len(right)) > LONGEST_TEXT:
        first = next(
            (n for n, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right))
        )
        return [
            Line("-", f"{len(left)} lines"),
            Line("+", f"{len(right)} lines", f"the first difference is in line {first + 1}"),
        ]
    lines: list[Line] = []
    for tag, a, b, c, d in _opcodes(left, right):
        if tag == "equal":
            lines += [Line(" ", *pair) for pair in left[a:b]]
        else:
            lines += [Line("-", *pair) for pair in left[a:b]] + [Line("+", *pair) for pair in right[c:d]]
    return lines


def _lines(text: str) -> list[tuple[str, str]]:
    """Each line with its note. Only a newline ends a line here, as in the files themselves."""
    parts = text.split("\n")
    last = parts.pop()
    return [(_shown(p), "") for p in parts] + ([(_shown(last), "no newline at the end")] if last else [])


def _shown(line: str) -> str:
    return line if line == line.rstrip() else compact(line)


def diff_files(expected: Mapping[str, str], seen: Mapping[str, str]) -> list[Line]:
    """Two file trees, path -> text: equal files by name only, others with their lines indented below the path."""
    lines: list[Line] = []
    for path in sorted({*expected, *seen}):
        if path not in seen:
            lines += [Line("-", path, "no such file"), *_indented(diff_texts(expected[path], ""))]
        elif path not in expected:
            lines += [Line("+", path, "not expected"), *_indented(diff_texts("", seen[path]))]
        elif expected[path] == seen[path]:
            lines.append(Line(" ", path))
        else:
            lines += [Line("@", path), *_indented(diff_texts(expected[path], seen[path]))]
    return lines


def _indented(lines: Iterable[Line]) -> list[Line]:
    return [Line(line.sign, "  " + line.text, line.note) for line in lines]


def diff_fields(expected: Mapping[str, Any], seen: Mapping[str, Any]) -> list[Line]:
    """The expected fields of a record, or of any mapping.

    Fields that nobody asked for are left out, unless nothing else was seen. A seen value may be `{"value", "origin"}`,
    as a fork record's are: only a reported one satisfies (design section 5).
    """
    lines: list[Line] = []
    for name in sorted(expected):
        want, (got, note) = expected[name], _field(seen[name]) if name in seen else (None, "absent")
        if not note and want in (got, ANYTHING):
            lines.append(Line(" ", f"{name}: {compact(got)}"))
        else:
            lines.append(Line("-", f"{name}: {compact(want)}"))
            lines += [Line("+", f"{name}: {compact(got)}", note)] if note != "absent" else []
            lines += [Line("+", f"{name}: nothing")] if note == "absent" and expected.keys() & seen.keys() else []
    if not expected.keys() & seen.keys():
        lines += [Line("+", text) for text in _told(seen or None)]
    return lines


def _field(value: Any) -> tuple[Any, str]:
    if isinstance(value, Mapping) and value.keys() == {"value", "origin"}:
        origin = value["origin"]
        return value[
            "value"
        ], "" if origin == "reported" else "absent" if origin == "absent" else f"{origin}, not reported"
    return value, ""


def differences(expected: Mapping[str, Any], seen: Mapping[str, Any]) -> tuple[Section, ...]:
    """A section for each kind of expectation, in the order given, and one for each thing seen beside them."""
    kinds = [*expected, *(k for k in seen if k not in expected)]
    return tuple(
        Section(
            kind, tuple(_section(kind, expected[kind], seen.get(kind)) if kind in expected else _beside(seen[kind]))
        )
        for kind in kinds
    )


def _beside(got: Any) -> list[Line]:
    return [Line("+", compact(got))]


def _section(kind: str, want: Any, got: Any) -> list[Line]:
    if _both(want, got, list | tuple):
        return {"prompt_has": _has, "prompt_lacks": _lacks}.get(kind, diff_items)(want, got)
    if _both(want, got, Mapping):
        return diff_files(want, got) if kind == "files" else diff_fields(want, got)
    if _both(want, got, str) and "\n" in want + got:
        return diff_texts(want, got)
    return _unlike(want, got)


def _both(want: Any, got: Any, shape: Any) -> bool:
    return isinstance(want, shape) and isinstance(got, shape)


def _unlike(want: Any, got: Any) -> list[Line]:
    """Two plain values, or two of different shapes."""
    if want == got:
        return [Line(" ", compact(want))]
    return [*(Line("-", text) for text in _told(want)), *(Line("+", text) for text in _told(got))]


def _told(value: Any) -> list[str]:
    if isinstance(value, list | tuple) and value:
        return [item(v).line for v in value]
    if isinstance(value, Mapping) and value:
        return [f"{k}: {compact(value[k])}" for k in sorted(value)]
    return ["nothing" if value is None else compact(value)]


def collapse(lines: Sequence[Line], *, context: int = 3, limit: int = 40) -> tuple[list[Line], int]:
    """The lines to show: equal ones only near a difference, and at most `limit`. Also, how many were cut at the end."""
    near = [any(other.sign != " " for other in lines[max(0, n - context) : n + context + 1]) for n in range(len(lines))]
    shown: list[Line] = []
    left_out = 0
    for line, keep in zip(lines, near, strict=True):
        if not keep:
            left_out += 1
            continue
        if left_out:
            shown.append(Line(".", f"{left_out} the same"))
            left_out = 0
        shown.append(line)
    if left_out:
        shown.append(Line(".", f"{left_out} the same"))
    return shown[:limit], max(0, len(shown) - limit)
