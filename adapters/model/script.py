"""The scripted model: what it answers depends on what the request holds, never on the order of arrival.

The newest user marker selects the turn, the results that the prompt holds select the step within it; so concurrent
sessions and retries can't be confused. A request that no turn in flight accounts for is a summary (if one was asked
for), side traffic, or off script. Source: design section 4.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from forkproof.adapters.model.items import Item, items_of, newest_user
from forkproof.adapters.model.markers import Markers
from forkproof.adapters.prompt import Prompt
from forkproof.adapters.protocol import Kind, ModelReply, ModelRequest, Say, ToolUse

__all__ = ["ScriptedModel", "SeenRequest"]

# A bland answer for titles and suggestions; it carries no marker, so it can't be taken for an item of the trace.
BLAND = ModelReply((Say("Fine."),))


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """One request as it was understood.

    `kind` is turn, summary, side or off-script; `turn` the turn (or summary) that it belongs to, if any; `reply` the
    index of the scripted answer; `step` the index of the trace's step during which it came.
    """

    index: int
    step: int
    kind: str
    turn: str | None
    reply: int | None
    items: tuple[Item, ...]
    prompt: Prompt
    path: str


@dataclass(slots=True)
class _Script:
    replies: tuple[ModelReply, ...]
    failures_served: set[int] = field(default_factory=set)


class ScriptedModel:
    """Implements `protocol.Model` for one part of a trace (the trace itself, or a control run).

    The player tells what is in flight; `requests` holds everything seen, `produced` the names of the items that came
    into being (a check that lacks an item which never was would be vacuous).
    """

    def __init__(self, markers: Markers, classify: Callable[[Prompt], Kind | None]) -> None:
        self.markers = markers
        self.step = 0
        self.requests: list[SeenRequest] = []
        self.produced: set[str] = set()
        self._classify = classify
        self._turns: dict[str, _Script] = {}
        self._summaries: dict[str, ModelReply] = {}
        self._stalls: dict[str, asyncio.Event] = {}

    def begin_turn(self, name: str, replies: tuple[ModelReply, ...]) -> None:
        """From now on requests of this turn are expected."""
        self._turns[name] = _Script(replies)
        self.produced.add(f"{name}.user")

    def end_turn(self, name: str) -> None:
        """From now on a request of this turn is off script."""
        self._turns.pop(name, None)

    def begin_summary(self, name: str, reply: ModelReply) -> None:
        """A compaction was asked for: a request of no turn in flight is its summary request."""
        self._summaries[name] = reply

    def end_summary(self, name: str) -> None:
        """The compaction is over."""
        self._summaries.pop(name, None)

    def in_flight(self) -> frozenset[str]:
        """The turns whose requests are expected now."""
        return frozenset(self._turns)

    def stall(self, name: str) -> asyncio.Event:
        """The event that lets a stalled stream go on."""
        return self._stalls.setdefault(name, asyncio.Event())

    async def released(self, stall: str) -> None:
        """Return when the named stall may go on."""
        await self.stall(stall).wait()

    async def respond(self, request: ModelRequest) -> ModelReply:
        """Answer one request by what it holds."""
        items = items_of(request.prompt, self.markers)
        kind, turn, index, reply = self._choose(request.prompt, items)
        self.requests.append(
            SeenRequest(len(self.requests), self.step, kind, turn, index, items, request.prompt, request.path)
        )
        self._produce(reply)
        return reply

    def _choose(self, prompt: Prompt, items: tuple[Item, ...]) -> tuple[str, str | None, int | None, ModelReply]:
        told = self._classify(prompt)
        turn = newest_user(items)
        if told == "side":
            return "side", None, None, BLAND
        if turn in self._turns and told != "summary":
            return self._next(turn, self._turns[turn], items)
        if self._summaries:
            name, reply = next(iter(self._summaries.items()))
            return "summary", name, 0, reply
        if told == "summary":
            return "summary", None, None, BLAND
        if turn is None:
            return "side", None, None, BLAND
        return "off-script", turn, None, BLAND

    def _next(
        self, turn: str, script: _Script, items: tuple[Item, ...]
    ) -> tuple[str, str | None, int | None, ModelReply]:
        answered = {i.name.removesuffix(".result") for i in items if i.name.endswith(".result")}
        for index, reply in enumerate(script.replies):
            calls = {p.name for p in reply.parts if isinstance(p, ToolUse)}
            last = index == len(script.replies) - 1
            if calls and calls <= answered:
                continue
            if reply.status != 200 and not last:  # noqa: PLR2004  # HTTP's OK
                # A failure is served once; the harness's retry meets the next answer.
                if index in script.failures_served:
                    continue
                script.failures_served.add(index)
            return "turn", turn, index, reply
        return "off-script", turn, None, BLAND

    def _produce(self, reply: ModelReply) -> None:
        for part in reply.parts:
            match part:
                case Say(text):
                    self.produced.update(self.markers.find(text))
                case ToolUse(_, name):
                    self.produced.update({f"{name}.call", f"{name}.result"})
                case _:
                    pass
