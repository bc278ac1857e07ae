"""An adapter's process and its bare lines, for what a well-behaved peer never sends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from forkproof.adapters import environment
from forkproof.adapters.protocol import Endpoint
from forkproof.adapters.stdio import messages as m
from forkproof.adapters.stdio.program import Program
from forkproof.adapters.stdio.wire import encode
from forkproof.adapters.supervisor import Supervised

__all__ = ["RawTalk", "SilentError"]


class SilentError(Exception):
    """No answer came: the message says what did."""


class RawTalk:
    """A process of the program; `async with` ends it. `strange` holds the lines that were no JSON objects."""

    def __init__(self, process: Supervised, root: Path, seconds: float) -> None:
        self.process = process
        self.strange: list[str] = []
        self.root = root
        self._seconds = seconds
        self._buffer = b""
        self._answers: dict[Any, Mapping[str, Any]] = {}
        self._last = 0

    @classmethod
    async def start(cls, program: Program, root: Path, seconds: float) -> Self:
        """Start the program with a HOME below `root`. `seconds` is how long each answer may take."""
        home = root / "home"
        environment.make_home(home)
        process = await Supervised.start(
            program.argv, directory=home, environment=program.environment(home), stop_within=min(seconds, 5.0)
        )
        return cls(process, root, seconds)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.process.stop()

    # --- Sending ---------------------------------------------------------------------------------------------------

    def request(self, method: str, params: Any = None, number: Any = None) -> tuple[Any, bytes]:
        """A request's id, and its line."""
        self._last += 1
        number = self._last if number is None else number
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": {} if params is None else params}
        return number, json.dumps(message).encode() + b"\n"

    async def ask(self, method: str, params: Any = None, number: Any = None) -> Mapping[str, Any]:
        """The whole answer to a request, be it a result or an error. Raises `SilentError`."""
        number, line = self.request(method, params, number)
        self.process.send(line)
        return await self.answer(number)

    async def initialize(self, version: int = m.PROTOCOL_VERSION) -> Mapping[str, Any]:
        """Agree on the version."""
        return await self.ask("initialize", encode(m.Initialize(version, "forkproof")))

    async def begin(self, endpoint: Endpoint | None) -> Mapping[str, Any]:
        """Agree on the version and start the harness."""
        await self.initialize()
        begun = m.Start(str(self.root), str(self.root / "home"), endpoint)
        return await self.ask("start", encode(begun))

    # --- Receiving -------------------------------------------------------------------------------------------------

    async def answer(self, number: Any) -> Mapping[str, Any]:
        """The answer with this id. Raises `SilentError`."""
        try:
            async with asyncio.timeout(self._seconds):
                while number not in self._answers:
                    await self._read()
        except TimeoutError:
            raise SilentError(f"no answer within {self._seconds:g} s{self._seen()}") from None
        return self._answers.pop(number)

    async def ended(self) -> bool:
        """Whether the process ends by itself within the time that an answer may take."""
        try:
            async with asyncio.timeout(self._seconds):
                await self.process.exited()
        except TimeoutError:
            return False
        return True

    async def _read(self) -> None:
        chunk = await self.process.read()
        if not chunk:
            death = await self.process.death("the check")
            raise SilentError(death.cause)
        *lines, self._buffer = (self._buffer + chunk).split(b"\n")
        for line in filter(None, map(bytes.strip, lines)):
            self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        if not isinstance(message, dict):
            self.strange.append(ascii(line[:100].decode("utf-8", "replace")))
        elif "method" not in message and message.get("id") is not None:
            self._answers[_key(message["id"])] = message

    def _seen(self) -> str:
        seen = [*self.strange, *map(str, self._answers.values())]
        return f"; what came: {'; '.join(seen)[:200]}" if seen else ""


def _key(number: Any) -> Any:
    return number if isinstance(number, int | str) else str(number)
