"""What an agent advertises, and what it does when it is tried: one start, one model of ours, every method that matters.

An advertisement is a claim. Agents leave out what they can do (Goose and `session/fork`), and advertise what they then
refuse; a fork that is answered may hold nothing. So each method is called, and its effect looked at: in the list, in
the replay, and in the request that the model gets. Source: issue 4, Build 3.
"""

from __future__ import annotations

import asyncio
import secrets
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

from forkproof.adapters.acp import recipe_of
from forkproof.adapters.acp.agent import Agent
from forkproof.adapters.acp.client import Client
from forkproof.adapters.acp.desk import Desk
from forkproof.adapters.acp.recipe import Recipe
from forkproof.adapters.acp.refusal import words
from forkproof.adapters.doctor import Check, Probe
from forkproof.adapters.errors import BadRecipe, Garbage, UnknownHarness
from forkproof.adapters.installation import Installation
from forkproof.adapters.jsonrpc import METHOD_NOT_FOUND, RpcError
from forkproof.adapters.protocol import Deadlines, ModelReply, ModelRequest, NativeCall, Say, ToolUse, Trial
from forkproof.adapters.registry import find

__all__ = ["Tried", "attempt", "probe_of"]

_DECLARED: Final = {
    "session/fork": ("fork.head",),
    "session/list": ("sessions",),
    "session/load": ("resume", "history"),
    "session/resume": (),
    "session/close": (),
    "session/delete": ("delete",),
}
"""Method -> the capabilities that a recipe can't have without it; each is tried in this order."""


_PATIENT: Final = Deadlines(start=180.0, operation=120.0)
"""Some agents take half a minute to start on a busy machine, and the doctor is not there to judge that."""


@dataclass(frozen=True, slots=True)
class Tried:
    """One method: whether the agent advertises it, whether it worked, what was seen, and what the recipe makes of it.

    `answer` is `works`, `void` (answered, without the effect), `refused` or `missing`. `declared` are the capabilities
    of the recipe that need it.
    """

    method: str
    advertised: bool
    answer: str
    seen: str
    declared: tuple[str, ...] = ()

    @property
    def works(self) -> bool:
        """Whether its effect was seen."""
        return self.answer == "works"

    @property
    def surprising(self) -> bool:
        """Whether the agent's advertisement, or the recipe, says something else than what was seen."""
        if not self.works:
            return self.advertised or bool(self.declared)
        return not self.advertised

    def __str__(self) -> str:
        told = "advertised" if self.advertised else "not advertised"
        joint = " all the same" if self.works and not self.advertised else ""
        text = f"{told}; tried, it works{joint}: {self.seen}" if self.works else f"{told}; tried, {self.seen}"
        if self.declared and not self.works:
            text += f"; the recipe declares {', '.join(self.declared)}"
        return text


def attempt(recipe: Recipe, installation: Installation, deadlines: Deadlines | None = None) -> tuple[Tried, ...]:
    """Start the agent once, in a HOME of its own, and try every method. Raises as starting it does."""
    return asyncio.run(_attempt(recipe, installation, deadlines or _PATIENT))


def probe_of(wanted: str) -> Probe | None:
    """What the doctor is to try of this harness; None for one that does not speak ACP, or that nobody knows."""
    try:
        recipe = recipe_of(find(wanted).choice)
    except (UnknownHarness, BadRecipe):
        return None
    return None if recipe is None else lambda found: [_check(each) for each in attempt(recipe, found)]


def _check(tried: Tried) -> Check:
    return Check(tried.method, "warning" if tried.surprising else "ok", str(tried))


async def _attempt(recipe: Recipe, installation: Installation, deadlines: Deadlines) -> tuple[Tried, ...]:
    from forkproof.adapters.model.codec import Ids
    from forkproof.adapters.model.server import ModelServer

    model = _Model()
    with tempfile.TemporaryDirectory(prefix="forkproof-") as folder, tempfile.TemporaryDirectory(dir=folder) as work:
        agent = Agent(recipe, installation, Desk(serves_files="files" in recipe.client, answers=recipe.answers))
        async with ModelServer(model, _no_calls, Ids(secrets.token_hex(3))) as server:
            try:
                await agent.start(Trial(Path(folder), model, server.endpoint, deadlines))
                if agent.client is None:
                    raise RuntimeError("a started agent has a client")
                return await _Probe(agent.client, model, work, recipe).all()
            finally:
                await agent.stop()


class _Model:
    """A model that says one word to everything, and keeps what it was sent."""

    def __init__(self) -> None:
        self.requests: list[str] = []

    async def respond(self, request: ModelRequest) -> ModelReply:
        """A short answer to any request, titles and summaries included."""
        self.requests.append(str(request.prompt))
        return ModelReply((Say("Fine."),))

    async def released(self, stall: str) -> NoReturn:
        """Nothing of it ever stalls."""
        raise RuntimeError(f"no stall {stall} was scripted")


