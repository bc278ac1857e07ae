"""Settings, questions and hooks: what the suite asks for them, and the person whom a harness asks.

The suite plays the person as it plays the model. A question comes as a call that is answered when the person answers,
which is what ACP's `session/request_permission` and a request over JSON-RPC are. Source: design sections 3 and 5;
clauses SET-1 to SET-8, AUT-1 to AUT-5, OPS-4, OPS-6.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

__all__ = ["Configure", "Decision", "Hook", "HookRun", "HookSaid", "Person", "Question", "SettingValue"]

SettingValue: TypeAlias = str | tuple[str, ...]
"""The value of `model`, `effort` or `permissions` (a mode), or for `tools` the names of abstract tools."""

Decision: TypeAlias = Literal["allow_once", "allow_for_session", "allow_always", "reject"]
"""What the person says: yes to this call, to all like it in this session, or in every session; or no."""


@dataclass(frozen=True, slots=True)
class Configure:
    """Change settings of this session from now on (capabilities `settings`, `approvals`, `settings.tools`).

    Answered by `Acknowledged`, or refused where the harness can't put a setting into force.
    """

    session: str
    settings: Mapping[str, SettingValue]


@dataclass(frozen=True, slots=True)
class Question:
    """May this call run? `session` is the harness's id of the session that asks, `call` the call's id on the wire."""

    session: str
    call: str


@dataclass(frozen=True, slots=True)
class Hook:
    """A hook that the person has installed: it runs when a session starts, or before one is forked."""

    name: str
    at: Literal["start", "before-fork"]


@dataclass(frozen=True, slots=True)
class HookRun:
    """A hook runs: what the harness told it. For a fork, `session` is the one that is made or to be forked.

    `source` and `cause` are the session that it was forked from, and why it starts, where the harness says so.
    """

    hook: str
    session: str
    source: str | None = None
    cause: str | None = None


@dataclass(frozen=True, slots=True)
class HookSaid:
    """What a hook answers: text for the model, and whether it cancels what is about to happen."""

    context: str = ""
    cancels: bool = False


class Person(Protocol):
    """The person at the harness, as the suite plays them."""

    async def permit(self, question: Question) -> Decision:
        """Answer a question. May take until a later step of the trace; cancel the wait when the turn is cancelled."""
        ...

    def run_hook(self, run: HookRun) -> HookSaid:
        """A hook runs; the harness must take its answer as that of the installed program."""
        ...
