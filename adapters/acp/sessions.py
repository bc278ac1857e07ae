"""Operations on sessions as wholes: opened, opened again, listed, read, set up, deleted; each one ACP method or two."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from forkproof.adapters.acp.client import Client
from forkproof.adapters.acp.recipe import Recipe
from forkproof.adapters.acp.refusal import refusal
from forkproof.adapters.acp.replay import calls_in_a_row, messages
from forkproof.adapters.acp.settings import change
from forkproof.adapters.jsonrpc import RpcError
from forkproof.adapters.protocol import (
    Acknowledged,
    Answer,
    Delete,
    OpenSession,
    SessionOpened,
    SettingValue,
    Unsupported,
)
from forkproof.adapters.readings import HistoryRead, SessionLine, SessionsRead

__all__ = ["Sessions"]


class Sessions:
    """The sessions of one agent. `directories` are those in which they were made, shared with the client's side."""

    def __init__(self, recipe: Recipe, directories: dict[str, str]) -> None:
        self.directories = directories
        self._recipe = recipe
        self._stated: dict[str, Mapping[str, Any]] = {}

    def made(self, session: str, directory: str, answer: Mapping[str, Any]) -> None:
        """A session was made or opened again, with this answer."""
        self.directories[session] = directory
        self._stated[session] = answer

    async def open(self, client: Client, wanted: OpenSession) -> Answer:
        """`session/new`, then each setting."""
        try:
            answer = await client.new(wanted.directory)
        except RpcError as error:
            return refusal(error, "session/new", self._recipe)
        session = str(answer["sessionId"])
        self.made(session, wanted.directory, answer)
        await self.name(client, session)
        return await self.ready(client, session, wanted.settings)

    async def name(self, client: Client, session: str) -> None:
        """Give a new session a title, where the recipe says so: one that the model is asked for comes at any time."""
        if self._recipe.name_sessions:
            with suppress(RpcError):  # it is only to keep side traffic away
                params = {"sessionId": session, "title": f"Session {len(self.directories)}"}
                await client.call("session/set_title", params)

    async def ready(self, client: Client, session: str, settings: Mapping[str, SettingValue]) -> Answer:
        """Give a new session the settings that were asked for; then it is open."""
        answer = await self.configure(client, session, settings)
        return SessionOpened(session) if isinstance(answer, Acknowledged) else answer

    async def configure(self, client: Client, session: str, settings: Mapping[str, SettingValue]) -> Answer:
        """Change settings from now on, each by the method that the agent stated it for."""
        for name, value in settings.items():
            if not isinstance(value, str):
                return Unsupported(f"the setting {name}: ACP takes one value for each")
            method, params = change(session, name, value, self._stated.get(session, {}), self._recipe)
            try:
                await client.call(method, params)
            except RpcError as error:
                return refusal(error, method, self._recipe)
        return Acknowledged()

    async def resume(self, client: Client, session: str) -> Answer:
        """`session/load`, in the directory that the session was made in."""
        try:
            directory = await self._place(client, session)
            self.made(session, directory, await client.reopen(session, directory))
        except RpcError as error:
            return refusal(error, "session/load", self._recipe)
        return SessionOpened(session)

    async def history(self, client: Client, session: str) -> Answer:
        """What `session/load` replays."""
        try:
            told = messages(await client.replay(session, await self._place(client, session)))
        except RpcError as error:
            return refusal(error, "session/load", self._recipe)
        if calls_in_a_row(told):
            return Unsupported(
                "a history with two calls in a row: ACP shows each with its result, not which were asked for together"
            )
        return HistoryRead(told)

    async def listed(self, client: Client) -> Answer:
        """`session/list`, all pages; the protocol has no field for a source."""
        try:
            found = await client.listed()
        except RpcError as error:
            return refusal(error, "session/list", self._recipe)
        titles = {entry["sessionId"]: entry.get("title") for entry in found}
        lines = tuple(SessionLine(each, title) for each, title in titles.items() if isinstance(title, str))
        return SessionsRead(tuple(entry["sessionId"] for entry in found), lines)

    async def delete(self, client: Client, wanted: Delete) -> Answer:
        """`session/delete`."""
        if wanted.turns:
            return Unsupported("deleting turns: ACP's session/delete takes a whole session")
        try:
            await client.call("session/delete", {"sessionId": wanted.session})
        except RpcError as error:
            return refusal(error, "session/delete", self._recipe)
        return Acknowledged()

    async def _place(self, client: Client, session: str) -> str:
        """A session's directory: where we made it, else what the agent lists; a session of neither is in none."""
        if session not in self.directories:
            return (await client.directories()).get(session, "/")
        return self.directories[session]
