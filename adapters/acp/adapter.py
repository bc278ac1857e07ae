"""The adapter for every agent that speaks ACP: `protocol.Adapter` on a recipe, a program and an extension."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from forkproof.adapters import shell
from forkproof.adapters.acp import extension
from forkproof.adapters.acp.agent import Agent
from forkproof.adapters.acp.client import Client, Said
from forkproof.adapters.acp.desk import Desk
from forkproof.adapters.acp.program import route
from forkproof.adapters.acp.recipe import Recipe
from forkproof.adapters.acp.record import fork_record
from forkproof.adapters.acp.refusal import refusal, words
from forkproof.adapters.acp.sessions import Sessions
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
    Configure,
    Delete,
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
    Restart,
    Resume,
    SendPrompt,
    SessionOpened,
    ToolUse,
    Trial,
    TurnEnded,
    Unsupported,
)
from forkproof.adapters.readings import SessionsRead
from forkproof.adapters.supervisor import Supervised
from forkproof.adapters.tree import ListSessions, ReadHistory

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
        self.retried = recipe.retried
        self.bland = recipe.traffic.answer
        self._variant = variant
        self._installation = installation
        self._extra = extra or extension.named(recipe.extension)
        self._desk = Desk(serves_files="files" in recipe.client, answers=recipe.answers)
        self._agent = Agent(recipe, installation, self._desk)
        self._agent.taps.append(self._extra.heard)
        self._sessions = Sessions(recipe, self._desk.directories)
        self._world: DiskWorld | None = None

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
            models={theirs: ours for ours, theirs in self._recipe.values.get("model", {}).items()},
            deadline=self._recipe.deadline,
        )

    async def start(self, trial: Trial) -> DiskWorld:
        """Start the agent with a HOME of its own below the trial's root. Raises as `Client.initialize` does."""
        self._desk.person = trial.person
        self._extra.begin(trial)
        await self._agent.start(trial)
        self._world = DiskWorld(trial.root / "world")
        return self._world

    async def renew(self, trial: Trial) -> DiskWorld | None:
        """Serve one more trace with the running agent; None where the recipe or what happened so far forbids it."""
        if not self._recipe.reusable or self._desk.asking or self._world is None or self._process is None:
            return None
        if self._process.returncode is not None:
            return None
        self._world.close()
        self._desk.person = trial.person
        self._extra.begin(trial)
        self._world = DiskWorld(trial.root / "world")
        return self._world

    async def stop(self) -> None:
        """End the agent and every descendant."""
        await self._agent.stop()
        if self._world is not None:
            self._world.close()

    def diagnostics(self) -> str:
        """The end of the agent's standard error."""
        return self._agent.diagnostics()

    @property
    def _client(self) -> Client | None:
        return self._agent.client

    @property
    def _process(self) -> Supervised | None:
        return self._agent.process

    # --- The model's side ------------------------------------------------------------------------------------------

    def native_call(self, use: ToolUse) -> NativeCall:
        """A call of the agent's shell tool, which does any of the abstract tools' work."""
        if self._world is None:
            raise RuntimeError("the agent was not started")
        self._world.prepare(use)
        tool, command = self._recipe.tool.shell, shell.command(use, self._world.control)
        self._desk.expect(use.id, command)
        return NativeCall(tool.name, {tool.arg: command, **tool.more})

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
        if _chooses_permissions(operation):
            self._desk.asking = True
        match operation:
            case OpenSession():
                return await self._sessions.open(client, operation)
            case Import():
                return await self._import(client, operation)
            case SendPrompt():
                return await self._prompt(client, operation)
            case Cancel(session):
                client.cancel(session)
                self._desk.cancel(session)
                return Acknowledged()
            case Compact(session):
                return await self._compact(client, session)
            case Fork():
                return await self._fork(client, operation)
            case Restart(kill):
                await self._agent.restart(kill=kill)
                return Acknowledged()
            case _:
                return await self._about(client, operation)

    async def _about(self, client: Client, operation: Operation) -> Answer:
        """Operations on a session as a whole."""
        match operation:
            case Configure(session, settings):
                return await self._sessions.configure(client, session, settings)
            case Resume(session):
                return await self._sessions.resume(client, session)
            case Delete():
                return await self._sessions.delete(client, operation)
            case ReadHistory(session):
                return await self._sessions.history(client, session)
            case ListSessions():
                return await self._listed(client)
            case _:
                return await self._beyond(client, operation)

    async def _listed(self, client: Client) -> Answer:
        """The list, and what the agent states elsewhere of where each session came from."""
        answer = await self._sessions.listed(client)
        if not isinstance(answer, SessionsRead):
            return answer
        try:
            sources = await self._extra.sources(client, answer.sessions)
        except RpcError as error:
            return refusal(error, "way to tell where a session came from", self._recipe)
        return replace(answer, lines=tuple(replace(line, source=sources.get(line.session)) for line in answer.lines))

    async def _beyond(self, client: Client, operation: Operation) -> Answer:
        try:
            return await self._extra.beyond(client, operation)
        except RpcError as error:
            return refusal(error, f"way to carry out {type(operation).__name__}", self._recipe)

    async def _import(self, client: Client, wanted: Import) -> Answer:
        try:
            answer = await self._extra.imported(client, wanted)
        except RpcError as error:
            return refusal(error, "way to import a session", self._recipe)
        if not isinstance(answer, SessionOpened):
            return answer
        self._sessions.made(answer.session, wanted.directory, {})
        ready = await self._sessions.ready(client, answer.session, wanted.settings)
        return answer if isinstance(ready, SessionOpened) else ready

    async def _prompt(self, client: Client, wanted: SendPrompt) -> Answer:
        try:
            return TurnEnded(await self._turn(client, wanted.session, wanted.text, wanted.attachments))
        except RpcError as error:
            said = refusal(error, "session/prompt", self._recipe)
            if isinstance(said, Refused) and said.reason != "other":
                return said
            return TurnEnded("failed", detail=words(error))

    async def _compact(self, client: Client, session: str) -> Answer:
        if not self._recipe.compact:
            return Unsupported("compacting on request: the recipe names no prompt that does it")
        said = Said(session, self._recipe.compacted) if self._recipe.compacted is not None else None
        try:
            with client.tapped(said.tap) if said else nullcontext():
                stop = await self._turn(client, session, self._recipe.compact)
                if stop == "end_turn" and said is not None:
                    await client.told(said)
        except RpcError as error:
            return refusal(error, "session/prompt", self._recipe)
        return Acknowledged() if stop == "end_turn" else Refused("other", f"{self._recipe.compact} stopped as {stop}")

    async def _turn(
        self, client: Client, session: str, text: str, attachments: Mapping[str, str] = MappingProxyType({})
    ) -> str:
        await self._extra.before_prompt(client, session)
        try:
            return await client.prompt(session, text, attachments)
        finally:
            self._extra.after_turn(session)

    async def _fork(self, client: Client, wanted: Fork) -> Answer:
        if wanted.settings:
            return Unsupported("settings given with a fork: ACP's session/fork takes none")
        source = wanted.session if wanted.exists else self._recipe.unknown_session or self._extra.unknown_session
        try:
            meta = await self._extra.cut(client, wanted)
            if isinstance(meta, Refused | Unsupported):
                return meta
            self._copy(wanted)
            answer = await client.fork(source, wanted.directory, meta)
        except RpcError as error:
            return refusal(error, "session/fork", self._recipe)
        child = str(answer["sessionId"])
        self._sessions.made(child, wanted.directory, answer)
        self._extra.forked(source, child)
        await self._sessions.name(client, child)
        return Forked(await self._record(client, wanted, answer))

    def _copy(self, wanted: Fork) -> None:
        """Make the new workspace: ACP's fork only takes a directory (capability `workspace.isolated.caller`)."""
        source = self._desk.directories.get(wanted.session)
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


def _chooses_permissions(operation: Operation) -> bool:
    """Whether somebody says here how questions are to be handled: from then on they are the person's."""
    return "permissions" in getattr(operation, "settings", {})


def _holds(prompt: Prompt, phrases: tuple[str, ...]) -> bool:
    """Whether any of these phrases stands in a text of the prompt."""
    texts = [part.content for message in prompt.messages for part in message.parts if isinstance(part, Text)]
    return any(phrase in text for phrase in phrases for text in texts)
