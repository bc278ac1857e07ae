"""What Goose offers beyond ACP: a fork's `conversationBefore`, and private methods to read, import, cut and steer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from forkproof.adapters.acp.client import Client
from forkproof.adapters.acp.extension import Meta, Plain
from forkproof.adapters.goose import history
from forkproof.adapters.goose.pace import Pace
from forkproof.adapters.protocol import (
    Acknowledged,
    Answer,
    Cut,
    Fork,
    Import,
    Operation,
    Refused,
    SessionOpened,
    Steer,
    Trial,
    TurnRef,
    Unsupported,
)
from forkproof.adapters.readings import Moved
from forkproof.adapters.tree import Rewind

__all__ = ["GooseExtension"]

_PRIVATE = "_goose/unstable/session/"


class GooseExtension(Plain):
    """Cuts by stamp, imports histories, and reads a session's directory where `session/list` leaves empty ones out."""

    unknown_session = "20200101_99"

    def __init__(self, pace: Pace | None = None) -> None:
        self._pace = pace or Pace()
        self._paced = True
        self._busy: set[str] = set()
        self._runs: dict[str, str | None] = {}

    def begin(self, trial: Trial, /) -> None:
        """Only where a history is cut do turns need seconds of their own."""
        self._paced = trial.cuts
        self._busy.clear()

    def heard(self, way: Literal["in", "out"], message: Mapping[str, Any], /) -> None:
        """Goose tells in an update's `_meta` when a run begins, with its id, and when it ends."""
        match message:
            case {"method": "session/update", "params": {"sessionId": str(session), "update": Mapping() as update}}:
                match update:
                    case {"_meta": {"goose": {"activeRunId": str() | None as told}}} if way == "in":
                        self._runs[session] = told

    async def before_prompt(self, _client: Client, session: str, /) -> None:
        """Wait for the next second, if the session has a row in this one and will be cut."""
        if self._paced:
            await self._pace.begin(session)
        self._busy.add(session)

    def after_turn(self, session: str, /) -> None:
        """Its last row may be of this second."""
        self._pace.end(session)
        self._busy.discard(session)

    def forked(self, source: str, child: str, /) -> None:
        """The child has the source's rows, with their stamps."""
        self._pace.copied(source, child)

    async def cut(self, client: Client, fork: Fork, /) -> Meta | Refused | Unsupported:
        """`conversationBefore`, from the stamps in the source's export."""
        # A source that does not exist can't be exported; its refusal is the answer to the fork.
        if fork.cut.kind == "head" or not fork.exists:
            return {}
        if fork.cut.turn is not None and not fork.cut.turn.exists:
            # Every second is a cut that Goose can make sense of: there is no unknown one to ask for (clause CUT-5).
            return Unsupported("a cut at a turn that never was: Goose names cuts by seconds only")
        try:
            stamp = history.cutoff(fork.cut, (await self._export(client, fork.session)).rows)
        except LookupError as error:
            return Unsupported(f"a cut {fork.cut.kind} a turn that session {fork.session} does not hold: {error}")
        if stamp is None and fork.session in self._busy:
            return Unsupported("a cut after the turn that runs: its end has no second yet")
        return {} if stamp is None else {"conversationBefore": stamp}

    async def imported(self, client: Client, wanted: Import, /) -> SessionOpened | Refused | Unsupported:
        """A fresh session's export with this history in it, imported and loaded.

        From a text without a fresh session's tool settings Goose makes a session without tools, and before
        `session/load` a prompt fails with "Provider not set".
        """
        if not history.in_order(wanted):
            return Unsupported("Goose sorts an imported history by its stamps, so that it would be another one")
        fresh = str((await client.new(wanted.directory))["sessionId"])
        text = history.to_import(await self._text(client, fresh), wanted)
        await client.call("session/delete", {"sessionId": fresh})
        made = await client.made(_PRIVATE + "import", {"input": text, "source": "json"})
        session = str(made["sessionId"])
        await client.load(session, wanted.directory)
        return SessionOpened(session)

    async def beyond(self, client: Client, operation: Operation, /) -> Answer:
        """Take turns off a session, or speak into the turn that runs."""
        match operation:
            case Rewind():
                return await self._rewind(client, operation)
            case Steer():
                return await self._steer(client, operation)
            case _:
                return await super().beyond(client, operation)

    async def _rewind(self, client: Client, wanted: Rewind) -> Answer:
        """`conversation/truncate` deletes the rows made in that second or later: the session's own cut."""
        turn = Cut("before", TurnRef("", wanted.marker, 0, wanted.native))
        try:
            stamp = history.cutoff(turn, (await self._export(client, wanted.session)).rows)
        except LookupError as error:
            return Unsupported(f"rewinding to a turn that session {wanted.session} does not hold: {error}")
        await client.call(_PRIVATE + "conversation/truncate", {"sessionId": wanted.session, "truncateFrom": stamp})
        return Moved()

    async def _steer(self, client: Client, wanted: Steer) -> Answer:
        """`session/steer`, into the run that Goose last told of; without one there is no turn to speak into."""
        run = self._runs.get(wanted.session)
        if run is None:
            return Refused("other", "no turn runs in this session")
        said = {"sessionId": wanted.session, "expectedRunId": run, "prompt": [{"type": "text", "text": wanted.text}]}
        await client.call(_PRIVATE + "steer", said)
        return Acknowledged()

    async def directories(self, client: Client, sessions: tuple[str, ...], /) -> Mapping[str, str]:
        """From `session/info`: `session/list` names a session only once it has a message, and a child may have none."""
        found: dict[str, str] = {}
        for session in sessions:
            match await client.call(_PRIVATE + "info", {"sessionId": session}):
                case {"session": {"cwd": str(directory)}}:
                    found[session] = directory
        return found

    async def sources(self, client: Client, sessions: tuple[str, ...], /) -> Mapping[str, str]:
        """From each session's export, as `source`: one without a parent states that it was not made from another."""
        return {session: (await self._export(client, session)).parent or "" for session in sessions}

    async def source(self, client: Client, child: str, /) -> str | None:
        """The export's `parent_session_id`: the one place where Goose could name a source."""
        return (await self._export(client, child)).parent

    async def _export(self, client: Client, session: str) -> history.Exported:
        return history.parse(await self._text(client, session))

    async def _text(self, client: Client, session: str) -> str:
        return str((await client.call(_PRIVATE + "export", {"sessionId": session, "format": "json"})).get("data"))
