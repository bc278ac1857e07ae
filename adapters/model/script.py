"""The scripted model: what it answers depends on what the request holds, never on the order of arrival.

The newest user marker selects the turn, the results that the prompt holds select the step within it; so concurrent
sessions and retries can't be confused. A request that no turn in flight accounts for is a summary (if one was asked
for), side traffic, or off script. Source: design section 4.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

from forkproof.adapters.model.given import Given
from forkproof.adapters.model.items import Item, items_of, newest_user
from forkproof.adapters.model.markers import Markers
from forkproof.adapters.model.remote import ProviderStore, UnknownStateError
from forkproof.adapters.prompt import Prompt
from forkproof.adapters.protocol import Drop, Kind, ModelReply, ModelRequest, Say, Stall, Think, ToolUse

__all__ = ["ScriptedModel", "SeenRequest", "Titled", "bland_for"]

# A bland answer for titles and suggestions; it carries no marker, so it can't be taken for an item of the trace.
BLAND = ModelReply((Say("Fine."),))


_PATIENCE = 20
"""How often one answer with calls is given; more than any harness retries."""


@runtime_checkable
class Titled(Protocol):
    """An adapter whose harness understands no plain words as the answer to its side traffic."""

    bland: str


def bland_for(adapter: object) -> ModelReply:
    """What the model answers to side traffic of this adapter's harness.

    A title that can't be read is asked for again with every prompt, at a time of the harness's own: such a request in
    the step of a fork would look like the fork's.
    """
    bland = adapter.bland if isinstance(adapter, Titled) else ""
    return ModelReply((Say(bland),)) if bland else BLAND


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """One request as it was understood.

    `kind` is turn, summary, side or off-script; `turn` the turn (or summary) that it belongs to, if any; `reply` the
    index of the scripted answer; `step` the index of the trace's step during which it came. `items` are those that the
    model reads, with what the provider kept of earlier requests; `sent` is how many of them, the last, were sent.
    `stored` is the id under which the exchange was kept, if it was; `refused` tells why the provider refused it.
    """

    index: int
    step: int
    kind: str
    turn: str | None
    reply: int | None
    items: tuple[Item, ...]
    prompt: Prompt
    path: str
    sent: int = -1
    stored: str = ""
    refused: str = ""


@dataclass(slots=True)
class _Script:
    replies: tuple[ModelReply, ...]
    failures_served: set[int] = field(default_factory=set)
    calls_served: Counter[int] = field(default_factory=Counter)


class ScriptedModel:
    """Implements `protocol.Model` for one part of a trace (the trace itself, or a control run).

    The player tells what is in flight; `requests` holds everything seen, `produced` the names of the items that came
    into being (a check that lacks an item which never was would be vacuous).
    """

    def __init__(self, markers: Markers, classify: Callable[[Prompt], Kind | None], bland: ModelReply = BLAND) -> None:
        """`bland` answers whatever is none of the script's."""
        self.markers = markers
        self.step = 0
        self.requests: list[SeenRequest] = []
        self.produced: set[str] = set()
        self.given = Given()
        self.store = ProviderStore(markers.nonce)
        self._classify = classify
        self._bland = bland
        self._turns: dict[str, _Script] = {}
        self._summaries: dict[str, ModelReply] = {}
        self._stalls: dict[str, asyncio.Event] = {}
        self._steered: dict[str, str] = {}
        self._owners: dict[str, str] = {}
        self._reached: dict[str, asyncio.Event] = {}

    def begin_turn(self, name: str, replies: tuple[ModelReply, ...]) -> None:
        """From now on requests of this turn are expected."""
        self._turns[name] = _Script(replies)
        self._owners.update({p.name: name for reply in replies for p in reply.parts if isinstance(p, ToolUse)})
        self.produced.add(f"{name}.user")

    def end_turn(self, name: str) -> None:
        """From now on a request of this turn is off script."""
        self._turns.pop(name, None)

    def begin_steering(self, name: str, turn: str) -> None:
        """A message of this name was spoken into a turn; it is produced when a request first holds it."""
        self._steered[name] = turn
        self._owners[name] = turn

    def end_steering(self, name: str) -> None:
        """The message was not taken."""
        self._steered.pop(name, None)

    def turn_of(self, item: str) -> str:
        """The turn that an item of this name belongs to; its own name where it is no turn's, as a summary is not."""
        owner = item.partition(".")[0]
        return self._owners.get(owner, owner)

    def begin_summary(self, name: str, reply: ModelReply) -> None:
        """A compaction was asked for: a request of no turn in flight is its summary request."""
        self._summaries[name] = reply

    def end_summary(self, name: str) -> None:
        """The compaction is over."""
        self._summaries.pop(name, None)

    def in_flight(self) -> frozenset[str]:
        """The turns whose requests are expected now."""
        return frozenset(self._turns)

    def holds(self, name: str) -> bool:
        """Whether a stream of a turn in flight is to be held under this name."""
        return any(part == Stall(name) for s in self._turns.values() for reply in s.replies for part in reply.parts)

    async def stalled(self, name: str) -> None:
        """Return when a stream has come to this stall."""
        await self._reached.setdefault(name, asyncio.Event()).wait()

    def stall(self, name: str) -> asyncio.Event:
        """The event that lets a stalled stream go on."""
        return self._stalls.setdefault(name, asyncio.Event())

    async def released(self, stall: str) -> None:
        """Return when the named stall may go on."""
        self._reached.setdefault(stall, asyncio.Event()).set()
        await self.stall(stall).wait()
        self.store.released(stall)

    async def respond(self, request: ModelRequest) -> ModelReply:
        """Answer one request by what the model reads: what it holds, and what the provider kept before."""
        asked = request.prompt
        refused: UnknownStateError | None = None
        try:
            read = self.store.effective(asked)
        except UnknownStateError as unknown:
            read, refused = asked, unknown
        continues = read is not asked
        items = items_of(read, self.markers, self.given)
        if continues:
            asked = replace(asked, tools=read.tools)  # a thread keeps them, as it keeps the messages
        kind, turn, index, reply = self._choose(read, items)
        sent = len(items_of(asked, self.markers, self.given)) if continues else len(items)
        number, step, path = len(self.requests), self.step, request.path
        if refused is not None:
            no = str(refused)
            self.requests.append(SeenRequest(number, step, kind, turn, None, items, asked, path, sent, refused=no))
            return ModelReply(status=refused.status, message=no, code=refused.code)
        stored = self.store.keep(asked, read, reply) if reply.status == 200 else ""  # noqa: PLR2004  # HTTP's OK
        place = self.store.place(asked.stored, stored)
        self.requests.append(SeenRequest(number, step, kind, turn, index, items, asked, path, sent, place))
        self.produced.update(i.name for i in items if i.name.removesuffix(".user") in self._steered)
        self._produce(reply)
        self.given.add(reply, asked, self.markers)
        return replace(reply, stored=stored) if stored else reply

    def _choose(self, prompt: Prompt, items: tuple[Item, ...]) -> tuple[str, str | None, int | None, ModelReply]:
        told = self._classify(prompt)
        turn = newest_user(items)
        turn = self._steered.get(turn, turn) if turn is not None else None
        if told == "side":
            return "side", None, None, self._bland
        if turn in self._turns and told != "summary":
            return self._next(turn, self._turns[turn], items)
        if self._summaries:
            # Two at the same time get one summary each; a retry gets the last one again.
            asked = {request.turn for request in self.requests if request.kind == "summary"}
            name = next((each for each in self._summaries if each not in asked), [*self._summaries][-1])
            return "summary", name, 0, self._summaries[name]
        if told == "summary":
            return "summary", None, None, self._bland
        if turn is None:
            return "side", None, None, self._bland
        return "off-script", turn, None, self._bland

    def _next(
        self, turn: str, script: _Script, items: tuple[Item, ...]
    ) -> tuple[str, str | None, int | None, ModelReply]:
        answered = {i.name.removesuffix(".result") for i in items if i.name.endswith(".result")}
        for index, reply in enumerate(script.replies):
            calls = {p.name for p in reply.parts if isinstance(p, ToolUse)}
            last = index == len(script.replies) - 1
            if calls and calls <= answered:
                continue
            if calls and not last:
                # Told so often and never shown a result, a model would go on, and so must the trace: what was lost is
                # for the judge to say.
                script.calls_served[index] += 1
                if script.calls_served[index] > _PATIENCE:
                    continue
            if _breaks(reply) and not last:
                # A failure is served once; the harness's retry meets the next answer.
                if index in script.failures_served:
                    continue
                script.failures_served.add(index)
            return "turn", turn, index, reply
        return "off-script", turn, None, self._bland

    def _produce(self, reply: ModelReply) -> None:
        for part in reply.parts:
            match part:
                case Say(text):
                    self.produced.update(self.markers.find(text))
                case Think(name):
                    self.produced.add(name)
                case ToolUse(_, name, tool):
                    self.produced.update({f"{name}.call", f"{name}.result"})
                    self.produced.update({f"{name}.{tool}"} if tool in ("todo", "memory") else ())
                case _:
                    pass


def _breaks(reply: ModelReply) -> bool:
    return reply.status != 200 or any(isinstance(part, Drop) for part in reply.parts)  # noqa: PLR2004  # HTTP's OK
