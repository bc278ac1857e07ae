"""Settings, questions and hooks of the reference behind the adapter protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from forkproof.adapters.authority import Configure, Hook, HookRun, Person, Question
from forkproof.adapters.protocol import Acknowledged, Answer
from forkproof.reference.approvals import Decision
from forkproof.reference.approvals import Question as Asked
from forkproof.reference.harness import Harness
from forkproof.reference.hooks import Started
from forkproof.reference.refusal import Refusal

if TYPE_CHECKING:
    from forkproof.adapters.inprocess.handlers import Handler

__all__ = ["HANDLERS", "HookSeam", "PersonSeam"]


class PersonSeam:
    """Implements the reference's `Person`."""

    def __init__(self, person: Person) -> None:
        self._person = person

    async def __call__(self, question: Asked) -> Decision:
        """Ask the suite's person."""
        return await self._person.permit(Question(question.session, question.call))


class HookSeam:
    """Implements the reference's `Hooks`: the suite plays each that is installed."""

    def __init__(self, person: Person, installed: tuple[Hook, ...]) -> None:
        self._person = person
        self._start = [hook.name for hook in installed if hook.at == "start"]
        self._before_fork = [hook.name for hook in installed if hook.at == "before-fork"]

    def at_start(self, run: Started) -> tuple[str, ...]:
        """Run every start hook."""
        runs = [HookRun(name, run.session, run.source, run.cause) for name in self._start]
        said = [self._person.run_hook(each) for each in runs]
        return tuple(each.context for each in said if each.context)

    def before_fork(self, source: str) -> str:
        """Run every hook that may cancel a fork."""
        cancelling = [name for name in self._before_fork if self._person.run_hook(HookRun(name, source)).cancels]
        return ", ".join(cancelling)


async def _configure(harness: Harness, asked: Configure) -> Answer:
    from forkproof.adapters.inprocess.handlers import refused

    changed = harness.authority.configure(asked.session, asked.settings)
    return refused(changed) if isinstance(changed, Refusal) else Acknowledged()


HANDLERS: Mapping[type, Handler] = {Configure: _configure}
