"""What varies from run to run, told by names that do not: the harness's own ids, private texts, times.

Ids of sessions, turns and compactions go by the trace's names, all others are numbered in the order in which they were
first seen. An id has one name wherever it stands, so whatever was equal stays equal, and whatever differed differs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from forkproof.adapters.model.markers import Markers
from forkproof.adapters.protocol import Answer, ForkRecord
from forkproof.adapters.readings import CutPointsRead, EntriesRead, SessionsRead, TreeRead
from forkproof.conformance.observation import Observation, PartSeen
from forkproof.reports.redaction import Redactor

__all__ = ["Aliases"]

_TELLING: Final = 8
"""Characters from which on an id is looked for inside of other texts, too; a shorter one may be a word."""

_UUID: Final = re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b")
_TIME: Final = re.compile(
    r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d)\b)?)?"
    r"|\b\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?(?: ?[AaPp][Mm])?\b"
    r"|\b(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day,? )?(?:\d{1,2} )?"
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
    r" (?:\d{1,2},? )?\d{4}\b"
    r"|\b(?:\w{3},? )?(?:\w{3} \d{1,2}|\d{1,2} \w{3}),? \d{4}\b"
    r"|\b(?<![.\d])\d+(?:\.\d+)? (?:ms|milliseconds|seconds)\b"
)
_RECORDED_IDS: Final = ("session", "source", "cut", "revision", "checkpoint")
"""The fields of a fork record whose texts are ids."""
_TEXTS: Final = ("settings", "directory", "editor")
"""The fields whose texts are none, however short an id may be that equals one of them."""
_STAMP: Final = 1_000_000
"""A revision from here on is no count but a time."""


class Aliases:
    """The names for everything that varies in one observation."""

    def __init__(self, observation: Observation) -> None:
        self._names: dict[str, str] = {}
        self._count = 0
        self._private = Redactor(observation.private)
        parts = [observation.main, *observation.controls.values()]
        for number, part in enumerate(parts):
            self._give_names(part, f"@{number}" if number else "")
        for part in parts:
            self._number(_ids_of(part))
        telling = [id_ for id_ in self._names if len(id_) >= _TELLING and any(c.isdigit() for c in id_)]
        self._telling = sorted(telling, key=lambda id_: (-len(id_), id_))
        self._texts: dict[str, str] = {}
        self._words: dict[str, str] = {}

    def _give_names(self, part: PartSeen, suffix: str) -> None:
        turns = {name: seen.native for name, seen in part.turns.items()}
        for kind, ids in (("session", part.sessions), ("turn", turns), ("compaction", part.compactions)):
            for name, id_ in ids.items():
                if id_:
                    self._names.setdefault(id_, f"{kind}:{name}{suffix}")

    def _number(self, ids: Iterable[str | None]) -> None:
        for id_ in ids:
            if id_ and id_ not in self._names:
                self._count += 1
                self._names[id_] = f"id:{self._count}"

    @property
    def table(self) -> Mapping[str, str]:
        """From the harness's ids to their names."""
        return self._names

    def id(self, value: str | None) -> str | None:
        """The name of this id."""
        return value if value is None else self._names.get(value, value)

    def text(self, text: str) -> str:
        """The text with ids and private literals replaced, and nothing else: it may be compared with a trace's own."""
        if text not in self._texts:
            self._texts[text] = self._within(self._private.text(text))
        return self._texts[text]

    def _within(self, text: str) -> str:
        """The text with the ids in it replaced. One pattern of all ids would take longer to make than to use."""
        there = [re.escape(id_) for id_ in self._telling if id_ in text]
        if not there:
            return text
        pattern = rf"(?<![A-Za-z0-9])(?:{'|'.join(there)})(?![A-Za-z0-9])"
        return re.sub(pattern, lambda found: self._names[found.group()], text)

    def words(self, text: str) -> str:
        """As `text`, for a harness's own words: with times and ids that stand nowhere else replaced, too."""
        if text not in self._words:
            told = _UUID.sub(self._stray, self.text(text))
            self._words[text] = _TIME.sub("$TIME", told)
        return self._words[text]

    def _stray(self, found: re.Match[str]) -> str:
        self._number([found.group()])
        return self._names[found.group()]

    def title(self, title: str) -> str:
        """A title as `words`; one that holds what varies is numbered besides, so that two stay apart."""
        told = self.words(title)
        if told == self.text(title):
            return told
        self._number([title])
        return f"{told} ({self._names[title]})"

    def record(self, record: ForkRecord) -> ForkRecord:
        """A fork record's values in stable names: its order says nothing, so keys of mappings are sorted."""
        fields = {name: getattr(record, name) for name in ForkRecord.__slots__}
        stable = {
            name: replace(field, value=self._data(field.value, self.text if name in _TEXTS else self._id_or_text))
            for name, field in fields.items()
        }
        revision = stable["revision"]
        if _is_stamp(revision.value):
            stable["revision"] = replace(revision, value=self.id(str(revision.value)))
        return ForkRecord(**stable)

    def _id_or_text(self, text: str) -> str:
        return self._names.get(text) or self.text(text)

    def _data(self, value: Any, told: Callable[[str], str]) -> Any:
        match value:
            case str():
                return told(value)
            case Mapping():
                return {str(key): self._data(value[key], told) for key in sorted(value, key=str)}
            case list() | tuple():
                return [self._data(each, told) for each in value]
            case _:
                return value


# --- where ids stand -------------------------------------------------------------------------------------------------


def _ids_of(part: PartSeen) -> Iterator[str | None]:
    """Every id of a part, in the order of what was seen."""
    markers = Markers(part.nonce)
    for request in part.requests:
        yield request.prompt.session
        yield request.prompt.cache_key
    for pair in part.opened.values():
        yield from pair
    for covered in part.covered.values():
        yield covered.session
        yield from (end for end in (covered.first, covered.last) if not markers.find(end))
    for record in part.records.values():
        yield from _recorded(record, markers)
    for step in (*part.steps, *part.together):
        yield from (question.session for question in step.asked)
        yield from (id_ for run in step.hooks for id_ in (run.session, run.source))
        readings = step.readings
        answers = (*readings.read.values(), *readings.since.values(), readings.unknown)
        for answer in answers:
            yield from _read(answer)


def _recorded(record: ForkRecord, markers: Markers) -> Iterator[str]:
    for name in _RECORDED_IDS:
        for text in _texts(getattr(record, name).value):
            if any(c.isdigit() for c in text) and " " not in text and f"fp{markers.nonce}" not in text:
                yield text
    if _is_stamp(record.revision.value):
        yield str(record.revision.value)


def _is_stamp(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= _STAMP


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            for key in sorted(value, key=str):
                yield from _texts(value[key])
        case list() | tuple():
            for each in value:
                yield from _texts(each)


def _read(answer: Answer | None) -> Iterator[str | None]:
    match answer:
        case EntriesRead(entries, leaf):
            yield from (id_ for entry in entries for id_ in (entry.id, entry.parent, entry.left))
            yield leaf
        case TreeRead(nodes):
            yield from (id_ for n in nodes for id_ in (n.entry.id, n.entry.parent, n.entry.left, n.under))
        case CutPointsRead(points):
            yield from (point.entry for point in points)
        case SessionsRead(sessions, lines):
            yield from sessions
            yield from (id_ for line in lines for id_ in (line.session, line.source))
