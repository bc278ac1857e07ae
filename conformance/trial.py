"""One trial: a harness, one trace with its control runs, one observation.

A trace costs one process start at most: control runs are played on the same process, in sessions and directories of
their own. Whatever happens, `observe` ends the harness before it gives the observation.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from forkproof.adapters.errors import AdapterError, HarnessHung
from forkproof.adapters.installation import home
from forkproof.adapters.model.codec import Ids
from forkproof.adapters.model.markers import Markers, nonce_for
from forkproof.adapters.model.script import ScriptedModel, bland_for
from forkproof.adapters.protocol import Adapter, Deadlines, Endpoint, ModelReply, ModelRequest, Trial, World
from forkproof.conformance.observation import Observation, PartSeen
from forkproof.conformance.person import CurrentPerson, ScriptedPerson, hooks_of
from forkproof.conformance.player import PartPlayer, Stage
from forkproof.conformance.stage import control_sets, kept_steps, probed
from forkproof.conformance.trace.model import Trace

if TYPE_CHECKING:
    from forkproof.adapters.model.server import ModelServer

__all__ = ["CurrentScript", "Observer", "observe", "run_to_end"]

_CUTS = frozenset({"branch", "delete.turns", "fork.after", "fork.at", "fork.before", "fork.time", "rewind"})
"""The capabilities by which a history is cut at a place of its own."""

AFTER_A_HANG = 0.7
"""Seconds that a harness that hung gets to end: a TIMEOUT stands two seconds after the deadline (design section 11)."""


def run_to_end(runner: asyncio.Runner, trial: Coroutine[Any, Any, Observation]) -> Observation:
    """The observation of a trial on this runner's loop.

    It is handed over beside the task, not as its result: a runner that gives its signal handler back makes Python write
    out the task with its result, and a whole observation costs as much as a turn.
    """
    found: list[Observation] = []

    async def keep() -> None:
        found.append(await trial)

    runner.run(keep())
    return found[0]


class CurrentScript:
    """The model of the part that is being played; the harness's process outlives a part, the script does not."""

    def __init__(self, script: ScriptedModel, models: Mapping[str, str] = MappingProxyType({})) -> None:
        """`models` as in `protocol.Description`."""
        self.script = script
        self._models = models

    async def respond(self, request: ModelRequest) -> ModelReply:
        """As `protocol.Model`."""
        if request.prompt.model in self._models:
            named = replace(request.prompt, model=self._models[request.prompt.model])
            request = replace(request, prompt=named)
        return await self.script.respond(request)

    async def released(self, stall: str) -> None:
        """As `protocol.Model`."""
        await self.script.released(stall)

    def converse(self) -> str:
        """The id of a new conversation that the provider keeps."""
        return self.script.store.converse()


async def observe(
    adapter: Adapter, trace: Trace, slug: str, seed: int, deadlines: Deadlines, chaos: int | None = None
) -> Observation:
    """Play a trace and its control runs on a fresh adapter; `chaos` is the seed of disturbed answers, if they are.

    An `AdapterError` ends the trial and is part of the observation, with everything seen before it.
    """
    observer = Observer(adapter, trace, slug, seed)
    with _private_root(needed=adapter.needs_server) as root:
        async with _endpoint(adapter, observer.model, Ids(nonce_for(seed, slug, "ids")), chaos) as server:
            endpoint: Endpoint | None = None if server is None else server.endpoint
            try:
                await observer.run(observer.trial(root, endpoint, deadlines))
            finally:
                await observer.end()
            found = observer.observation()
            if endpoint is None or server is None:
                return found
            private = {
                endpoint.key: "$KEY",
                str(root): "$TRIAL",
                endpoint.url: "$MODEL",
                str(home()): "$FORKPROOF_HOME",
            }
            return replace(found, oddities=tuple(map(str, server.oddities)), private=private)


