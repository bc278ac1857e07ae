"""The person at the harness, for one part of a trace: answers questions, holds some open, and plays the hooks.

Source: design section 3 (`answers`, `until: CALL.asked`, `approve`, `deny`, `hooks`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace

from forkproof.adapters.model.markers import Markers
from forkproof.adapters.protocol import Decision, Hook, HookRun, HookSaid, Question
from forkproof.conformance.trace.settings import HookDefinition

__all__ = ["CurrentPerson", "ScriptedPerson", "hooks_of"]


class ScriptedPerson:
    """Implements `protocol.Person`. `asked` holds every question so far, with the trace's name of its call."""

    def __init__(self, markers: Markers, hooks: Iterable[HookDefinition] = ()) -> None:
        self.asked: list[Question] = []
        self.hook_runs: list[HookRun] = []
        self._markers = markers
        self._hooks = {hook.hook: hook for hook in hooks}
        self._answers: dict[str, Decision] = {}
        self._held: set[str] = set()
        self._open: dict[str, list[asyncio.Future[Decision]]] = {}
        self._came: dict[str, asyncio.Event] = {}

    def prepare(self, answers: Mapping[str, Decision], held: str | None) -> None:
        """From now on these questions are answered so, and that about the call `held` is left open."""
        self._answers.update(answers)
        if held is not None:
            self._held.add(held)

    async def permit(self, question: Question) -> Decision:
        """Answer a question: as the trace says, when it says; what it says nothing about is not allowed."""
        call = self._markers.call_name(question.call) or question.call
        self.asked.append(replace(question, call=call))
        self._event(call).set()
        if call in self._answers:
            return self._answers[call]
        if call not in self._held:
            return "reject"
        answer: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        self._open.setdefault(call, []).append(answer)
        try:
            return await answer
        finally:
            self._open[call].remove(answer)

    async def questioned(self, call: str) -> None:
        """Return when the person was asked about this call."""
        await self._event(call).wait()

    def unanswered(self) -> frozenset[str]:
        """The calls about which a question is open."""
        return frozenset(call for call, answers in self._open.items() if not all(each.done() for each in answers))

    def answer(self, call: str, decision: Decision) -> bool:
        """Answer every question that is open for this call; False if none is."""
        still_open = [answer for answer in self._open.get(call, ()) if not answer.done()]
        for each in still_open:
            each.set_result(decision)
        return bool(still_open)

    def run_hook(self, run: HookRun) -> HookSaid:
        """A hook runs: its context is marked, so that it is found again in every prompt."""
        self.hook_runs.append(run)
        hook = self._hooks.get(run.hook)
        if hook is None:
            return HookSaid()
        context = self._markers.mark(hook.context, f"{hook.hook}.context") if hook.context else ""
        return HookSaid(context, cancels=bool(hook.cancels))

    def _event(self, call: str) -> asyncio.Event:
        return self._came.setdefault(call, asyncio.Event())


class CurrentPerson:
    """The person of the part that is being played; the harness's process outlives a part."""

    def __init__(self, person: ScriptedPerson) -> None:
        self.person = person

    async def permit(self, question: Question) -> Decision:
        """Ask the part's person."""
        return await self.person.permit(question)

    def run_hook(self, run: HookRun) -> HookSaid:
        """Let the part's person play the hook."""
        return self.person.run_hook(run)


def hooks_of(definitions: Iterable[HookDefinition]) -> tuple[Hook, ...]:
    """What an adapter is to install."""
    return tuple(Hook(each.hook, each.at) for each in definitions)
