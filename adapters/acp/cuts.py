"""Private ways to cut a fork over ACP, by the id of a message that the agent showed.

    air         `_meta.jetbrains.air.fork`: an agent's message, which is the last that is kept (claude-agent-acp), or
                whose whole turn is (codex-acp)
    message-id  `_meta.messageId`: a person's message, whose whole turn is kept (Mistral Vibe)

Both keep everything up to the end of a turn, so `fork.after` is what they can express; before the first turn there is
no message to name. An agent that does not know its key ignores it and forks the whole history, so the answer proves
nothing: the captured prompt is what tells. Seen in the releases that docs/acp.md names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from forkproof.adapters.acp.client import Client
from forkproof.adapters.acp.extension import Meta, Plain
from forkproof.adapters.acp.replay import shown
from forkproof.adapters.protocol import Fork, Refused, Unsupported

__all__ = ["AirExtension", "MessageIdExtension"]

_NEVER = "00000000-0000-4000-8000-000000000001"
"""A message id of the agents' own form that none of them ever gave (clause CUT-5)."""


@dataclass(slots=True)
class _Turn:
    """A prompt of ours, and the ids of the messages that the agent showed of its turn, each once, in order."""

    text: str
    users: list[str] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)


class _ByMessage(Plain):
    """Knows the turns of every session as their updates told them, forks' and those of earlier processes included."""

    copies_ids = True
    """Whether a fork's copied messages bear the source's ids; where they get new ones, `session/load` tells them."""

    def __init__(self) -> None:
        self._turns: dict[str, list[_Turn]] = {}

    def heard(self, way: Literal["in", "out"], message: Mapping[str, Any], /) -> None:
        """A prompt of ours begins a turn; the ids of the messages that follow it in its session are that turn's."""
        match message:
            case {"method": "session/prompt", "params": {"sessionId": str(session), "prompt": list(blocks)}}:
                self._turns.setdefault(session, []).append(_Turn("\n".join(_texts(blocks))))
            case {"method": "session/update", "params": {"sessionId": str(session), "update": Mapping() as update}}:
                if way == "in" and self._turns.get(session):
                    _note(self._turns[session][-1], update)

    def forked(self, source: str, child: str, /) -> None:
        """The child's turns are among the source's; each is looked for by its own marker."""
        self._turns[child] = list(self._turns.get(source, ())) if self.copies_ids else []

    async def cut(self, client: Client, fork: Fork, /) -> Meta | Refused | Unsupported:
        """What names the last message of the cut's turn."""
        if fork.cut.kind == "head" or not fork.exists:
            return {}
        if fork.cut.kind != "after" or fork.cut.turn is None:
            return Unsupported(f"a fork {fork.cut.kind} a turn: the agent cuts behind a message, at the end of a turn")
        if not fork.cut.turn.exists:
            return self._meta(_NEVER)
        turns = [turn for turn in self._turns.get(fork.session, ()) if fork.cut.turn.marker in turn.text]
        if not turns and not self.copies_ids:
            turns = [turn for turn in await _replayed(client, fork.session) if fork.cut.turn.marker in turn.text]
        ids = self._ids(turns[-1]) if turns else []
        if not ids:
            return Unsupported(f"a cut after turn {fork.cut.turn.name}: the agent gave no message of it an id")
        return self._meta(ids[-1])

    def _ids(self, turn: _Turn) -> list[str]:
        """The ids of the messages that a cut may name."""
        raise NotImplementedError

    def _meta(self, message: str) -> Meta:
        """The `_meta` that cuts behind this message."""
        raise NotImplementedError


class AirExtension(_ByMessage):
    """Cuts by the id of an agent's message."""

    def _ids(self, turn: _Turn) -> list[str]:
        return turn.agents

    def _meta(self, message: str) -> Meta:
        return {"jetbrains": {"air": {"fork": {"version": 1, "messageId": message}}}}


class MessageIdExtension(_ByMessage):
    """Cuts by the id of a person's message."""

    copies_ids = False

    def _ids(self, turn: _Turn) -> list[str]:
        return turn.users

    def _meta(self, message: str) -> Meta:
        return {"messageId": message}


async def _replayed(client: Client, session: str) -> list[_Turn]:
    """The turns that `session/load` tells of, with the ids that their messages have in this session."""
    turns: list[_Turn] = []
    for message in shown(await client.replay(session, client.desk.directories.get(session, "/"))):
        if message.role == "user":
            turns.append(_Turn(message.text))
        if turns and message.id is not None:
            (turns[-1].users if message.role == "user" else turns[-1].agents).append(message.id)
    return turns


def _note(turn: _Turn, update: Mapping[str, Any]) -> None:
    match update:
        case {"sessionUpdate": "user_message_chunk", "messageId": str(ident)}:
            found = turn.users
        case {"sessionUpdate": "agent_message_chunk", "messageId": str(ident)}:
            found = turn.agents
        case _:
            return
    if ident not in found:
        found.append(ident)


def _texts(blocks: list[Any]) -> Iterator[str]:
    for block in blocks:
        match block:
            case {"type": "text", "text": str(text)}:
                yield text
