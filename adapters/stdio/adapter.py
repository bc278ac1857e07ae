"""The adapter for a program that speaks the open protocol: `protocol.Adapter` on a talk with its process.

It translates and decides nothing. What the program does not know is unsupported, what it says wrongly is garbage.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forkproof.adapters import environment, shell
from forkproof.adapters.diskworld import DiskWorld
from forkproof.adapters.errors import AdapterError, HarnessDied, StartFailed
from forkproof.adapters.jsonrpc import METHOD_NOT_FOUND, RpcError
from forkproof.adapters.prompt import Prompt
from forkproof.adapters.protocol import (
    Answer,
    Deadlines,
    Description,
    HookRun,
    Kind,
    ModelReply,
    ModelRequest,
    NativeCall,
    Operation,
    Question,
    Say,
    Stall,
    Think,
    ToolUse,
    Trial,
    Unsupported,
    World,
)
from forkproof.adapters.stdio import messages as m
from forkproof.adapters.stdio.decode import WireError, decode
from forkproof.adapters.stdio.described import described
from forkproof.adapters.stdio.methods import METHODS, OPERATIONS
from forkproof.adapters.stdio.program import Program
from forkproof.adapters.stdio.talk import Talk, failure
from forkproof.adapters.stdio.wire import encode
from forkproof.adapters.stdio.world import RemoteWorld

__all__ = ["INVALID_PARAMS", "StdioAdapter"]

INVALID_PARAMS = -32602
_REFUSED = -32000


class StdioAdapter:
    """One process of the program for one trace; see `protocol.Adapter`."""

    def __init__(self, program: Program, deadlines: Deadlines | None = None) -> None:
        """Ask the program what it is; `deadlines` are for that.

        Raises `StartFailed`, `HarnessHung`, `HarnessDied` and `Garbage`.
        """
        self._program = program
        self._described = described(program, deadlines or Deadlines())
        self.needs_server = self._described.model == "http"
        self._talk: Talk | None = None
        self._trial: Trial | None = None
        self._root = Path()
        self._disk: DiskWorld | None = None
        self._own_roots: list[Path] = []
        self._kinds: dict[int, Kind | None] = {}

    # --- Life ------------------------------------------------------------------------------------------------------

    def describe(self) -> Description:
        """What the program declares."""
        return self._described.description(self._program.sha256(), "adapter protocol (stdio)")

    async def start(self, trial: Trial) -> World:
        """Start the program, and have it start its harness.

        Raises an `AdapterError`, and leaves nothing running then.
        """
        home = self._prepare(trial) / "home"
        try:
            direct = {"person/hook": self._hook, "workspace/copy": self._copy}
            self._talk = await Talk.open(self._program, home, trial.deadlines, self._asked, direct)
            return await self._begin(self._talk, trial)
        except BaseException:
            await self.stop()
            raise

    async def renew(self, trial: Trial) -> World | None:
        """Have the running program start its harness again, if it says that it can. See `protocol.Reusable`."""
        if self._talk is None or not self._described.reusable:
            await self.stop()
            return None
        try:
            await self._talk.finish()
            self._close_world()
            self._prepare(trial)
            return await self._begin(self._talk, trial)
        except RpcError as error:
            await self.stop()
            raise failure(error, "stop") from error
        except BaseException:
            await self.stop()
            raise

    def _prepare(self, trial: Trial) -> Path:
        """The directory of this trial. Without a model server it has none yet: one is made here."""
        root = trial.root
        if not root.is_dir():
            root = Path(tempfile.mkdtemp(prefix="forkproof-")).resolve()
            self._own_roots.append(root)
        self._root, self._trial = root, trial
        if self._described.world == "suite":
            self._disk = DiskWorld(root / "world")
        return root

    async def _begin(self, talk: Talk, trial: Trial) -> World:
        root = self._root
        environment.make_home(root / "home")
        begun = m.Start(
            str(root),
            str(root / "home"),
            trial.endpoint,
            trial.deadlines,
            trial.keeping,
            trial.hooks,
            trial.cuts,
        )
        try:
            await talk.ask("start", begun, trial.deadlines.start)
        except HarnessDied as error:
            raise StartFailed(error.cause, error.hint) from error
        return self._disk or RemoteWorld(talk.ask_now, self._wait)

    async def stop(self) -> None:
        """End the program and every descendant."""
        if self._talk is not None:
            await self._talk.stop()
        self._close_world()
        # Not sooner: the program was started in the first of them, and lives there through all its trials.
        while self._own_roots:
            shutil.rmtree(self._own_roots.pop(), ignore_errors=True)

    def _close_world(self) -> None:
        if self._disk is not None:
            self._disk.close()
        self._disk = None

    @property
    def talk(self) -> Talk | None:
        """The talk with the process, once it was started."""
        return self._talk

    def diagnostics(self) -> str:
        """The end of the program's standard error, and what it sent that belongs to nothing."""
        if self._talk is None:
            return ""
        return "\n".join(filter(None, (self._talk.process.stderr(), self._talk.oddities())))

    # --- What the suite asks ---------------------------------------------------------------------------------------

    async def perform(self, operation: Operation) -> Answer:
        """Carry out one operation. Raises an `AdapterError` of the kind that the program names, or that broke it."""
        if type(operation) not in OPERATIONS:
            return Unsupported(f"version {m.PROTOCOL_VERSION} of the protocol has no {type(operation).__name__}")
        return await self._running.perform(operation)

    def native_call(self, use: ToolUse) -> NativeCall:
        """The call as the program's harness makes it: of its shell tool, or whatever the program says."""
        tool = self._described.shell
        try:
            if tool is None:
                asked: NativeCall = self._running.ask_now("nativeCall", m.AskNative(use))
                return asked
        except AdapterError as error:
            # Asked for in the middle of the model's answer: the operation under way is what ends with it.
            self._running.fail(error)
            return NativeCall("unknown", {})
        if self._disk is None:
            raise StartFailed("a shell tool works in the suite's directories", 'say `world: "suite"` in describe')
        self._disk.prepare(use)
        return NativeCall(tool.tool, {**tool.also, tool.argument: shell.command(use, self._disk.control)})

    def classify(self, prompt: Prompt) -> Kind | None:
        """What the program says of a request; None where it does not tell."""
        if id(prompt) in self._kinds:
            return self._kinds[id(prompt)]
        if self._talk is None or not self._described.classify:
            return None
        try:
            told: m.Classified = self._talk.ask_now("classify", m.Classify(prompt))
        except AdapterError as error:
            self._talk.fail(error)
            return None
        return told.kind

    @property
    def _running(self) -> Talk:
        if self._talk is None:
            raise StartFailed("the adapter was not started", "call `start` first")
        return self._talk

    async def _wait(self, method: str, message: Any) -> Any:
        return await self._running.ask(method, message, float("inf"))

    # --- What the program asks -------------------------------------------------------------------------------------

    async def _asked(self, method: str, params: Any) -> Any:
        assert self._trial is not None  # noqa: S101  # there is no talk without it
        known = METHODS.get(method)
        if known is None or known.asked_by != "adapter":
            raise RpcError(METHOD_NOT_FOUND, f"Method not found: {method}")
        match taken(method, params):
            case m.Respond(prompt, path, kind):
                self._kinds[id(prompt)] = kind
                try:
                    return encode(self._reply(await self._trial.model.respond(ModelRequest(prompt, path))))
                finally:
                    del self._kinds[id(prompt)]
            case m.StallRef(name):
                await self._trial.model.released(name)
                return {}
            case Question() as question if self._trial.person is not None:
                return encode(m.Decided(await self._trial.person.permit(question)))
            case _:
                raise RpcError(_REFUSED, f"nobody answers {method} in this trial")

    def _reply(self, reply: ModelReply) -> m.Reply:
        return m.Reply(tuple(map(self._part, reply.parts)), reply.status, reply.message, reply.stored)

    def _part(self, part: Any) -> Say | Think | Stall | m.Use:
        if not isinstance(part, ToolUse):
            kept: Say | Think | Stall = part
            return kept
        native = self.native_call(part) if self._described.shell is not None else None
        return m.Use(part.id, part.name, part.tool, part.arguments, part.start, part.end, native)

    def _hook(self, params: Any) -> Any:
        run = taken("person/hook", params)
        if not isinstance(run, HookRun) or self._trial is None or self._trial.person is None:
            raise RpcError(_REFUSED, "nobody plays hooks in this trial")
        return encode(self._trial.person.run_hook(run))

    def _copy(self, params: Any) -> Mapping[str, Any]:
        asked = taken("workspace/copy", params)
        if self._disk is None or not isinstance(asked, m.CopyDirectory):
            raise RpcError(_REFUSED, "the workspaces are the adapter's own")
        try:
            self._disk.copy(asked.source, asked.target)
        except OSError as error:
            raise RpcError(_REFUSED, f"no copy was made: {error}") from None
        return {}


def taken(method: str, params: Any) -> Any:
    """The message of a request that the program makes. Raises `RpcError` that names the member that is wrong."""
    try:
        return decode(METHODS[method].params, {} if params is None else params)
    except WireError as error:
        raise RpcError(INVALID_PARAMS, f"{method}: {error}") from None
