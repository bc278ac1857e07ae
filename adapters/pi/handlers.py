"""What the adapter does for each operation, in the terms of `pi --mode rpc`. Source: docs/pi.md, "Operations"."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forkproof.adapters.errors import HarnessDied
from forkproof.adapters.pi import configuration, files, forks, readings
from forkproof.adapters.pi.fleet import Fleet
from forkproof.adapters.pi.path import Held
from forkproof.adapters.pi.peer import Rejected
from forkproof.adapters.pi.process import PiProcess
from forkproof.adapters.pi.refusal import refusal
from forkproof.adapters.protocol import (
    Acknowledged,
    Answer,
    AwaitQueued,
    Cancel,
    Compact,
    Configure,
    Fork,
    Import,
    OpenSession,
    Operation,
    Queue,
    Refused,
    Restart,
    Resume,
    SendPrompt,
    SessionOpened,
    SettingValue,
    Steer,
    Unknown,
    Unsupported,
)
from forkproof.adapters.readings import Moved
from forkproof.adapters.tree import (
    Branch,
    Clone,
    EditContext,
    EntryRef,
    ListSessions,
    ReadCutPoints,
    ReadEntries,
    ReadHistory,
    ReadTree,
    SetLabel,
)

if TYPE_CHECKING:
    from forkproof.adapters.diskworld import DiskWorld
    from forkproof.adapters.pi.turns import Turn

__all__ = ["Handlers"]


class Handlers:
    """Carries out operations on the processes of one trace."""

    def __init__(
        self, fleet: Fleet, world: DiskWorld, home: Path, wire: str, write_models: Callable[[list[str]], None]
    ) -> None:
        """`write_models` writes the file of the models that pi knows."""
        self.fleet = fleet
        self.world = world
        self._home = home
        self._wire = wire
        self._write_models = write_models
        self._models = [configuration.DEFAULT_MODEL]
        self._queued: dict[str, tuple[PiProcess, Turn]] = {}

    async def perform(self, operation: Operation) -> Answer:
        """Carry out one operation. Raises an `AdapterError` when pi dies, hangs or sends garbage."""
        handler = self._handlers.get(type(operation))
        if handler is None:
            return Unsupported(f"this adapter has no {type(operation).__name__}")
        try:
            return await handler(self, operation)
        except Rejected as rejected:
            return refusal(str(rejected))

    async def _open(self, asked: OpenSession) -> Answer:
        if strange := _strange(asked.settings):
            return strange
        self._know(asked.settings)
        configuration.write_settings(self._home)
        async with self.fleet.placing:
            session = await self.fleet.fresh(asked.directory)
            await self._choose(session, asked.settings)
        return SessionOpened(session)

    async def _import(self, asked: Import) -> Answer:
        if strange := _strange(asked.settings):
            return strange
        session = files.new_id()
        file = files.place(configuration.sessions_folder(self._home, asked.directory), session)
        lines = files.imported(asked.turns, configuration.WIRES[self._wire][0])
        files.write(file, [files.header(session, asked.directory), *lines])
        self._know(asked.settings)
        configuration.write_settings(self._home)
        async with self.fleet.placing:
            opened = await self.fleet.stored(file, asked.directory)
            await self._choose(opened, asked.settings)
        return SessionOpened(opened)

    async def _set(self, asked: Configure) -> Answer:
        if strange := _strange(asked.settings):
            return strange
        async with self.fleet.placing:
            if self._know(asked.settings):
                await (await self.fleet.at(asked.session)).bridge("models")
            await self._choose(asked.session, asked.settings)
        return Acknowledged()

    def _know(self, settings: Mapping[str, SettingValue]) -> bool:
        """Add a model to those that pi knows; False if it knows it already."""
        model = settings.get("model")
        new = isinstance(model, str) and model not in self._models
        if new:
            self._models.append(str(model))
            self._write_models(self._models)
        return new

    async def _choose(self, session: str, settings: Mapping[str, SettingValue]) -> None:
        if not settings:
            return
        process = await self.fleet.at(session)
        if "model" in settings:
            await process.ask("set_model", provider=configuration.PROVIDER, modelId=settings["model"])
        if "effort" in settings:
            await process.ask("set_thinking_level", level=settings["effort"])

    async def _prompt(self, asked: SendPrompt) -> Answer:
        if asked.attachments:
            return Unsupported("files with a message: over RPC pi takes images only")
        async with self.fleet.placing:
            process = await self.fleet.at(asked.session)
            if process.ledger.busy:
                return Refused("busy", "pi takes a message for a running turn only as a steering or queued one")
            await process.until_quiet()
            turn = process.ledger.begin(asked.text)
            try:
                await process.ask("prompt", message=asked.text)
            except Rejected:
                process.ledger.drop(turn)
                raise
        return await self._end_of(process, turn)

    async def _end_of(self, process: PiProcess, turn: Turn) -> Answer:
        fleet = self.fleet
        try:
            ended: Answer = await process.attend(turn.ended)
        except HarnessDied:
            if fleet.ended_by_us(process):
                return Unknown("pi was ended with the turn")
            raise
        return ended

    async def _cancel(self, asked: Cancel) -> Answer:
        process = self.fleet.holder(asked.session)
        if process is None:
            return Refused("other", "the session is open in no process, so nothing runs in it")
        await process.ask("abort")
        return Acknowledged()

    async def _steer(self, asked: Steer) -> Answer:
        async with self.fleet.placing:
            process = await self.fleet.at(asked.session)
            await process.ask("steer", message=asked.text)
        self.fleet.steered.add(asked.text)
        return Acknowledged()

    async def _queue(self, asked: Queue) -> Answer:
        async with self.fleet.placing:
            process = await self.fleet.at(asked.session)
            turn = process.ledger.queue(asked.text)
            try:
                await process.ask("follow_up", message=asked.text)
            except Rejected:
                process.ledger.drop(turn)
                raise
        self._queued[asked.text] = (process, turn)
        return Acknowledged(asked.text)

    async def _await_queued(self, asked: AwaitQueued) -> Answer:
        waiting = self._queued.get(asked.native or "")
        if waiting is None:
            return Unknown("no such message was queued")
        process, turn = waiting
        if turn in process.ledger.queued and not process.ledger.busy and not process.compacting:
            return Refused("other", "pi still holds the message, although nothing runs: it goes with the next prompt")
        return await self._end_of(process, turn)

    async def _compact(self, asked: Compact) -> Answer:
        async with self.fleet.placing:
            process = await self.fleet.at(asked.session)
            process.compacting = True
        try:
            await process.patiently("compact")
        finally:
            process.compacting = False
        held = Held.of(await process.bridge("stand"))
        return Acknowledged(held.checkpoint)

    async def _fork(self, asked: Fork) -> Answer:
        return await forks.fork(self.fleet, self.world, asked)

    async def _clone(self, asked: Clone) -> Answer:
        return await forks.clone(self.fleet, asked)

    async def _branch(self, asked: Branch) -> Answer:
        async with self.fleet.placing:
            process = await self.fleet.at(asked.session)
            entry = _entry(Held.of(await process.bridge("stand")), asked.to)
            told = await process.bridge("navigate", entry=entry, summarize=asked.summary)
            if isinstance(told, Mapping) and told.get("cancelled"):
                return Refused("cancelled", "pi did not go there")
            held = Held.of(await process.bridge("stand"))
        last = held.path[-1] if held.path else {}
        summary = str(last["id"]) if asked.summary and last.get("type") == "branch_summary" else None
        return Moved("", summary)

    async def _label(self, asked: SetLabel) -> Answer:
        async with self.fleet.placing:
            process = await self.fleet.at(asked.session)
            entry = _entry(Held.of(await process.bridge("stand")), asked.entry)
            await process.bridge("label", entry=entry, text=asked.text)
        return Acknowledged()

    async def _edit(self, asked: EditContext) -> Answer:
        async with self.fleet.placing:
            process = await self.fleet.at(asked.session)
            entry = _entry(Held.of(await process.bridge("stand")), asked.entry)
            told = await process.bridge("edit", entry=entry, text=asked.text)
            await process.look()
        made = told.get("made") if isinstance(told, Mapping) else None
        return Acknowledged(made if isinstance(made, str) else None)

    async def _read(self, asked: ReadEntries | ReadTree | ReadHistory | ReadCutPoints) -> Answer:
        async with self.fleet.placing:
            return await readings.read(await self.fleet.at(asked.session), asked)

    async def _list(self, _asked: ListSessions) -> Answer:
        async with self.fleet.placing:
            return readings.sessions(await (await self.fleet.any()).bridge("sessions"))

    async def _restart(self, asked: Restart) -> Answer:
        async with self.fleet.placing:
            await self.fleet.end(kill=asked.kill)
        return Acknowledged()

    async def _resume(self, asked: Resume) -> Answer:
        async with self.fleet.placing:
            process = await self.fleet.at(asked.session)
        return SessionOpened(process.open.id)

    _handlers: Mapping[type, Callable[[Handlers, Any], Awaitable[Answer]]] = {
        OpenSession: _open,
        Import: _import,
        Configure: _set,
        SendPrompt: _prompt,
        Cancel: _cancel,
        Steer: _steer,
        Queue: _queue,
        AwaitQueued: _await_queued,
        Compact: _compact,
        Fork: _fork,
        Clone: _clone,
        Branch: _branch,
        SetLabel: _label,
        EditContext: _edit,
        ReadEntries: _read,
        ReadTree: _read,
        ReadHistory: _read,
        ReadCutPoints: _read,
        ListSessions: _list,
        Restart: _restart,
        Resume: _resume,
    }


def _strange(settings: Mapping[str, SettingValue]) -> Unsupported | None:
    strange = sorted(set(settings) - {"model", "effort"})
    return Unsupported(f"choosing {', '.join(strange)}: over RPC pi takes model and effort") if strange else None


def _entry(held: Held, wanted: EntryRef) -> str:
    """The id to name an entry by: for one that never was, whatever pi must refuse. Raises `Rejected`."""
    entry = held.at(wanted) if wanted.exists else wanted.item
    if entry is None:
        raise Rejected(f"the session holds no entry for {wanted.item}: not found")
    return entry