def _no_calls(_use: ToolUse) -> NativeCall:
    raise RuntimeError("no call was scripted")


class _Probe:
    """The attempts, one after another, on one running agent."""

    def __init__(self, client: Client, model: _Model, work: str, recipe: Recipe) -> None:
        self._client = client
        self._model = model
        self._work = work
        self._recipe = recipe
        self._word = f"fp{secrets.token_hex(4)}"
        self._main = ""
        self._child = ""

    async def all(self) -> tuple[Tried, ...]:
        """Every method, after one turn that gives them something to work on. Raises `Garbage` if that fails."""
        try:
            self._main = str((await self._client.new(self._work))["sessionId"])
            stop = await self._client.prompt(self._main, f"Say fine. {self._word}")
        except RpcError as error:
            raise Garbage(f"a first turn failed: {words(error)}", "run one trace: its record tells more") from error
        if stop != "end_turn" or not self._reached(self._word):
            raise Garbage(f"a first turn stopped as {stop}, and our model was not asked", "check the recipe's `env`")
        steps: Mapping[str, Callable[[], Awaitable[tuple[bool, str]]]] = {
            "session/fork": self._fork,
            "session/list": self._list,
            "session/load": self._load,
            "session/resume": self._resume,
            "session/close": self._close,
            "session/delete": self._delete,
        }
        return tuple([await self._try(method, steps[method]) for method in _DECLARED])

    async def _try(self, method: str, step: Callable[[], Awaitable[tuple[bool, str]]]) -> Tried:
        try:
            works, seen = await step()
            answer = "works" if works else "void"
        except RpcError as error:
            missing = error.code == METHOD_NOT_FOUND
            answer, seen = "missing" if missing else "refused", f"it says: {words(error)}"
        declared = tuple(name for name in _DECLARED[method] if name in self._recipe.capabilities)
        return Tried(method, _advertised(self._client.agent, method), answer, seen, declared)

    async def _fork(self) -> tuple[bool, str]:
        child = str((await self._client.fork(self._main, self._work, {}))["sessionId"])
        self._child = child if child != self._main else ""
        if not self._child:
            return False, "its answer names the source itself"
        if await self._goes_on(self._child, "fork"):
            return True, "the fork's request holds what was said before it"
        return False, "it is answered, and the fork's request lacks what was said before it"

    async def _list(self) -> tuple[bool, str]:
        listed = {entry["sessionId"] for entry in await self._client.listed()}
        lacking = [
            name for name, each in (("session", self._main), ("fork", self._child)) if each and each not in listed
        ]
        return (not lacking, f"it leaves the {' and the '.join(lacking)} out" if lacking else "it names every session")

    async def _load(self) -> tuple[bool, str]:
        if self._word in str(await self._client.replay(self._main, self._work)):
            return True, "it replays what was said"
        return False, "it is answered, and replays nothing of what was said"

    async def _resume(self) -> tuple[bool, str]:
        await self._client.call("session/resume", {"sessionId": self._main, "cwd": self._work, "mcpServers": []})
        if await self._goes_on(self._main, "resume"):
            return True, "the next request holds what was said before"
        return False, "it is answered, and the next request lacks what was said before"

    async def _close(self) -> tuple[bool, str]:
        await self._client.call("session/close", {"sessionId": self._child or self._main})
        return True, "it is answered"

    async def _delete(self) -> tuple[bool, str]:
        gone = self._child or self._main
        await self._client.call("session/delete", {"sessionId": gone})
        if gone in await self._client.directories():
            return False, "it is answered, and session/list still names the session"
        return True, "the session is listed no more"

    async def _goes_on(self, session: str, name: str) -> bool:
        """Whether the request of one more turn holds the first turn's word too."""
        word = f"{name}{self._word[::-1]}"
        await self._client.prompt(session, f"Again. {word}")
        return self._reached(word, self._word)

    def _reached(self, *said: str) -> bool:
        """Whether one request held all of these words."""
        return any(all(word in request for word in said) for request in self._model.requests)


def _advertised(agent: Mapping[str, Any], method: str) -> bool:
    """Whether `initialize` claimed this method: `loadSession`, and an object for each of the others."""
    claims = agent.get("agentCapabilities")
    claims = claims if isinstance(claims, Mapping) else {}
    if method == "session/load":
        return claims.get("loadSession") is True
    sessions = claims.get("sessionCapabilities")
    claim = sessions.get(method.partition("/")[2]) if isinstance(sessions, Mapping) else None
    return claim is not None and claim is not False
