"""The talk with one process of an adapter: started, agreed on the version, asked in the seam's messages, ended."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, Self

from forkproof.adapters import environment
from forkproof.adapters.errors import AdapterError, Garbage, HarnessDied, StartFailed, codes
from forkproof.adapters.jsonrpc import METHOD_NOT_FOUND, RpcError
from forkproof.adapters.protocol import Answer, Deadlines, Operation, Unsupported
from forkproof.adapters.stdio import messages as m
from forkproof.adapters.stdio.decode import WireError, decode
from forkproof.adapters.stdio.methods import METHODS, OPERATIONS, UNBOUNDED, answer
from forkproof.adapters.stdio.peer import DirectPeer, OnDirect
from forkproof.adapters.stdio.program import Program
from forkproof.adapters.stdio.wire import encode
from forkproof.adapters.supervisor import Supervised
from forkproof.adapters.wirelog import wire_log

__all__ = ["PAGE", "Talk", "failure", "nobody"]

PAGE: Final = "docs/adapters.md says what is expected; FORKPROOF_WIRE_LOG=FILE keeps every message"
_STOP: Final = 5.0
"""Seconds for the answer to `stop`, at most: the process is ended behind it in any case."""


async def nobody(method: str, _params: Any) -> Any:
    """Answers an adapter that asks for something before it has a trial."""
    raise RpcError(METHOD_NOT_FOUND, f"Method not found: {method} (nothing was started)")


class Talk:
    """Made by `open`; whoever made it calls `close` in the end. `process` is the adapter's."""

    def __init__(self, process: Supervised, peer: DirectPeer, deadlines: Deadlines) -> None:
        self.process = process
        self._peer = peer
        self._deadlines = deadlines

    @classmethod
    async def open(
        cls,
        program: Program,
        home: Path,
        deadlines: Deadlines,
        on_request: Callable[[str, Any], Awaitable[Any]] = nobody,
        direct: Mapping[str, OnDirect] | None = None,
    ) -> Self:
        """Start the program and agree on the version. Raises `StartFailed`, `HarnessHung`, `Garbage`; nothing is left.

        `home` is made, and is the directory that the program starts in.
        """
        environment.make_home(home)
        process = await Supervised.start(
            program.argv, directory=home, environment=program.environment(home), stop_within=deadlines.stop
        )
        try:
            log = wire_log(process.pid)
            peer = DirectPeer(process, on_request=on_request, direct=direct or {}, wire_log=log)
            talk = cls(process, peer, deadlines)
            await talk._initialize()
        except BaseException:
            await process.stop()
            raise
        return talk

    async def _initialize(self) -> None:
        offer = encode(m.Initialize(m.PROTOCOL_VERSION, f"forkproof {version('forkproof')}"))
        try:
            said = await self._peer.request("initialize", offer, self._deadlines.start)
            theirs = said.get("protocolVersion") if isinstance(said, Mapping) else None
            if theirs != m.PROTOCOL_VERSION:
                raise StartFailed(
                    f"the adapter speaks version {theirs!r} of the adapter protocol, not {m.PROTOCOL_VERSION}",
                    "answer `initialize` with the protocolVersion that you were offered, if you speak it",
                )
            decode(m.Initialized, said)
        except HarnessDied as error:
            raise StartFailed(error.cause, error.hint) from error
        except RpcError as error:
            raise StartFailed(f"the adapter refused `initialize`: {error}", PAGE) from error
        except WireError as error:
            raise Garbage(f"the answer to initialize: {error}", PAGE) from None

    # --- Asking ----------------------------------------------------------------------------------------------------

    async def ask(self, method: str, message: Any, seconds: float | None = None) -> Any:
        """The result of a method that is no operation, as a message. Raises `AdapterError`."""
        seconds = self._deadlines.operation if seconds is None else seconds
        try:
            return _result(method, await self._peer.request(method, encode(message), seconds))
        except RpcError as error:
            raise failure(error, method) from error

    def ask_now(self, method: str, message: Any) -> Any:
        """As `ask`, without giving the loop back."""
        try:
            return _result(method, self._peer.request_now(method, encode(message), self._deadlines.operation))
        except RpcError as error:
            raise failure(error, method) from error

    async def perform(self, operation: Operation) -> Answer:
        """The answer to an operation. Raises `AdapterError`."""
        method = OPERATIONS[type(operation)]
        seconds = float("inf") if method in UNBOUNDED else self._deadlines.operation
        try:
            return answer(operation, await self._peer.request(method, encode(operation), seconds))
        except RpcError as error:
            if error.code == METHOD_NOT_FOUND:
                return Unsupported(f"the adapter has no {method}")
            raise failure(error, method) from error
        except WireError as error:
            raise Garbage(f"the answer to {method}: {error}", PAGE) from None

    def fail(self, error: AdapterError) -> None:
        """End the talk with this error: whoever waits for an answer gets it."""
        self._peer.fail(error)

    def oddities(self) -> str:
        """What arrived and belongs to nothing, one a line."""
        return "\n".join(self._peer.oddities)

    # --- Ending ----------------------------------------------------------------------------------------------------

    async def finish(self) -> None:
        """Have the adapter end its harness; the process goes on. Raises `AdapterError` or `RpcError`."""
        await self._peer.request("stop", {}, min(self._deadlines.stop, _STOP))

    async def stop(self) -> None:
        """Ask the adapter to end, then end it. Raises nothing of the adapter's."""
        try:
            await self.finish()
        except (AdapterError, RpcError):
            pass  # whatever it says, it is ended now
        finally:
            await self.close()

    async def close(self) -> None:
        """End the process and all that it started."""
        # The process first: a cancellation on the way must not leave it running.
        await self.process.stop()
        await self._peer.close()


def _result(method: str, result: Any) -> Any:
    wanted = METHODS[method].result
    try:
        return decode(wanted, {} if result is None and wanted is m.Done else result)
    except WireError as error:
        raise Garbage(f"the answer to {method}: {error}", PAGE) from None


def failure(error: RpcError, method: str) -> AdapterError:
    """What an error answer means: the class of errors that `data.code` names, else the general one."""
    data = error.data if isinstance(error.data, Mapping) else {}
    kind = codes().get(str(data.get("code")), AdapterError)
    return kind(f"{method}: {error.message} ({error.code})", str(data.get("hint") or PAGE))
