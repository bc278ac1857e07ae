"""The adapter for every agent that speaks ACP: `protocol.Adapter` on a recipe, a program and an extension."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from forkproof.adapters import environment, shell
from forkproof.adapters.acp import extension
from forkproof.adapters.acp.client import Client
from forkproof.adapters.acp.program import command_line, route
from forkproof.adapters.acp.recipe import Recipe, fill
from forkproof.adapters.acp.record import fork_record
from forkproof.adapters.acp.refusal import refusal, words
from forkproof.adapters.diskworld import DiskWorld
from forkproof.adapters.errors import StartFailed
from forkproof.adapters.installation import Installation
from forkproof.adapters.jsonrpc import RpcError
from forkproof.adapters.prompt import Prompt, Text
from forkproof.adapters.protocol import (
    Acknowledged,
    Answer,
    Cancel,
    Compact,
    Description,
    Fork,
    Forked,
    ForkRecord,
    Import,
    Kind,
    NativeCall,
    OpenSession,
    Operation,
    Refused,
    SendPrompt,
    SessionOpened,
    ToolUse,
    Trial,
    TurnEnded,
    Unsupported,
)
from forkproof.adapters.supervisor import Supervised

__all__ = ["AcpAdapter"]


class AcpAdapter:
    """One agent process for one trace; see `protocol.Adapter`."""

    needs_server = True

    def __init__(
        self,
        recipe: Recipe,
        installation: Installation,
        extra: extension.Extension | None = None,
        *,
        variant: str = "",
    ) -> None:
        """`extra` is what the agent adds to ACP, by default what the recipe names. Raises `BadRecipe`.

        `variant` is the name of the recipe's variant that this is, empty for none.
        """
        self._recipe = recipe
        self._variant = variant
        self._installation = installation
        self._extra = extra or extension.named(recipe.extension)
        self._process: Supervised | None = None
        self._client: Client | None = None
        self._world: DiskWorld | None = None
        self._directories: dict[str, str] = {}

    # --- Life ------------------------------------------------------------------------------------------------------

    def describe(self) -> Description:
        """What the recipe declares, for the program that is there."""
        return Description(
            harness=self._recipe.name,
            version=self._installation.version,
            wire=self._recipe.wire,
            capabilities=self._recipe.capabilities,
            policies=dict(self._recipe.policies),
            unobservable=self._recipe.unobservable,
            binary_sha256=self._installation.sha256,
            route=route(self._recipe),
            variant=self._variant,
        )

    async def start(self, trial: Trial) -> DiskWorld:
        """Start the agent with a HOME of its own below the trial's root. Raises as `Client.initialize` does."""
        if trial.endpoint is None:
            raise StartFailed(f"{self._recipe.name} reaches its model over HTTP", "start the model server first")
        home = trial.root / "home"
        values = {
            "endpoint": trial.endpoint.url,
            "key": trial.endpoint.key,
            "home": str(home),
            "program": str(self._installation.binary),
        }
        environment.make_home(home)
        self._write_files(home, values)
        self._world = DiskWorld(trial.root / "world")
        try:
            self._process = await Supervised.start(
                command_line(self._recipe, self._installation, values),
                directory=home,
                environment=environment.build(home, {k: fill(v, values) for k, v in self._recipe.env.items()}),
                stop_within=trial.deadlines.stop,
            )
            self._client = Client(self._process, trial.deadlines)
            await self._client.initialize()
        except BaseException:
            await self.stop()
            raise
        return self._world

    async def stop(self) -> None:
        """End the agent and every descendant."""
        # The process first: a cancellation on the way must not leave it running.
        if self._process is not None:
            await self._process.stop()
        if self._client is not None:
            await self._client.close()
        if self._world is not None:
            self._world.close()

    def diagnostics(self) -> str:
        """The end of the agent's standard error."""
        return "" if self._process is None else self._process.stderr()

    def _write_files(self, home: Path, values: Mapping[str, str]) -> None:
        for path, text in self._recipe.files.items():
            file = home / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(fill(text, values), encoding="utf-8")

    # --- The model's side ------------------------------------------------------------------------------------------

    def native_call(self, use: ToolUse) -> NativeCall:
        """A call of the agent's shell tool, which does any of the abstract tools' work."""
        if self._world is None:
            raise RuntimeError("the agent was not started")
        self._world.prepare(use)
        tool = self._recipe.tool.shell
        return NativeCall(tool.name, {tool.arg: shell.command(use, self._world.control)})

    def classify(self, prompt: Prompt) -> Kind | None:
        """By the words that the recipe's `traffic` gives for each kind."""
        traffic = self._recipe.traffic
        if _holds(prompt, traffic.summary):
            return "summary"
        return "side" if _holds(prompt, traffic.side) else None

    # --- Operations ------------------------------------------------------------------------------------------------

    async def perform(self, operation: Operation) -> Answer:
        """Carry out one operation, by the ACP method of the same meaning."""
        client = self._client
        if client is None:
            raise StartFailed(f"{self._recipe.name} was not started", "call `start` first")
        match operation:
            case OpenSession():
                return await self._open(client, operation)
            case Import():
                return await self._import(client, operation)
            case SendPrompt():
                return await self._prompt(client, operation)
            case Cancel(session):
                client.cancel(session)
                return Acknowledged()
            case Compact(session):
                return await self._compact(client, session)
            case Fork():
                return await self._fork(client, operation)
            case _:
                return Unsupported(f"this adapter has no {type(operation).__name__}")

    async def _open(self, client: Client, wanted: OpenSession) -> Answer:
        try:
            session = str((await client.new(wanted.directory))["sessionId"])
        except RpcError as error:
            return refusal(error, "session/new", self._recipe)
        return await self._ready(client, session, wanted)

    async def _import(self, client: Client, wanted: Import) -> Answer:
        try:
            answer = await self._extra.imported(client, wanted)
        except RpcError as error:
            return refusal(error, "way to import a session", self._recipe)
        if not isinstance(answer, SessionOpened):
            return answer
        return await self._ready(client, answer.session, wanted)

    async def _ready(self, client: Client, session: str, wanted: OpenSession | Import) -> Answer:
        """Give a new session the settings that were asked for."""
        self._directories[session] = wanted.directory
        options = {name: option for option, name in self._recipe.settings.items()}
        for name, value in wanted.settings.items():
            choice = {"sessionId": session, "configId": options.get(name, name), "value": value}
            try:
                await client.call("session/set_config_option", choice)
            except RpcError as error:
                return refusal(error, "session/set_config_option", self._recipe)
        return SessionOpened(session)

    async def _prompt(self, client: Client, wanted: SendPrompt) -> Answer:
        try:
            return TurnEnded(await self._turn(client, wanted.session, wanted.text))
        except RpcError as error:
            said = refusal(error, "session/prompt", self._recipe)
            if isinstance(said, Refused) and said.reason != "other":
                return said
            return TurnEnded("failed", detail=words(error))

    async def _compact(self, client: Client, session: str) -> Answer:
        if not self._recipe.compact:
            return Unsupported("compacting on request: the recipe names no prompt that does it")
        try:
            stop = await self._turn(client, session, self._recipe.compact)
        except RpcError as error:
            return refusal(error, "session/prompt", self._recipe)
        return Acknowledged() if stop == "end_turn" else Refused("other", f"{self._recipe.compact} stopped as {stop}")

    async def _turn(self, client: Client, session: str, text: str) -> str:
        await self._extra.before_prompt(client, session)
        try:
            return await client.prompt(session, text)
        finally:
            self._extra.after_turn(session)

    async def _fork(self, client: Client, wanted: Fork) -> Answer:
        source = wanted.session if wanted.exists else self._extra.unknown_session
        try:
            meta = await self._extra.cut(client, wanted)
            if isinstance(meta, Refused | Unsupported):
                return meta
            self._copy(wanted)
            answer = await client.fork(source, wanted.directory, meta)
        except RpcError as error:
            return refusal(error, "session/fork", self._recipe)
        child = str(answer["sessionId"])
        self._directories[child] = wanted.directory
        self._extra.forked(source, child)
        return Forked(await self._record(client, wanted, answer))

    def _copy(self, wanted: Fork) -> None:
        """Make the new workspace: ACP's fork only takes a directory (capability `workspace.isolated.caller`)."""
        source = self._directories.get(wanted.session)
        if wanted.workspace == "isolated" and source is not None and self._world is not None:
            self._world.copy(source, wanted.directory)

    async def _record(self, client: Client, wanted: Fork, answer: Mapping[str, Any]) -> ForkRecord:
        """The record; the fork is made by now, so a statement that the agent refuses to make is merely absent."""
        child = str(answer["sessionId"])
        directories: Mapping[str, str] = {}
        source = None
        with suppress(RpcError):
            directories = await self._extra.directories(client, (wanted.session, child))
        with suppress(RpcError):
            source = await self._extra.source(client, child)
        return fork_record(wanted, answer, self._recipe, directories, source)


def _holds(prompt: Prompt, phrases: tuple[str, ...]) -> bool:
    """Whether any of these phrases stands in a text of the prompt."""
    texts = [part.content for message in prompt.messages for part in message.parts if isinstance(part, Text)]
    return any(phrase in text for phrase in phrases for text in texts)
