"""Where the traces of a run are played: on a fresh process each, or on one that serves all that it can.

`--isolation trace` is the plain case. With `--isolation run` the model server and the private directory are the run's;
each trace has a nonce, a model and a directory of its own, and only the harness's process is shared. Source: design
section 11 (one process per trace at most).
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from forkproof.adapters.errors import AdapterError
from forkproof.adapters.installation import home
from forkproof.adapters.model.chaos import Chaos, chaos_for
from forkproof.adapters.model.codec import Ids
from forkproof.adapters.model.markers import nonce_for
from forkproof.adapters.protocol import (
    Adapter,
    Deadlines,
    ModelReply,
    ModelRequest,
    NativeCall,
    Reusable,
    ToolUse,
    Trial,
    World,
)
from forkproof.conformance.observation import Observation
from forkproof.conformance.trace.model import Trace
from forkproof.conformance.trace.steps_authority import ApproveStep, DenyStep
from forkproof.conformance.trace.steps_durable import DeleteStep, RestartStep
from forkproof.conformance.trace.walk import walk
from forkproof.conformance.trial import CurrentScript, Observer, observe

if TYPE_CHECKING:
    from forkproof.adapters.model.server import ModelServer

__all__ = ["Bench", "Isolation", "needs_own_process"]

Isolation: TypeAlias = Literal["trace", "run"]
"""`trace`: a process a trace; `run`: one for all traces that can share it."""

_NONCE = re.compile(r"\[fp([0-9a-f]{6})\.")

_LASTING_STEPS = (RestartStep, DeleteStep, ApproveStep, DenyStep)
_LASTING_TOOLS = frozenset({"tool.todo", "tool.memory", "tool.schedule", "approvals"})


def needs_own_process(trace: Trace) -> bool:
    """Whether a trace may not share a process with others.

    It ends the process, changes how it is configured, leaves something behind that outlives its sessions (grants,
    memories, wake-ups), or looks at what all sessions have in common (their list, their costs).
    """
    if trace.hooks or {"provider.remote", "provider.conversation"} & set(trace.needs):
        return True
    if _LASTING_TOOLS & set(trace.needs) or any(isinstance(step, _LASTING_STEPS) for _, _, step in walk(trace)):
        return True
    expected = (e for step in trace.steps for entry in step.expect for e in entry.values())
    return any(e.sessions is not None or e.usage is not None for e in expected)


class Bench:
    """Plays traces on one harness; what it started is ended by `close`, which must run in the same event loop.

    `create` makes a fresh adapter. An adapter that has no process, or can't renew one, gets a new one for each trace.
    """

    def __init__(self, create: Callable[[], Adapter], isolation: Isolation, chaos: int | None = None) -> None:
        self._create = create
        self._isolation = isolation
        self._chaos = chaos
        self._shared: _Shared | None = None

    async def observe(self, trace: Trace, slug: str, seed: int, deadlines: Deadlines) -> Observation:
        """Play a trace and its control runs. Raises only what is a fault of ours."""
        fresh = self._create()
        if self._isolation == "trace" or not _can_share(fresh) or needs_own_process(trace):
            if self._shared is not None:
                # One process at a time: two would be a load that no run with `trace` has.
                await self._shared.end()
            return await observe(fresh, trace, slug, seed, deadlines, self._chaos)
        if self._shared is None:
            self._shared = await _Shared.open(fresh, self._chaos)
        return await self._shared.observe(fresh, trace, slug, seed, deadlines)

    async def close(self) -> None:
        """End the harness and the server; may be called twice."""
        shared, self._shared = self._shared, None
        if shared is not None:
            await shared.close()


def _can_share(adapter: Adapter) -> bool:
    return adapter.needs_server and isinstance(adapter, Reusable)


class _Shared:
    """The server and the directory of a run, and the process that serves its traces one after another."""

    def __init__(self, root: Path, first: Adapter, chaos: int | None) -> None:
        """Use `open`."""
        self._root = root
        self._model = _Switch()
        self._server = _server(self._model, self._native_call, self._id, chaos_for(chaos, first))
        self._adapter: Adapter | None = None
        self._ids: Callable[[str], str] = Ids("")
        self._roots = 0
        self._notes: list[str] = []

    @classmethod
    async def open(cls, first: Adapter, chaos: int | None) -> _Shared:
        """With a server that listens; no process yet. `first` is like all adapters that will run on it."""
        shared = cls(_directory(), first, chaos)
        try:
            await shared._server.__aenter__()
        except BaseException:
            await shared.close()
            raise
        return shared

    async def observe(self, fresh: Adapter, trace: Trace, slug: str, seed: int, deadlines: Deadlines) -> Observation:
        """Play one trace on the process that runs, or start one with this fresh adapter."""
        server, before = self._server, len(self._server.oddities)
        endpoint = server.endpoint
        self._ids = Ids(nonce_for(seed, slug, "ids"))
        self._notes.clear()
        observer = Observer(self._adapter or fresh, trace, slug, seed)
        if observer.missing:
            return observer.observation()
        root = self._new_root()
        trial = observer.trial(root, endpoint, deadlines)
        world = None if self._adapter is None else await self._renewed(self._adapter, trial)
        if self._adapter is None:
            observer = Observer(fresh, trace, slug, seed)
            trial = observer.trial(root, endpoint, deadlines)
            self._adapter = fresh
        self._model.play(observer.model, observer.nonces)
        reusable = False
        try:
            await observer.run(trial, world)
            reusable = observer.settled and not self._model.holding
        finally:
            if not reusable:
                await self.end(observer)
        server.settle()
        private = {endpoint.key: "$KEY", str(root): "$TRIAL", str(self._root): "$RUN", endpoint.url: "$MODEL"}
        private[str(home())] = "$FORKPROOF_HOME"
        oddities = (*map(str, server.oddities[before:]), *self._notes)
        return replace(observer.observation(), oddities=oddities, private=private)

    async def _renewed(self, adapter: Adapter, trial: Trial) -> World | None:
        """The next trace's world on the running process; None, and the process ended, where it can serve no more."""
        world = None
        try:
            if isinstance(adapter, Reusable):
                world = await adapter.renew(trial)
        except AdapterError as error:
            self._notes.append(f"the process of the traces before could not be used again: {error.cause}")
        except BaseException:
            await self.end()
            raise
        if world is None:
            await self.end()
            trial.root.mkdir()
        return world

    def _new_root(self) -> Path:
        self._roots += 1
        root = self._root / str(self._roots)
        root.mkdir()
        return root

    async def end(self, observer: Observer | None = None) -> None:
        """End the process, if one runs, and remove what it worked on. `observer` is the one whose trace ended it."""
        adapter, self._adapter = self._adapter, None
        if observer is not None:
            await observer.end()
        elif adapter is not None:
            await adapter.stop()
        self._model.forget()
        for left in self._root.iterdir():
            # As in `trial`: what can't be removed is the system's to clean.
            shutil.rmtree(left, ignore_errors=True)

    async def close(self) -> None:
        """End the process and the server; nothing is left of either."""
        await self.end()
        await self._server.stop()
        shutil.rmtree(self._root, ignore_errors=True)

    def _native_call(self, use: ToolUse) -> NativeCall:
        assert self._adapter is not None  # noqa: S101  # the model is asked only while a harness runs
        return self._adapter.native_call(use)

    def _id(self, prefix: str) -> str:
        return self._ids(prefix)


