"""What an agent offers beyond ACP, behind one seam: cuts, imported histories, statements about a session.

ACP's fork takes no cut point (the draft leaves it to `_meta`), so each agent that cuts does so in a way of its own.
`Plain` is an agent that offers nothing; a private way is a subclass and one line in the table below.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Literal, Protocol, TypeAlias, cast

from forkproof.adapters.acp.client import Client
from forkproof.adapters.acp.recipe import BadRecipe
from forkproof.adapters.protocol import Answer, Fork, Import, Operation, Refused, SessionOpened, Trial, Unsupported

__all__ = ["Extension", "Meta", "Plain", "known", "named"]

Meta: TypeAlias = Mapping[str, Any]
"""What goes into a request's `_meta`."""

_CLASSES = {
    "none": "forkproof.adapters.acp.extension:Plain",
    "air": "forkproof.adapters.acp.cuts:AirExtension",
    "message-id": "forkproof.adapters.acp.cuts:MessageIdExtension",
    "goose": "forkproof.adapters.goose.extension:GooseExtension",
    "goose-with-agent": "forkproof.adapters.goose.provider:WithAgent",
}


class Extension(Protocol):
    """One agent's own ways. One object serves one process, from `start` to `stop`.

    Where a method talks to the agent, an error answer is raised as `RpcError`.
    """

    unknown_session: str
    """An id of the agent's own form that it never gave to a session (clause ATO-2)."""

    def begin(self, trial: Trial, /) -> None:
        """A trace is about to be played on the process."""
        ...

    def heard(self, way: Literal["in", "out"], message: Mapping[str, Any], /) -> None:
        """A message passed, either way: what of it is needed later is to be kept here, as nobody else keeps it."""
        ...

    async def before_prompt(self, client: Client, session: str, /) -> None:
        """Wait until a prompt may be sent, where the agent can't tell apart what comes too fast."""
        ...

    def after_turn(self, session: str, /) -> None:
        """A prompt of this session has been answered."""
        ...

    def forked(self, source: str, child: str, /) -> None:
        """A session has been forked."""
        ...

    async def cut(self, client: Client, fork: Fork, /) -> Meta | Refused | Unsupported:
        """What to put into the fork's `_meta` so that the agent cuts there; why not, if it can't be asked."""
        ...

    async def imported(self, client: Client, wanted: Import, /) -> SessionOpened | Refused | Unsupported:
        """Make a session that already holds this history."""
        ...

    async def beyond(self, client: Client, operation: Operation, /) -> Answer:
        """Carry out an operation for which ACP has no method."""
        ...

    async def directories(self, client: Client, sessions: tuple[str, ...], /) -> Mapping[str, str]:
        """What the agent itself says of these sessions' directories; those of which it says nothing are left out."""
        ...

    async def sources(self, client: Client, sessions: tuple[str, ...], /) -> Mapping[str, str]:
        """For each of these sessions the one that it was made from, empty for none, where the agent states it."""
        ...

    async def source(self, client: Client, child: str, /) -> str | None:
        """The session that the agent itself names as the source of a fork, if it names one anywhere."""
        ...


class Plain:
    """ACP and nothing beside: forks at the head only."""

    unknown_session = "00000000-0000-4000-8000-000000000000"

    def begin(self, _trial: Trial, /) -> None:
        """Nothing to prepare."""

    def heard(self, _way: Literal["in", "out"], _message: Mapping[str, Any], /) -> None:
        """Nothing to keep."""

    async def before_prompt(self, _client: Client, _session: str, /) -> None:
        """At once."""

    def after_turn(self, _session: str, /) -> None:
        """Nothing to note."""

    def forked(self, _source: str, _child: str, /) -> None:
        """Nothing to note."""

    async def cut(self, _client: Client, fork: Fork, /) -> Meta | Refused | Unsupported:
        """Only the head."""
        if fork.cut.kind == "head":
            return {}
        return Unsupported(f"a fork {fork.cut.kind} a turn: ACP's session/fork takes no cut point")

    async def imported(self, _client: Client, _wanted: Import, /) -> SessionOpened | Refused | Unsupported:
        """Not at all."""
        return Unsupported("importing a history: ACP has no method for it")

    async def beyond(self, _client: Client, operation: Operation, /) -> Answer:
        """Not at all."""
        return Unsupported(f"{type(operation).__name__}: ACP has no method for it")

    async def directories(self, client: Client, sessions: tuple[str, ...], /) -> Mapping[str, str]:
        """From `session/list`."""
        listed = await client.directories()
        return {session: listed[session] for session in sessions if session in listed}

    async def sources(self, _client: Client, _sessions: tuple[str, ...], /) -> Mapping[str, str]:
        """Of none: ACP's list has no field for it."""
        return {}

    async def source(self, _client: Client, _child: str, /) -> str | None:
        """Nowhere: ACP has no field for it."""
        return None


def known() -> tuple[str, ...]:
    """The names that a recipe's `extension` may have."""
    return tuple(_CLASSES)


def named(name: str) -> Extension:
    """A fresh extension of this name. Raises `BadRecipe`."""
    if name not in _CLASSES:
        raise BadRecipe(f"there is no extension {name!r}", f"known are {', '.join(_CLASSES)}")
    module, _, attribute = _CLASSES[name].partition(":")
    return cast("Extension", getattr(import_module(module), attribute)())
