"""The pi processes of one trace, and which session each has open.

A pi has one session open. What a trace does one after the other is done in one process, which is led from session to
session as by `/resume`; only what runs at the same time, or would lose a session that is not stored yet, gets a process
more, as a person would open a second terminal. Source: docs/pi.md, "Processes".
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from forkproof.adapters.errors import StartFailed
from forkproof.adapters.pi import configuration, files
from forkproof.adapters.pi.peer import Rejected
from forkproof.adapters.pi.process import PiProcess, Start

__all__ = ["Fleet", "Known"]


@dataclass(frozen=True, slots=True)
class Known:
    """A session that this trace has seen: where pi stores it, and the directory in which it works."""

    file: Path
    directory: str


class Fleet:
    """All processes. Who opens, switches or forks holds `placing`, so that nobody switches a process under another."""

    def __init__(self, how: Start) -> None:
        self._how = how
        self._processes: list[PiProcess] = []
        self._said: list[str] = []
        self.known: dict[str, Known] = {}
        self.steered: set[str] = set()
        """The texts that were spoken into turns: to pi they are messages like those that begin one."""
        self.placing = asyncio.Lock()

    async def start(self, directory: Path, *more: str) -> PiProcess:
        """One more process. Raises an `AdapterError`."""
        process = await PiProcess.start(self._how, directory, *more)
        self._processes.append(process)
        return process

    def keep(self, process: PiProcess, directory: str) -> str:
        """Note the session that a process has open; gives its id. Raises `StartFailed` for one without a file."""
        if process.open.file is None:
            raise StartFailed("pi keeps its sessions in memory only", "was it started with --no-session?")
        process.free = False
        self.known[process.open.id] = Known(process.open.file, directory)
        return process.open.id

    def holder(self, session: str) -> PiProcess | None:
        """The process that has this session open."""
        return next((p for p in self._processes if p.open.id == session and not p.peer.over and not p.free), None)

    def idle(self, directory: str | None = None) -> PiProcess | None:
        """A process that can be led to another session, in this directory if one is named."""
        place = None if directory is None or self._how.roams else Path(directory)
        return next((p for p in self._processes if p.idle and place in (None, p.directory)), None)

    async def any(self) -> PiProcess:
        """Some process, to be asked about what is no session's own."""
        return self.idle() or next((p for p in self._processes if not p.peer.over), None) or await self._spare()

    async def at(self, session: str) -> PiProcess:
        """The process in which this session is open, opening it where it is open nowhere; to be held: `placing`.

        Raises `Rejected` with pi's words where pi does not find it.
        """
        holder = self.holder(session)
        if holder is not None:
            return holder
        known = self.known.get(session)
        if known is None or not known.file.exists():
            return await self._by_id(session, known)
        process = self.idle(known.directory)
        if process is None:
            return await self.start(Path(known.directory), "--session", str(known.file))
        await self.lead(process, known.file)
        process.free = False
        return process

    async def lead(self, process: PiProcess, file: Path) -> None:
        """Let a process open a stored session, as `/resume` does: in the directory that its header names."""
        await process.until_quiet()
        await process.ask("switch_session", sessionPath=str(file))
        process.replaced()
        await process.look()

    async def fresh(self, directory: str) -> str:
        """A new, empty session in this directory; gives its id. To be held: `placing`."""
        process = self.idle(directory)
        if process is None:
            process = await self.start(Path(directory))
        else:
            await self._enter(process, directory)
        return self.keep(process, directory)

    async def stored(self, file: Path, directory: str) -> str:
        """The session in a file that was written for pi; gives its id. To be held: `placing`."""
        process = self.idle(directory)
        if process is None:
            process = await self.start(Path(directory), "--session", str(file))
        else:
            await self.lead(process, file)
        return self.keep(process, directory)

    async def _enter(self, process: PiProcess, directory: str) -> None:
        """Begin a session in another directory. RPC has no command for that; a stored session leads pi to its own.

        So an empty one is stored there, opened, and, once the real one has begun beside it, taken away again.
        """
        stub = files.new_id()
        file = files.place(configuration.sessions_folder(self._how.home, directory), stub)
        files.write(file, [files.header(stub, directory)])
        await self.lead(process, file)
        await process.ask("new_session")
        await process.look()
        file.unlink()

    async def _by_id(self, session: str, known: Known | None) -> PiProcess:
        """What a person does who has only the id: `pi --session ID`. pi ends with its words where it finds none."""
        directory = Path(known.directory) if known is not None else self._how.home
        try:
            return await self.start(directory, "--session", session)
        except StartFailed as error:
            raise Rejected(error.cause) from error

    async def _spare(self) -> PiProcess:
        process = await self.start(self._how.home)
        process.free = True
        return process

    async def first(self) -> None:
        """Start the process that most traces need no other beside. Raises an `AdapterError`.

        A release that does not roam is started only once it is known where.
        """
        if self._how.roams:
            await self._spare()

    async def renew(self) -> bool:
        """Forget all sessions, stored ones too, but for one process that can begin anew; False where there is none.

        Raises an `AdapterError` where that process does not answer: it may have died while nobody asked anything.
        """
        async with self.placing:
            kept = self.idle()
            if kept is None:
                return False
            await kept.look()
            others = [p for p in self._processes if p is not kept]
            await asyncio.gather(*(p.stop() for p in others))
            self._said.extend(p.diagnostics() for p in others)
            self._processes = [kept]
            kept.free = True
            for file in configuration.stored_sessions(self._how.home):
                file.unlink()
            self.known.clear()
            self.steered.clear()
        return True

    async def end(self, *, kill: bool = False) -> None:
        """End all processes, in order or as by a crash; what is stored stays known."""
        processes, self._processes = self._processes, []
        await asyncio.gather(*(p.kill() if kill else p.stop() for p in processes))
        self._said.extend(p.diagnostics() for p in processes)

    def ended_by_us(self, process: PiProcess) -> bool:
        """Whether a process is gone because the trace ended it."""
        return process not in self._processes

    def diagnostics(self) -> str:
        """What all processes said beside, those included that have ended."""
        return "\n".join(filter(None, (*self._said, *(p.diagnostics() for p in self._processes))))
