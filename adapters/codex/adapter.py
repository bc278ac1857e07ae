"""The Codex adapter: each operation of the seam in the app-server's terms. Source: design section 5, docs/codex.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from forkproof.adapters.codex import prompts
from forkproof.adapters.codex.answers import StoredTurn, ThreadState, refusal, thread_state
from forkproof.adapters.codex.record import applied_cut, fork_record
from forkproof.adapters.codex.server import AppServer
from forkproof.adapters.codex.turns import Ending, find_turn, unknown_id
from forkproof.adapters.errors import StartFailed
from forkproof.adapters.jsonrpc import RpcError
from forkproof.adapters.prompt import Prompt
from forkproof.adapters.protocol import (
    Acknowledged,
    Answer,
    Cancel,
    Compact,
    Cut,
    Description,
    Fork,
    Forked,
    Import,
    Kind,
    NativeCall,
    OpenSession,
    Operation,
    Refused,
    SendPrompt,
    SessionOpened,
    ToolUse,
    Trial,
    TurnEnded,
    Unknown,
    Unsupported,
    World,
)

if TYPE_CHECKING:
    from forkproof.adapters.diskworld import DiskWorld
    from forkproof.adapters.installation import Installation

__all__ = ["CAPABILITIES", "POLICIES", "CodexAdapter", "HistoryMode"]

HistoryMode: TypeAlias = Literal["paginated", "legacy"]

CAPABILITIES = frozenset(
    {
        "fork.before", "fork.after", "fork.head", "compact", "cancel",
        "workspace.isolated", "workspace.isolated.caller",
        "tool.write", "tool.edit", "tool.read", "tool.run", "tool.wait", "tool.count", "tool.together",
    }
)  # fmt: skip

POLICIES = {"busy_source": "interrupt"}
"""A fork at the head of a busy source copies the running turn as if it had been interrupted; the source runs on."""

_STOPS = {"completed": "end_turn", "interrupted": "cancelled", "failed": "failed"}
_SETTINGS = ("model", "effort")


class CodexAdapter:
    """Implements `protocol.Adapter`; one object drives one app-server process for one trace."""

    needs_server = True

    def __init__(self, installation: Installation, history: HistoryMode = "paginated") -> None:
        """`history` is the storage of new threads: `paginated` is Codex's default, `legacy` its older one."""
        self._installation = installation
        self._history = history
        self._server: AppServer | None = None
        self._world: DiskWorld | None = None
        self._threads: dict[str, ThreadState] = {}

    def describe(self) -> Description:
        """What Codex is and can do through its app-server."""
        return Description(
            harness="codex",
            version=self._installation.version,
            wire="responses",
            capabilities=CAPABILITIES,
            policies=POLICIES,
            binary_sha256=self._installation.sha256,
            route="codex app-server (stdio)",
        )

    async def start(self, trial: Trial) -> World:
        """Start the app-server. Raises `StartFailed`, `HarnessHung` or `Garbage`, and leaves nothing running then."""
        from forkproof.adapters.diskworld import DiskWorld

        if trial.endpoint is None:
            raise StartFailed(
                "Codex reaches the model over HTTP, and the trial has no endpoint", "start a model server"
            )
        server = await AppServer.start(self._installation.command, trial.root, trial.endpoint, trial.deadlines)
        self._server, self._world = server, DiskWorld(trial.root)
        return self._world

    async def perform(self, operation: Operation) -> Answer:
        """Carry out one operation. Raises an `AdapterError` when Codex dies, hangs or sends garbage."""
        try:
            return await self._carry_out(operation)
        except RpcError as error:
            return refusal(error.code, error.message)

    def native_call(self, use: ToolUse) -> NativeCall:
        """Every abstract tool is a shell command, run by Codex's `exec_command`."""
        from forkproof.adapters.shell import command

        world = self._disk
        world.prepare(use)
        return prompts.shell_call(command(use, world.control))

    def classify(self, prompt: Prompt) -> Kind | None:
        """`summary` for a compaction's request, else None."""
        return prompts.classify(prompt)

    def diagnostics(self) -> str:
        """The end of what Codex wrote to standard error, approvals that it asked for, and stray messages."""
        return self._server.diagnostics() if self._server else ""

    async def stop(self) -> None:
        """End Codex and every process that it started."""
        if self._server is not None:
            await self._server.stop()
        if self._world is not None:
            self._world.close()

    # --- Operations ------------------------------------------------------------------------------------------------

    async def _carry_out(self, operation: Operation) -> Answer:
        match operation:
            case OpenSession():
                return await self._open(operation)
            case SendPrompt(session, words):
                return _turn_ended(await self._running.run_turn(session, words))
            case Cancel(session):
                return await self._cancel(session)
            case Compact(session):
                return _compacted(await self._running.compact(session))
            case Fork():
                return await self._fork(operation)
            case Import():
                return Unsupported("the app-server takes no history with ids and times of the client's")
            case _:
                return Unsupported(f"this adapter has no {type(operation).__name__}")

    @property
    def _running(self) -> AppServer:
        if self._server is None:
            raise StartFailed("Codex was not started", "call start before any operation")
        return self._server

    @property
    def _disk(self) -> DiskWorld:
        if self._world is None:
            raise StartFailed("Codex was not started", "call start before any tool is used")
        return self._world

    async def _open(self, asked: OpenSession) -> Answer:
        strange = sorted(set(asked.settings) - set(_SETTINGS))
        if strange:
            return Unsupported(f"a new session with {', '.join(strange)}; Codex takes {' and '.join(_SETTINGS)}")
        params: dict[str, Any] = {
            "cwd": asked.directory,
            "approvalPolicy": "never",
            "sandbox": "danger-full-access",
            "historyMode": self._history,
        }
        if "model" in asked.settings:
            params["model"] = asked.settings["model"]
        if "effort" in asked.settings:
            params["config"] = {"model_reasoning_effort": asked.settings["effort"]}
        opened = thread_state(await self._running.ask("thread/start", params))
        self._threads[opened.id] = opened
        return SessionOpened(opened.id)

    async def _cancel(self, session: str) -> Answer:
        # Where no turn was ever begun Codex itself is to say so.
        turn = self._running.ledger.latest(session) or unknown_id()
        await self._running.ask("turn/interrupt", {"threadId": session, "turnId": turn})
        return Acknowledged()

    async def _fork(self, asked: Fork) -> Answer:
        source = asked.session if asked.exists else unknown_id()
        stored = await self._running.turns(source) if asked.exists else ()
        turn = _native_turn(asked.cut, stored)
        if turn is None and asked.cut.kind != "head":
            return Unsupported(f"a cut at a turn that thread {source} does not list")
        params: dict[str, Any] = {"threadId": source, "excludeTurns": True}
        if turn is not None:
            params["beforeTurnId" if asked.cut.kind == "before" else "lastTurnId"] = turn
        if asked.workspace == "isolated":
            # Codex copies no files: the suite does, before the fork, so that Codex finds the directory as it will be.
            params["cwd"] = asked.directory
            if source in self._threads:
                self._disk.copy(self._directory(source), asked.directory)
        child = thread_state(await self._running.ask("thread/fork", params))
        self._threads[child.id] = child
        return await self._forked(asked, child, turn, stored)

    async def _forked(
        self, asked: Fork, child: ThreadState, turn: str | None, stored: tuple[StoredTurn, ...]
    ) -> Answer:
        try:
            copied = await self._running.turns(child.id)
        except RpcError as error:
            return Unknown(f"thread {child.id} was made, but Codex does not list its turns: {error.message}")
        source = self._threads.get(asked.session)
        cut = applied_cut(asked.cut, turn, stored, copied)
        return Forked(fork_record(asked, child, source.directory if source else None, cut, copied))

    def _directory(self, session: str) -> str:
        """Where this session's tools run, as Codex stated when it made the session."""
        directory = self._threads[session].directory
        if directory is None:
            raise StartFailed(f"Codex did not state the directory of thread {session}", "docs/codex.md")
        return directory


def _native_turn(cut: Cut, stored: tuple[StoredTurn, ...]) -> str | None:
    """The id to send for the cut's turn: for one that the thread doesn't list, whatever Codex must refuse."""
    if cut.turn is None:
        return None
    if not cut.turn.exists:
        return unknown_id()
    return find_turn(stored, cut.turn) or cut.turn.native


def _turn_ended(ending: Ending) -> TurnEnded:
    return TurnEnded(_STOPS.get(ending.status, ending.status), ending.turn, ending.detail)


def _compacted(ending: Ending) -> Answer:
    if ending.status == "completed":
        return Acknowledged(ending.turn)
    return Refused("other", f"the compaction was {ending.status}" + (f": {ending.detail}" if ending.detail else ""))
