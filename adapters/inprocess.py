"""The in-process route: the in-memory reference behind the adapter protocol. Source: design section 5.

It translates and decides nothing: operations to the harness's methods, model replies to its seam, records to fields.
All that the reference states, it states itself, so every field of its fork record is reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from typing import Final

from forkproof.adapters.errors import NotInstalled, StartFailed
from forkproof.adapters.prompt import Prompt, Text
from forkproof.adapters.protocol import (
    Acknowledged,
    Answer,
    Cancel,
    Compact,
    Cut,
    Description,
    Field,
    Fork,
    Forked,
    ForkRecord,
    Import,
    Kind,
    Model,
    ModelRequest,
    NativeCall,
    OpenSession,
    Operation,
    Refused,
    Say,
    SendPrompt,
    SessionOpened,
    Stall,
    ToolUse,
    Trial,
    TurnEnded,
    TurnRef,
)
from forkproof.reference.cut import Point
from forkproof.reference.fork import ForkRequest
from forkproof.reference.harness import Harness, PastTurn
from forkproof.reference.machine import Machine
from forkproof.reference.model import Call, Failure, Reply
from forkproof.reference.record import Record
from forkproof.reference.refusal import Refusal
from forkproof.reference.rules import RULES, Rules
from forkproof.reference.semantics import CONTRACT, Semantics
from forkproof.reference.session import Session
from forkproof.reference.turn import Ended

__all__ = ["CAPABILITIES", "MemoryWorld", "ReferenceAdapter", "create"]

CAPABILITIES: Final = frozenset({
    "cancel", "compact", "fork.after", "fork.before", "fork.editor", "fork.head", "import", "tool.count", "tool.edit",
    "tool.read", "tool.run", "tool.together", "tool.wait", "tool.write", "workspace.isolated",
})  # fmt: skip
"""All that the reference can do, in the names that a trace's `needs` uses."""

_OK: Final = 200


def create(version: str | None = None) -> ReferenceAdapter:
    """A fresh adapter of the reference. Raises `NotInstalled` for any version but the installed one."""
    if version not in (None, _version()):
        raise NotInstalled(f"the reference is part of forkproof {_version()}, there is no version {version}")
    return ReferenceAdapter()


@cache
def _version() -> str:
    try:
        return installed_version("forkproof")
    except PackageNotFoundError:
        return "0"


