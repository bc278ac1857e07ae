"""The evidence: an observation as far as a judge may ask for it, and with nothing in it that varies from run to run.

It is what is judged and what is recorded, so that judging a record again sees just what the run's own judge saw. Ids,
private texts and times go by stable names (`evidence_aliases`). Of the prompts those of turns are kept, and of these
all but a model's own words and arguments: what a trace gave is known by its markers, and long texts of a harness's own
are kept by their beginning and by the lines that a rule may look for. Source: design section 8.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from forkproof.adapters.errors import AdapterError
from forkproof.adapters.model.items import Item
from forkproof.adapters.model.markers import Markers
from forkproof.adapters.model.script import SeenRequest
from forkproof.adapters.prompt import Blob, Message, Part, Reasoning, Text, ToolCall, ToolResult
from forkproof.adapters.protocol import Answer, Covered, HookRun, Question, Refused, Unknown, Unsupported
from forkproof.adapters.readings import (
    CutPoint,
    CutPointsRead,
    EntriesRead,
    Entry,
    HistoryRead,
    SessionLine,
    SessionsRead,
    TreeNode,
    TreeRead,
)
from forkproof.adapters.side import StateRead
from forkproof.conformance.evidence_aliases import Aliases
from forkproof.conformance.observation import Observation, PartSeen, StepSeen, TurnSeen
from forkproof.conformance.readings import NOTHING, Readings, names_in

__all__ = ["evidence_of"]

_LONG: Final = 2000
"""Characters above which a text of the harness's own is cut down."""
_HEAD: Final = 400
_AROUND: Final = 80
_GAP: Final = "\n[...]\n"
_LOOKED_FOR: Final = (
    "interrupt", "abort", "cancel", "stopped by", "forked in the middle", "agent", "delegat", "parent", "fork", "task",
)  # fmt: skip
"""What the rules look for in texts without a marker (`judge.prompts`, `judge.busy`, `judge.state`)."""

_EARLIER, _LATER = -1.0, 1.0


def evidence_of(observation: Observation) -> Observation:
    """The observation as it is judged and recorded."""
    aliases = Aliases(observation)
    error, once = observation.error, _Once()
    return Observation(
        slug=observation.slug,
        description=observation.description,
        main=_Part(aliases, observation.main, once).seen(),
        controls={without: _Part(aliases, part, once).seen() for without, part in observation.controls.items()},
        error=None if error is None else _error(error, aliases),
        error_step=observation.error_step,
    )


def _error(error: AdapterError, aliases: Aliases) -> AdapterError:
    return type(error)(aliases.words(error.cause), aliases.words(error.hint))


@dataclass(slots=True)
class _Once:
    """What stands in many places is one object, so that it is written once."""

    messages: dict[Message, Message] = field(default_factory=dict)
    items: dict[tuple[str, str, str | None, str], Item] = field(default_factory=dict)
    entries: dict[Entry, Entry] = field(default_factory=dict)
    tools: dict[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)
    files: dict[tuple[tuple[str, str], ...], Mapping[str, str]] = field(default_factory=dict)


