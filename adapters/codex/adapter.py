"""The Codex adapter: the life of an app-server, from its start over renewals and restarts to its end. docs/codex.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from forkproof.adapters.codex import prompts
from forkproof.adapters.codex.answers import refusal
from forkproof.adapters.errors import NotInstalled, StartFailed
from forkproof.adapters.jsonrpc import RpcError
from forkproof.adapters.prompt import Prompt
from forkproof.adapters.protocol import (
    Acknowledged,
    Answer,
    Description,
    Import,
    Kind,
    NativeCall,
    Operation,
    Restart,
    ToolUse,
    Trial,
    Unsupported,
    World,
)

if TYPE_CHECKING:
    from forkproof.adapters.codex.desk import Desk
    from forkproof.adapters.codex.server import AppServer
    from forkproof.adapters.installation import Installation

__all__ = ["CAPABILITIES", "POLICIES", "CodexAdapter", "HistoryMode", "capabilities"]

HistoryMode: TypeAlias = Literal["paginated", "legacy"]

CAPABILITIES = frozenset(
    {
        "fork.before", "fork.after", "fork.head", "fork.points", "compact", "cancel", "steer", "queue",
        "history", "sessions", "resume", "restart",
        "settings", "settings.fork", "approvals", "approvals.session", "thinking.encrypted",
        "workspace.isolated", "workspace.isolated.caller",
        "tool.write", "tool.edit", "tool.read", "tool.run", "tool.wait", "tool.count", "tool.together",
    }
)  # fmt: skip
"""What Codex can do with threads of either storage."""

_OF: Final[Mapping[HistoryMode, frozenset[str]]] = {
    "paginated": frozenset({"rewind"}),
    # A paginated thread that was forked can't be deleted any more: its forks go on from its file (docs/codex.md).
    "legacy": frozenset({"delete"}),
}

POLICIES = {"busy_source": "interrupt", "settings_source": "latest", "grants": "fresh", "cache_key": "own"}
"""A fork at the head of a busy source copies the running turn as if it had been interrupted; the source runs on.

Sandbox and approval policy of a fork are those that the source has when it is forked. An approval for the session is
kept in the memory of its thread. Each thread sends its own id as cache key.
"""

_THREADS_AT_MOST: Final = 120
"""Threads of one process before it is replaced: every thread that was made stays loaded, about 1 MB each."""


def capabilities(history: HistoryMode) -> frozenset[str]:
    """What Codex can do with threads that are stored in this way."""
    return CAPABILITIES | _OF[history]


class CodexAdapter:
    """Implements `protocol.Adapter` and `protocol.Reusable`; one object drives one app-server process at a time."""

    needs_server = True

    def __init__(self, installation: Installation, history: HistoryMode = "paginated") -> None:
        """`history` is the storage of new threads: `paginated` is Codex's default, `legacy` its older one."""
        self._installation = installation
        self._history: HistoryMode = history
        self._first: Trial | None = None
        self._desk: Desk | None = None

    @classmethod
    def of_variant(cls, installation: Installation, variant: str | None) -> CodexAdapter:
        """The adapter for a variant by its name, None for the default. Raises `NotInstalled` for an unknown one."""
        chosen = next((mode for mode in _OF if mode == (variant or "paginated")), None)
        if chosen is None:
            raise NotInstalled(f"Codex has no variant {variant!r}", "its variant is legacy, or none for the default")
        return cls(installation, chosen)

    def describe(self) -> Description:
        """What Codex is and can do through its app-server."""
        return Description(
            harness="codex",
            version=self._installation.version,
            wire="responses",
            capabilities=capabilities(self._history),
            policies=POLICIES,
            binary_sha256=self._installation.sha256,
            route="codex app-server (stdio)",
            variant="" if self._history == "paginated" else self._history,
        )

    async def start(self, trial: Trial) -> World:
        """Start the app-server. Raises `StartFailed`, `HarnessHung` or `Garbage`, and leaves nothing running then."""
        self._first = trial
        return await self._sit_down(await self._begin(trial), trial)

    async def renew(self, trial: Trial) -> World | None:
        """Let the running app-server serve one more trace, with a world of its own; its HOME stays where it was made.

        None where it has ended or a turn still runs, where another model's address is configured, or where many threads
        are loaded.
        """
        desk, first = self._desk, self._first
        if desk is None or first is None or trial.endpoint != first.endpoint:
            return None
        if not desk.server.running or desk.server.ledger.running():
            return None
        earlier = desk.earlier | desk.threads.keys()
        if len(earlier) >= _THREADS_AT_MOST:
            return None
        desk.world.close()
        return await self._sit_down(desk.server, trial, earlier)

    async def _begin(self, trial: Trial) -> AppServer:
        from forkproof.adapters.codex.server import AppServer

        if trial.endpoint is None:
            raise StartFailed(
                "Codex reaches the model over HTTP, and the trial has no endpoint", "start a model server"
            )
        return await AppServer.start(self._installation.command, trial.root, trial.endpoint, trial.deadlines)

    async def _sit_down(self, server: AppServer, trial: Trial, earlier: frozenset[str] = frozenset()) -> World:
        from forkproof.adapters.codex.desk import Desk
        from forkproof.adapters.diskworld import DiskWorld

        server.person = trial.person
        self._desk = Desk(server, DiskWorld(trial.root), self._history, earlier=earlier)
        return self._desk.world

    async def perform(self, operation: Operation) -> Answer:
        """Carry out one operation. Raises an `AdapterError` when Codex dies, hangs or sends garbage."""
        from forkproof.adapters.codex.handlers import HANDLERS

        handler = HANDLERS.get(type(operation))
        try:
            if handler is not None:
                return await handler(self._started, operation)
        except RpcError as error:
            return refusal(error.code, error.message)
        match operation:
            case Restart(kill):
                return await self._restart(kill=kill)
            case Import():
                return Unsupported("the app-server takes no history with ids and times of the client's")
            case _:
                return Unsupported(f"this adapter has no {type(operation).__name__}")

    async def _restart(self, *, kill: bool) -> Answer:
        """End the process, in order or not, and start another one with the same HOME."""
        desk, first = self._started, self._first
        assert first is not None  # noqa: S101  # a desk is there only after a start
        if kill:
            desk.server.kill()
        await desk.server.stop()
        person = desk.server.person
        desk.server = await self._begin(first)
        desk.server.person = person
        return Acknowledged()

    def native_call(self, use: ToolUse) -> NativeCall:
        """Every abstract tool is a shell command, run by Codex's `exec_command`."""
        return self._started.native_call(use)

    def classify(self, prompt: Prompt) -> Kind | None:
        """`summary` for a compaction's request, else None."""
        return prompts.classify(prompt)

    def diagnostics(self) -> str:
        """The end of what Codex wrote to standard error, approvals that it asked for, and stray messages."""
        return self._desk.server.diagnostics() if self._desk else ""

    async def stop(self) -> None:
        """End Codex and every process that it started."""
        if self._desk is not None:
            await self._desk.server.stop()
            self._desk.world.close()

    @property
    def _started(self) -> Desk:
        if self._desk is None:
            raise StartFailed("Codex was not started", "call start before any operation")
        return self._desk
