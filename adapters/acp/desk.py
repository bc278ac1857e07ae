"""What the client's side does when an agent asks: questions go to the person, files to the session's directory.

ACP's `session/request_permission` names a tool call in the agent's words; the suite knows calls by their id on the
wire. The two meet by that id where the agent passes it on, else by the command, which is the call's own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

from forkproof.adapters.acp import files
from forkproof.adapters.jsonrpc import METHOD_NOT_FOUND, RpcError
from forkproof.adapters.protocol import Decision, Person, Question

__all__ = ["Desk"]

_KINDS: Mapping[Decision, str] = {
    "allow_once": "allow_once",
    "allow_for_session": "allow_always",
    "allow_always": "allow_always",
    "reject": "reject_once",
}
"""ACP has one kind for every grant that outlives its call; which one it is, a recipe's `answers` tell apart."""

_CANCELLED = {"outcome": {"outcome": "cancelled"}}


class Desk:
    """Answers an agent's requests; one for all processes of a trial.

    `person` is asked once `asking` is set; until then each call is allowed once, as nobody chose to be asked. `allowed`
    names the session of each permission request that was granted; `directories` holds each session's own.
    """

    def __init__(self, *, serves_files: bool = False, answers: Mapping[Decision, str] | None = None) -> None:
        """`answers` maps a decision to the `optionId` that means it, where its kind alone does not tell."""
        self.person: Person | None = None
        self.asking = False
        self.allowed: list[str] = []
        self.directories: dict[str, str] = {}
        self._serves_files = serves_files
        self._answers = answers or {}
        self._calls: dict[str, str] = {}
        self._open: dict[str, set[asyncio.Task[Decision]]] = {}

    @property
    def offer(self) -> Mapping[str, Any]:
        """The client's capabilities, for `initialize`."""
        fs = {"readTextFile": self._serves_files, "writeTextFile": self._serves_files}
        return {"fs": fs, "terminal": False}

    def expect(self, call: str, command: str) -> None:
        """The model asks for this command, in the call with this id on the wire."""
        self._calls[call] = command

    def cancel(self, session: str) -> None:
        """A turn is cancelled: ACP wants each open question of its session answered with `cancelled`."""
        for question in self._open.get(session, ()):
            question.cancel()

    async def answer(self, method: str, params: Any) -> Any:
        """Answer one request of the agent's. Raises `RpcError`."""
        told: Mapping[str, Any] = params if isinstance(params, Mapping) else {}
        match method:
            case "session/request_permission":
                return await self._permit(told)
            case "fs/read_text_file" if self._serves_files:
                return files.read_text(self._home_of(told), told)
            case "fs/write_text_file" if self._serves_files:
                return files.write_text(self._home_of(told), told)
            case _:
                raise RpcError(METHOD_NOT_FOUND, f"Method not found: {method}")

    def _home_of(self, params: Mapping[str, Any]) -> str | None:
        return self.directories.get(str(params.get("sessionId")))

    async def _permit(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        if self.person is None or not self.asking:
            return self._chosen("allow_once", params)
        session = str(params.get("sessionId"))
        question = asyncio.ensure_future(self.person.permit(Question(session, self._call(params))))
        self._open.setdefault(session, set()).add(question)
        try:
            await asyncio.wait({question})
            return _CANCELLED if question.cancelled() else self._chosen(question.result(), params)
        finally:
            question.cancel()
            self._open[session].discard(question)

    def _call(self, params: Mapping[str, Any]) -> str:
        """The id on the wire of the call that is asked about; the agent's own id of it, where nothing tells."""
        texts = tuple(_texts(params))
        # The newest first: a text may also quote an earlier call.
        newest = tuple(reversed(self._calls.items()))
        by_id = (call for call, _ in newest if any(call in text for text in texts))
        by_command = (call for call, command in newest if any(command in text for text in texts))
        call = params.get("toolCall")
        own = str(call.get("toolCallId")) if isinstance(call, Mapping) else ""
        return next(by_id, None) or next(by_command, own)

    def _chosen(self, decision: Decision, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """The option that says this and no more; none of them where there is no such option."""
        wanted, kind = self._answers.get(decision), _KINDS[decision]
        for option in params.get("options") or ():
            match option:
                case {"kind": str(is_kind), "optionId": str(name)}:
                    if name == wanted or (wanted is None and is_kind == kind):
                        if decision != "reject":
                            self.allowed.append(str(params.get("sessionId")))
                        return {"outcome": {"outcome": "selected", "optionId": name}}
        return _CANCELLED


def _texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