class MemoryWorld:
    """The world of one trial: the reference's own machine, in memory."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._reserved: set[str] = set()

    def create(self, name: str, files: Mapping[str, str]) -> str:
        """Make a directory with these files and return it."""
        return self._machine.create(self.reserve(name), files).directory

    def reserve(self, name: str) -> str:
        """Name a directory that does not exist yet; the same name asked for twice gives two directories."""
        plain = "".join(c if c.isalnum() or c in "-_." else "-" for c in name).strip(".") or "unnamed"
        directory = f"/work/{plain}"
        number = 2
        while directory in self._reserved:
            directory = f"/work/{plain}-{number}"
            number += 1
        self._reserved.add(directory)
        return directory

    def copy(self, source: str, target: str) -> None:
        """Copy everything in `source` to the reserved directory `target`. Raises `OSError`."""
        self._machine.snapshot(source, target)

    def read(self, directory: str) -> Mapping[str, str]:
        """All files below the directory by relative POSIX path; none where there is no directory."""
        return self._machine.workspace(directory).files() if self._machine.exists(directory) else {}

    async def started(self, call: str) -> None:
        """Return when the waiting command of this call has begun."""
        await self._machine.started(call)

    def release(self, call: str) -> None:
        """Let the waiting command of this call finish."""
        self._machine.release(call)

    def runs(self) -> Mapping[str, int]:
        """How often each counting command ran so far."""
        return self._machine.runs()


class ReferenceAdapter:
    """Drives a reference harness, by default with the contract's semantics and rules.

    `harness` and `chosen` are for faults: another class than the reference's own, and choices other than those that
    `semantics` declares.
    """

    needs_server = False

    def __init__(
        self,
        semantics: Semantics = CONTRACT,
        rules: Rules = RULES,
        name: str = "reference",
        *,
        harness: type[Harness] = Harness,
        chosen: Semantics | None = None,
    ) -> None:
        self._semantics = semantics
        self._chosen = semantics if chosen is None else chosen
        self._class = harness
        self._rules = rules
        self._name = name
        self._running: Harness | None = None

    def describe(self) -> Description:
        """What the reference is, and the policies that its semantics chooses."""
        return Description(
            harness=self._name,
            version=_version(),
            wire="in-process",
            capabilities=CAPABILITIES,
            policies={
                "busy_source": self._semantics.busy_source,
                "retained_turns": str(self._semantics.retained_turns),
                "settings_source": "cut",
            },
            route="in-process",
        )

    async def start(self, trial: Trial) -> MemoryWorld:
        """Make a fresh harness on a machine of its own."""
        machine = Machine()
        self._running = self._class(_ModelSeam(trial.model, self), machine, semantics=self._chosen, rules=self._rules)
        return MemoryWorld(machine)

    async def perform(self, operation: Operation) -> Answer:
        """Carry out one operation. Raises `StartFailed` before `start`."""
        harness = self._harness()
        match operation:
            case OpenSession(directory, settings):
                return _opened(harness, harness.open(directory, settings))
            case Import(directory, turns, settings):
                past = [PastTurn(turn.at, turn.user, turn.say) for turn in turns]
                return _opened(harness, harness.import_history(directory, past, settings))
            case SendPrompt(session, text):
                ended = await harness.prompt(session, text)
                return TurnEnded(ended.stop, ended.turn, ended.detail) if isinstance(ended, Ended) else _refused(ended)
            case Cancel(session):
                await harness.cancel(session)
                return Acknowledged()
            case Compact(session):
                compacted = await harness.compact(session)
                return _refused(compacted) if isinstance(compacted, Refusal) else Acknowledged(compacted.checkpoint)
            case Fork():
                return await self._fork(harness, operation)

    async def _fork(self, harness: Harness, asked: Fork) -> Answer:
        session = asked.session if asked.exists else f"session-unknown-{asked.session}"
        request = ForkRequest(asked.directory, asked.workspace)
        record = await harness.fork(session, _point(harness, session, asked.cut), request)
        return _refused(record) if isinstance(record, Refusal) else Forked(_reported(record))

    def native_call(self, use: ToolUse) -> NativeCall:
        """The abstract tool itself: the reference has no other tools."""
        return NativeCall(use.tool, use.arguments)

    def classify(self, prompt: Prompt) -> Kind | None:
        """The reference tags its requests for summaries; all others are those of turns."""
        return "summary" if prompt.settings.get("purpose") == "summary" else "turn"

    def diagnostics(self) -> str:
        """Nothing: there is no process."""
        return ""

    async def stop(self) -> None:
        """End what is under way; the sessions go with the harness."""
        harness, self._running = self._running, None
        if harness is not None:
            await harness.close()

    def _harness(self) -> Harness:
        if self._running is None:
            raise StartFailed("the reference was not started", "call start() first")
        return self._running


class _ModelSeam:
    """The suite's model in the reference's terms."""

    def __init__(self, model: Model, adapter: ReferenceAdapter) -> None:
        self._model = model
        self._adapter = adapter

    async def __call__(self, prompt: Prompt) -> Reply | Failure:
        answer = await self._model.respond(ModelRequest(prompt))
        if answer.status != _OK:
            return Failure(answer.status, answer.message)
        parts: list[Text | Call] = []
        for part in answer.parts:
            match part:
                case Say(text):
                    parts.append(Text(text))
                case ToolUse():
                    native = self._adapter.native_call(part)
                    parts.append(Call(part.id, part.name, native.name, native.arguments, part.start, part.end))
                case Stall(name):
                    await self._model.released(name)
        return Reply(tuple(parts))


def _point(harness: Harness, session: str, cut: Cut) -> Point:
    return Point(cut.kind, "" if cut.turn is None else _turn_id(harness, session, cut.turn))


def _turn_id(harness: Harness, session: str, turn: TurnRef) -> str:
    """The harness's id of a turn: as it was given, or found by the turn's marker."""
    unknown = f"turn-unknown-{turn.name}"
    if not turn.exists:
        return unknown
    if turn.native is not None:
        return turn.native
    return next((p.turn for p in harness.fork_points(session) if turn.marker in p.text), unknown)


def _opened(harness: Harness, session: Session | Refusal) -> Answer:
    if isinstance(session, Refusal):
        return _refused(session)
    id_ = session.header.id
    return SessionOpened(id_, tuple(point.turn for point in harness.fork_points(id_)))


def _refused(refusal: Refusal) -> Refused:
    return Refused(refusal.reason, refusal.message)


def _reported(record: Record) -> ForkRecord:
    """The record's fields, each stated by the harness itself."""

    def reported(value: object) -> Field:
        return Field(value, "reported")

    settings = {name: {"value": value, "origin": origin} for name, (value, origin) in record.settings.items()}
    return ForkRecord(
        session=reported(record.session),
        source=reported(record.source),
        cut=reported(dict(record.cut)),
        revision=reported(record.revision),
        settings=reported(settings),
        checkpoint=reported(record.checkpoint),
        directory=reported(record.directory),
        workspace=reported(record.workspace),
        snapshot=reported(record.snapshot),
        edge=reported(record.edge),
        grants=reported(list(record.grants)),
        editor=reported(record.editor),
    )