@dataclass(slots=True)
class _Part:
    """One part on its way to evidence. What stands in many requests is worked out once."""

    aliases: Aliases
    part: PartSeen
    once: _Once
    markers: Markers = field(init=False)
    _messages: dict[int, Message] = field(default_factory=dict)
    _noise: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.markers = Markers(self.part.nonce)

    def seen(self) -> PartSeen:
        part, id_, text = self.part, self.aliases.id, self.aliases.text
        return replace(
            part,
            steps=tuple(map(self._step, part.steps)),
            requests=tuple(map(self._request, part.requests)),
            sessions={label: str(id_(native)) for label, native in part.sessions.items()},
            directories={label: text(place) for label, place in part.directories.items()},
            turns={name: TurnSeen(t.session, id_(t.native), t.stop) for name, t in part.turns.items()},
            records={label: self.aliases.record(record) for label, record in part.records.items()},
            compactions={name: str(id_(native)) for name, native in part.compactions.items()},
            covered={
                name: Covered(str(id_(c.session)), text(c.first), text(c.last)) for name, c in part.covered.items()
            },
            opened={index: (str(id_(asked)), str(id_(got))) for index, (asked, got) in part.opened.items()},
            together=tuple(map(self._step, part.together)),
        )

    # --- steps -----------------------------------------------------------------------------------------------------

    def _step(self, step: StepSeen) -> StepSeen:
        id_, text, words = self.aliases.id, self.aliases.text, self.aliases.words
        return replace(
            step,
            reason=words(step.reason) if step.reason else "",
            detail=words(step.detail) if step.detail else "",
            files=None if step.files is None else self._file_set(step.files),
            editor=None if step.editor is None else text(step.editor),
            readings=step.readings if step.readings is NOTHING else self._readings(step.readings),
            state={label: self._state(state) for label, state in step.state.items()} if step.state else {},
            asked=tuple(Question(str(id_(q.session)), q.call) for q in step.asked),
            hooks=tuple(HookRun(r.hook, str(id_(r.session)), id_(r.source), r.cause) for r in step.hooks),
        )

    def _file_set(self, files: Mapping[str, str]) -> Mapping[str, str]:
        text = self.aliases.text
        key = tuple((text(path), text(content)) for path, content in files.items())
        return self.once.files.setdefault(key, dict(key))

    def _state(self, state: StateRead) -> StateRead:
        text = self.aliases.text
        return replace(state, todo=tuple(map(text, state.todo)), schedules=tuple(map(text, state.schedules)))

    # --- readings --------------------------------------------------------------------------------------------------

    def _readings(self, readings: Readings) -> Readings:
        return Readings(
            read={word: self._answer(answer) for word, answer in readings.read.items()},
            since={item: self._answer(answer) for item, answer in readings.since.items()},
            unknown=None if readings.unknown is None else self._answer(readings.unknown),
        )

    def _answer(self, answer: Answer) -> Answer:
        id_, text, words = self.aliases.id, self.aliases.text, self.aliases.words
        match answer:
            case EntriesRead(entries, leaf):
                return EntriesRead(tuple(map(self._entry, entries)), id_(leaf))
            case TreeRead(nodes):
                return self._tree(nodes)
            case HistoryRead(messages):
                return HistoryRead(tuple(map(self._message, messages)))
            case CutPointsRead(points):
                return CutPointsRead(tuple(CutPoint(str(id_(p.entry)), text(p.text)) for p in points))
            case SessionsRead(sessions, lines):
                return SessionsRead(tuple(str(id_(s)) for s in sessions), tuple(map(self._line, lines)))
            case Refused(reason, message):
                return Refused(reason, words(message))
            case Unsupported(what):
                return Unsupported(words(what))
            case Unknown(why):
                return Unknown(words(why))
            case _:
                return answer

    def _line(self, line: SessionLine) -> SessionLine:
        title = None if line.title is None else self.aliases.title(line.title)
        return SessionLine(str(self.aliases.id(line.session)), title, self.aliases.id(line.source))

    def _entry(self, entry: Entry) -> Entry:
        id_ = self.aliases.id
        message = None if entry.message is None else self._message(entry.message)
        at = None if entry.at is None else 0.0
        made = Entry(str(id_(entry.id)), id_(entry.parent), message, id_(entry.left), at)
        return self.once.entries.setdefault(made, made)

    def _tree(self, nodes: tuple[TreeNode, ...]) -> TreeRead:
        """Of the times only this is kept: whether a label was set before the newest entry with an item (LBL-2)."""
        times = (n.entry.at for n in nodes if n.entry.at is not None and names_in(n.entry.message, self.markers))
        newest = max(times, default=0.0)

        def kept(node: TreeNode) -> TreeNode:
            at, label = node.labelled_at, node.label
            return TreeNode(
                self._entry(node.entry),
                self.aliases.id(node.under),
                None if label is None else self.aliases.text(label),
                None if at is None else _EARLIER if at < newest else _LATER,
            )

        return TreeRead(tuple(map(kept, nodes)))

    # --- prompts ---------------------------------------------------------------------------------------------------

    def _request(self, request: SeenRequest) -> SeenRequest:
        prompt, id_ = request.prompt, self.aliases.id
        stored = prompt.stored
        kept = replace(
            prompt,
            messages=tuple(map(self._message, prompt.messages)) if request.kind == "turn" else (),
            tools=self.once.tools.setdefault(prompt.tools, prompt.tools),
            settings={name: self.aliases.words(str(value)) for name, value in prompt.settings.items()},
            session=id_(prompt.session),
            stored=None if stored is None else replace(stored, id=id_(stored.id)),
            cache_key=id_(prompt.cache_key),
        )
        return replace(
            request,
            items=tuple(map(self._item, request.items)),
            prompt=kept,
            path=self.aliases.words(request.path),
            stored=self.aliases.text(request.stored),
            refused=self.aliases.words(request.refused),
        )

    def _item(self, item: Item) -> Item:
        said = self._own_words(item.said) if item.said else ""
        key = (item.name, item.role, item.status, said)
        return self.once.items.setdefault(key, Item(*key))

    def _message(self, message: Message) -> Message:
        found = self._messages.get(id(message))
        if found is None:
            made = Message(message.role, tuple(map(self._kept, message.parts)))
            found = self._messages[id(message)] = self.once.messages.setdefault(made, made)
        return found

    def _kept(self, part: Part) -> Part:
        match part:
            case Text(content):
                marked = "[fp" in content
                return Text(self.aliases.words(content) if marked else self._own_words(content))
            case ToolCall(id_, name, arguments):
                known = self.markers.call_name(id_) is not None
                return ToolCall(self.aliases.text(id_), name, "" if known else _tags(str(arguments)))
            case ToolResult(id_, response):
                return ToolResult(self.aliases.text(id_), self.aliases.text(_stretch(response)))
            case Reasoning():
                return Reasoning("")
            case Blob(name, content):
                return Blob(name, _tags(content))

    def _own_words(self, text: str) -> str:
        """A harness's own text: whole if it is short, else its beginning and what a rule may look for in it."""
        found = self._noise.get(text)
        if found is None:
            found = self._noise[text] = self.aliases.words(text if len(text) <= _LONG else self._shortened(text))
        return found

    def _shortened(self, text: str) -> str:
        rest = text[_HEAD:]
        small = _in_small_letters(rest)
        spots = [(at, at + len(word)) for word in _LOOKED_FOR if (at := small.find(word)) >= 0]
        places = sorted(set(self.part.directories.values()), key=len)
        last = max(((rest.rfind(place), place) for place in places), default=(-1, ""))
        if last[0] >= 0:
            spots.append((last[0], last[0] + len(last[1])))
        passages = (rest[max(0, start - _AROUND) : end + _AROUND] for start, end in sorted(spots))
        return _GAP.join((text[:_HEAD], *dict.fromkeys(passages)))


def _in_small_letters(text: str) -> str:
    """The text with ASCII's letters small, each where it stood: some other letters change their length."""
    return text.lower() if text.isascii() else re.sub("[A-Z]+", lambda found: found[0].lower(), text)


def _tags(text: str) -> str:
    """Nothing but the markers of a text, of whatever run."""
    return " ".join(re.findall(r"\[fp[0-9a-f]{6}(?:\.[a-z0-9-]+)+\]", text))


def _stretch(response: str) -> str:
    """A tool's own output: from its first marker to its last; what a harness says around it varies."""
    first, last = response.find("[fp"), response.rfind("[fp")
    if first < 0:
        return ""
    return response[first : response.find("]", last) + 1 or len(response)]
