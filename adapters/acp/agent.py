"""The agent's process: started on a HOME of its own, ended and started again on the same one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from forkproof.adapters import environment
from forkproof.adapters.acp.client import Client, Tap
from forkproof.adapters.acp.desk import Desk
from forkproof.adapters.acp.program import command_line
from forkproof.adapters.acp.recipe import Recipe, fill
from forkproof.adapters.errors import StartFailed
from forkproof.adapters.installation import Installation
from forkproof.adapters.protocol import Endpoint, Trial
from forkproof.adapters.supervisor import Supervised
from forkproof.adapters.wirelog import wire_log

__all__ = ["Agent"]


class Agent:
    """One agent in one HOME. `process` and `client` are those of the process that runs now, None before the start.

    `taps` are shown every message of every process of it; whoever adds one does so before the start.
    """

    def __init__(self, recipe: Recipe, installation: Installation, desk: Desk) -> None:
        self.taps: list[Tap] = []
        self.process: Supervised | None = None
        self.client: Client | None = None
        self._recipe = recipe
        self._installation = installation
        self._desk = desk
        self._trial: Trial | None = None
        self._said = ""

    async def start(self, trial: Trial) -> None:
        """Make the HOME, below the trial's root, and start the agent in it. Raises as `Client.initialize` does."""
        home = trial.root / "home"
        environment.make_home(home)
        values = self._values(home, self._reached(trial))
        for path, text in self._recipe.files.items():
            file = home / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(fill(text, values), encoding="utf-8")
        self._trial = trial
        await self._launch(trial, home, values)

    async def restart(self, *, kill: bool) -> None:
        """End the process, at once with `kill`, and start another one in the same HOME. Raises as `start` does."""
        if self.process is None or self._trial is None:
            raise StartFailed(f"{self._recipe.name} was not started", "call `start` first")
        if kill:
            self.process.kill()
        await self.stop()
        self._said += self.process.stderr()
        home = self._trial.root / "home"
        await self._launch(self._trial, home, self._values(home, self._reached(self._trial)))

    async def stop(self) -> None:
        """End the agent and every descendant."""
        # The process first: a cancellation on the way must not leave it running.
        if self.process is not None:
            await self.process.stop()
        if self.client is not None:
            await self.client.close()

    def diagnostics(self) -> str:
        """The end of the agent's standard error, of all its processes."""
        return self._said + ("" if self.process is None else self.process.stderr())

    async def _launch(self, trial: Trial, home: Path, values: Mapping[str, str]) -> None:
        try:
            self.process = await Supervised.start(
                command_line(self._recipe, self._installation, values),
                directory=home,
                environment=environment.build(home, {k: fill(v, values) for k, v in self._recipe.env.items()}),
                stop_within=trial.deadlines.stop,
            )
            taps = (*self.taps, wire_log(self.process.pid))
            self.client = Client(self.process, trial.deadlines, self._desk, taps)
            await self.client.initialize()
        except BaseException:
            await self.stop()
            raise

    def _reached(self, trial: Trial) -> Endpoint:
        if trial.endpoint is None:
            raise StartFailed(f"{self._recipe.name} reaches its model over HTTP", "start the model server first")
        return trial.endpoint

    def _values(self, home: Path, endpoint: Endpoint) -> Mapping[str, str]:
        return {
            "endpoint": endpoint.url,
            "key": endpoint.key,
            "home": str(home),
            "program": str(self._installation.binary),
        }
