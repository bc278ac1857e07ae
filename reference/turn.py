"""A turn: from the person's message to the model's last word.

Every step is recorded at once, so that whoever looks, forks or interrupts meets the true state.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from forkproof.reference.authority import admit
from forkproof.reference.entries import Answered, Steered, Stop, ToolEnded, TurnEnded, UserSaid
from forkproof.reference.model import Call, Failure, Reply
from forkproof.reference.prompt import Blob, Prompt, ToolCall
from forkproof.reference.runtime import Runtime
from forkproof.reference.session import Session
from forkproof.reference.tools import printed
from forkproof.reference.work import Work

__all__ = ["Ended", "Turn"]


@dataclass(frozen=True, slots=True)
class Ended:
    """A turn is over. `detail` says why it failed."""

    turn: str
    stop: Stop
    detail: str = ""


class Turn:
    """One turn in flight. Calls are recorded before they run and results after (clauses TOOL-2, TOOL-6)."""

    def __init__(self, runtime: Runtime, session: Session, text: str, attachments: tuple[Blob, ...] = ()) -> None:
        self._runtime = runtime
        self._session = session
        self.id = runtime.ids.turn()
        self.first = runtime.append(session, self.id, UserSaid(text, attachments))
        self._heard: list[str] = []
        self.work = Work(self._steps, lambda: self._end("cancelled"))

    def steer(self, text: str) -> None:
        """The person speaks into the turn: the model reads it with its next request, and answers once more for it."""
        self._heard.append(text)

    def _deliver(self) -> None:
        heard, self._heard = self._heard, []
        for text in heard:
            self._runtime.append(self._session, self.id, Steered(text))

    async def _steps(self) -> Ended:
        try:
            while True:
                self._deliver()
                prompt = self._runtime.prompt(self._session)
                reply = await self._runtime.model(prompt)
                if isinstance(reply, Failure):
                    return self._end("failed", f"the model answered {reply.status}: {reply.message}")
                calls = self._record(reply, prompt)
                if not calls and self._heard:
                    continue
                if not calls:
                    return self._end("end_turn")
                await self._run(calls)
        except Exception:
            self._end("failed")
            raise

    def _record(self, reply: Reply, asked: Prompt) -> Sequence[Call]:
        calls = [part for part in reply.parts if isinstance(part, Call)]
        if reply.parts:
            parts = tuple(ToolCall(p.id, p.tool, p.arguments) if isinstance(p, Call) else p for p in reply.parts)
            ids = tuple(call.id for call in calls)
            entry = self._runtime.append(self._session, self.id, Answered(parts, ids, asked.model))
            if entry.message is not None:
                self._runtime.keep(self._session, asked, entry.message, reply.stored)
        return calls

    async def _run(self, calls: Sequence[Call]) -> None:
        """Run the calls of one answer, all at once where there are several."""
        if len(calls) == 1:
            await self._run_one(calls[0])
            return
        async with asyncio.TaskGroup() as group:
            for call in calls:
                group.create_task(self._run_one(call))

    async def _run_one(self, call: Call) -> None:
        try:
            outcome = await admit(self._runtime, self._session, call) or await self._runtime.desk.use(
                call, self._session, self.id, self._runtime.machine
            )
        except asyncio.CancelledError:
            left = self._runtime.rules.interrupted(call)
            if left is not None:
                self._runtime.append(self._session, self.id, ToolEnded(call.id, left))
            raise
        self._runtime.append(self._session, self.id, ToolEnded(call.id, printed(call, outcome)))

    def _end(self, stop: Stop, detail: str = "") -> Ended:
        self._deliver()
        self._runtime.append(self._session, self.id, TurnEnded(stop))
        return Ended(self.id, stop, detail)
