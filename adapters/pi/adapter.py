"""The pi adapter: each operation of the seam in the terms of `pi --mode rpc`. Source: design section 5, docs/pi.md."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from forkproof.adapters.errors import StartFailed
from forkproof.adapters.pi import configuration
from forkproof.adapters.pi.abilities import POLICIES, UNOBSERVABLE, capabilities
from forkproof.adapters.pi.fleet import Fleet
from forkproof.adapters.pi.handlers import Handlers
from forkproof.adapters.pi.process import Start
from forkproof.adapters.prompt import Prompt, Text
from forkproof.adapters.protocol import (
    Answer,
    Description,
    HookRun,
    Kind,
    NativeCall,
    Operation,
    ToolUse,
    Trial,
    World,
)
from forkproof.adapters.shell import command

if TYPE_CHECKING:
    from pathlib import Path

    from forkproof.adapters.diskworld import DiskWorld
    from forkproof.adapters.installation import Installation

__all__ = ["PiAdapter"]

_SUMMARIZER = "You are a context summarization assistant."
"""The opening of the system text in a compaction's and in a branch summary's request, which offer no tools."""


class PiAdapter:
    """Implements `protocol.Adapter`; one object drives the pi processes of one trace."""

    needs_server = True

    def __init__(self, installation: Installation, wire: str = "chat", variant: str = "") -> None:
        """`variant` is empty or `threads`: Anthropic's message threads, with the wire format `messages`."""
        self._installation = installation
        self._wire = wire
        self._variant = variant
        self._version = tuple(int(part) for part in installation.version.partition("-")[0].split("."))
        self._fleet: Fleet | None = None
        self._world: DiskWorld | None = None
        self._trial: Trial | None = None
        self._home: Path | None = None
        self._handlers: Handlers | None = None

    # --- Life ------------------------------------------------------------------------------------------------------

    def describe(self) -> Description:
        """What this release of pi is and can do over RPC and the bridge."""
        return Description(
            harness="pi",
            version=self._installation.version,
            wire=self._wire,
            capabilities=capabilities(self._version, self._wire),
            policies=POLICIES,
            unobservable=UNOBSERVABLE,
            binary_sha256=self._installation.sha256,
            route="pi --mode rpc (stdio) and an extension",
            variant=self._variant,
        )

    async def start(self, trial: Trial) -> World:
        """Start pi with a HOME of its own. Raises an `AdapterError`, and leaves nothing running then."""
        from forkproof.adapters import environment
        from forkproof.adapters.diskworld import DiskWorld

        if trial.endpoint is None:
            raise StartFailed("pi reaches the model over HTTP, and the trial has no endpoint", "start a model server")
        home = trial.root / "home"
        environment.make_home(home)
        self._trial, self._home = trial, home
        how = Start(
            command=(*self._installation.command, *configuration.arguments(self._version)),
            home=home,
            variables=configuration.environment(_hooks(trial)),
            deadlines=trial.deadlines,
            settles=self._version >= (1, 0, 0),
            # 0.73.1 opens a fork that it has not stored in the directory in which it was started itself.
            roams=self._version >= (1, 0, 0),
            ask=self._run_hook,
        )
        configuration.write_settings(home)
        self._write_models([configuration.DEFAULT_MODEL])
        self._fleet = Fleet(how)
        await self._fleet.first()
        self._world = DiskWorld(trial.root)
        self._handlers = Handlers(self._fleet, self._world, home, self._wire, self._write_models)
        return self._world

    async def renew(self, trial: Trial) -> World | None:
        """Serve one more trace with a process that is there: it begins a session in the new trace's directory.

        pi reads its files anew with every session, and those are written anew; what it stored is taken away. None where
        the hooks, which a process gets when it starts, are others, or where no process is idle.
        """
        from forkproof.adapters.diskworld import DiskWorld

        before, fleet, home = self._trial, self._fleet, self._home
        if before is None or fleet is None or home is None or self._world is None:
            return None
        if _hooks(trial) != _hooks(before) or trial.endpoint != before.endpoint or not await fleet.renew():
            return None
        self._trial = trial
        self._world.close()
        configuration.write_settings(home)
        self._write_models([configuration.DEFAULT_MODEL])
        self._world = DiskWorld(trial.root)
        self._handlers = Handlers(fleet, self._world, home, self._wire, self._write_models)
        return self._world

    async def stop(self) -> None:
        """End every pi and all that it started."""
        if self._fleet is not None:
            await self._fleet.end()
        if self._world is not None:
            self._world.close()

    def diagnostics(self) -> str:
        """The end of what pi wrote to standard error, and stray messages."""
        return "" if self._fleet is None else self._fleet.diagnostics()

    async def perform(self, operation: Operation) -> Answer:
        """Carry out one operation. Raises an `AdapterError` when pi dies, hangs or sends garbage."""
        if self._handlers is None:
            raise StartFailed("pi was not started", "call start before any operation")
        return await self._handlers.perform(operation)

    def _write_models(self, models: list[str]) -> None:
        trial, home = self._trial, self._home
        if home is not None and trial is not None and trial.endpoint is not None:
            threads = self._variant == "threads"
            configuration.write_models(home, trial.endpoint, self._wire, models, threads=threads)

    def _run_hook(self, asked: str) -> str:
        person = None if self._trial is None else self._trial.person
        told = json.loads(asked)
        said = None if person is None else person.run_hook(HookRun(told["hook"], told["session"]))
        return json.dumps({"cancels": said is not None and said.cancels})

    # --- The model's side ------------------------------------------------------------------------------------------

    def native_call(self, use: ToolUse) -> NativeCall:
        """A call of pi's `bash`, which can do the work of every abstract tool."""
        if self._world is None:
            raise StartFailed("pi was not started", "call start before any tool is used")
        self._world.prepare(use)
        return NativeCall("bash", {"command": command(use, self._world.control)})

    def classify(self, prompt: Prompt) -> Kind | None:
        """`summary` for a compaction or a branch summary, else None: nothing in a prompt tells the others apart."""
        system = (part for message in prompt.messages if message.role == "system" for part in message.parts)
        texts = (part.content for part in system if isinstance(part, Text))
        return "summary" if not prompt.tools and any(text.startswith(_SUMMARIZER) for text in texts) else None


def _hooks(trial: Trial) -> list[str]:
    return [hook.name for hook in trial.hooks if hook.at == "before-fork"]