def _directory() -> Path:
    return Path(tempfile.mkdtemp(prefix="forkproof-")).resolve()


def _server(
    model: _Switch, native: Callable[[ToolUse], NativeCall], ids: Callable[[str], str], chaos: Chaos | None
) -> ModelServer:
    """Not started yet. Imported late: only a real harness needs it."""
    from forkproof.adapters.model.server import ModelServer

    return ModelServer(model, native, ids, chaos=chaos)


class _Switch:
    """The model of the trace that is played now.

    A request that comes late, from a session of an earlier trace, is answered by that trace's model, whose record is
    closed by then: it must not count as a request of this one.
    """

    def __init__(self) -> None:
        self._current: CurrentScript | None = None
        self._nonces: frozenset[str] = frozenset()
        self._earlier: dict[str, CurrentScript] = {}
        self.holding = 0
        """How many streams are held open now."""

    def play(self, model: CurrentScript, nonces: frozenset[str]) -> None:
        """From now on this model answers; `nonces` are those of the trace's parts."""
        if self._current is not None:
            self._earlier |= dict.fromkeys(self._nonces, self._current)
        self._current, self._nonces = model, nonces

    def forget(self) -> None:
        """The process has ended: no late request of it can come."""
        self._earlier.clear()

    async def respond(self, request: ModelRequest) -> ModelReply:
        """As `protocol.Model`."""
        return await self._of(request).respond(request)

    async def released(self, stall: str) -> None:
        """As `protocol.Model`."""
        self.holding += 1
        try:
            assert self._current is not None  # noqa: S101  # a stream is held by a model's own reply
            await self._current.released(stall)
        finally:
            self.holding -= 1

    def _of(self, request: ModelRequest) -> CurrentScript:
        assert self._current is not None  # noqa: S101  # no harness runs before the first trace
        if not self._earlier:
            return self._current
        held = set(_NONCE.findall(str(request.raw)))
        if held & self._nonces:
            return self._current
        return next((self._earlier[nonce] for nonce in held if nonce in self._earlier), self._current)