class Observer:
    """Plays the parts of one trace in turn and keeps what each of them saw.

    `missing` says whether the trace does not apply to this harness, so that no process needs to be started for it;
    `settled` tells, after `run`, whether all came to its end in order, so that nothing of the trace still runs.
    """

    def __init__(self, adapter: Adapter, trace: Trace, slug: str, seed: int) -> None:
        self._adapter = adapter
        self._trace = trace
        self._slug = slug
        self._seed = seed
        self._description = adapter.describe()
        self._main: PartPlayer | None = None
        self._controls: dict[frozenset[str], PartSeen] = {}
        self._error: AdapterError | None = None
        self.missing = not set(trace.needs) <= self._description.capabilities
        self.settled = False
        self._control_sets = control_sets(trace)
        self.model = CurrentScript(self._script("main"), self._description.models)
        self.person = CurrentPerson(ScriptedPerson(self.model.script.markers))

    @property
    def nonces(self) -> frozenset[str]:
        """The nonces of all parts."""
        parts = ("main", *map(_control, self._control_sets))
        return frozenset(nonce_for(self._seed, self._slug, part) for part in parts)

    def trial(self, root: Path, endpoint: Endpoint | None, deadlines: Deadlines) -> Trial:
        """What the adapter gets for this trace."""
        return Trial(
            root,
            self.model,
            endpoint,
            deadlines,
            keeping=_keeping(self._trace),
            person=self.person,
            hooks=hooks_of(self._trace.hooks),
            cuts=bool(_CUTS & set(self._trace.needs)),
        )

    async def run(self, trial: Trial, world: World | None = None) -> None:
        """Start the harness, unless it runs and has a world already, and play all parts.

        An adapter's error is kept, not raised.
        """
        if self.missing:
            self.settled = True
            return
        try:
            if world is None:
                world = await self._adapter.start(trial)
            stage = Stage(self._adapter, world, self._description, trial.deadlines, self.person)
            kept = tuple(True for _ in self._trace.steps)
            self._main = PartPlayer(stage, self._trace, self.model.script, kept, "main")
            await self._main.play(probed(self._trace))
            settled = self._main.settled
            for without in self._control_sets:
                name = _control(without)
                self.model.script = self._script(name)
                kept = kept_steps(self._trace, without)
                player = PartPlayer(stage, self._trace, self.model.script, kept, name)
                await player.play(probed(self._trace, without))
                settled = settled and player.settled
                self._controls[without] = player.seen()
            self.settled = settled
        except AdapterError as error:
            self._error = error

    async def end(self) -> None:
        """Stop the harness; one that hung had its time already, and is killed when it does not end at once."""
        if isinstance(self._error, HarnessHung):
            with suppress(TimeoutError):
                await asyncio.wait_for(self._adapter.stop(), AFTER_A_HANG)
        await self._adapter.stop()

    def observation(self) -> Observation:
        """What was seen."""
        main = self._main.seen() if self._main is not None else _nothing(self.model.script)
        return Observation(
            slug=self._slug,
            description=self._description,
            main=main,
            controls=dict(self._controls),
            error=self._error,
            error_step=len(main.steps) if self._error is not None else -1,
            diagnostics=self._adapter.diagnostics(),
        )

    def _script(self, part: str) -> ScriptedModel:
        markers = Markers(nonce_for(self._seed, self._slug, part))
        return ScriptedModel(markers, self._adapter.classify, bland_for(self._adapter))


def _control(without: frozenset[str]) -> str:
    """The name of a control run."""
    return "without-" + "-".join(sorted(without))


def _keeping(trace: Trace) -> Literal["response", "conversation"] | None:
    """How the provider is to keep conversations: as the trace needs it."""
    needs = set(trace.needs)
    return "response" if "provider.remote" in needs else "conversation" if "provider.conversation" in needs else None


def _nothing(script: ScriptedModel) -> PartSeen:
    empty: dict[str, str] = {}
    return PartSeen(script.markers.nonce, (), (), frozenset(), empty, empty, {}, {}, empty, empty)


@contextmanager
def _private_root(*, needed: bool) -> Iterator[Path]:
    """A private directory for one trial, gone afterwards; in-process harnesses need none."""
    if not needed:
        yield Path("/nonexistent")
        return
    root = Path(tempfile.mkdtemp(prefix="forkproof-")).resolve()
    try:
        yield root
    finally:
        # A harness that was just killed may leave a file half removed; what can't be removed is the system's to clean.
        shutil.rmtree(root, ignore_errors=True)


@asynccontextmanager
async def _endpoint(
    adapter: Adapter, model: CurrentScript, ids: Ids, chaos: int | None
) -> AsyncIterator[ModelServer | None]:
    """The model server, where the harness reaches the model over HTTP."""
    if not adapter.needs_server:
        yield None
        return
    from forkproof.adapters.model.chaos import chaos_for
    from forkproof.adapters.model.server import ModelServer

    disturbed = chaos_for(chaos, adapter)
    async with ModelServer(model, adapter.native_call, ids, chaos=disturbed, converse=model.converse) as server:
        yield server
