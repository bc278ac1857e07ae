"""What the operations of one trace work on: the running app-server, the world, and the threads that were made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from forkproof.adapters.codex import prompts
from forkproof.adapters.codex.answers import ThreadState, thread_state
from forkproof.adapters.codex.server import AppServer
from forkproof.adapters.diskworld import DiskWorld
from forkproof.adapters.errors import StartFailed
from forkproof.adapters.protocol import NativeCall, SettingValue, ToolUse
from forkproof.adapters.shell import command

__all__ = ["Desk"]


@dataclass(slots=True)
class Desk:
    """One trace's work with Codex.

    `history` is how new threads are stored. `threads` are those that this trace made, by their ids; `earlier` are the
    ids of those that earlier traces made on the same process, which are none of this trace's business.
    """

    server: AppServer
    world: DiskWorld
    history: str
    threads: dict[str, ThreadState] = field(default_factory=dict)
    earlier: frozenset[str] = frozenset()
    _asks: bool = False

    def keep(self, answer: Any, settings: Mapping[str, SettingValue]) -> ThreadState:
        """Remember the thread that an answer states, opened with these settings. Raises `Garbage`."""
        state = thread_state(answer)
        self.threads[state.id] = state
        self.heed(settings)
        return state

    def heed(self, settings: Mapping[str, SettingValue]) -> None:
        """Settings were chosen: where Codex asks before it runs a tool, tools need names that it can tell apart."""
        self._asks = self._asks or settings.get("permissions") == "ask"

    def directory(self, thread: str) -> str:
        """Where this thread's tools run, as Codex stated when it made the thread."""
        directory = self.threads[thread].directory
        if directory is None:
            raise StartFailed(f"Codex did not state the directory of thread {thread}", "docs/codex.md")
        return directory

    def native_call(self, use: ToolUse) -> NativeCall:
        """The shell command of an abstract tool, run by Codex's `exec_command`."""
        self.world.prepare(use)
        # Codex hears standard output and error apart, and puts them together as they happen to arrive.
        work = f"exec 2>&1; {command(use, self.world.control)}"
        return prompts.shell_call(self._named(use, work) if self._asks else work)

    def _named(self, use: ToolUse, work: str) -> str:
        """The same work behind a command that is the same for every such call.

        Codex keeps an approval for the session by the command's text, and each call's text has markers of its own: with
        them no two calls would ever be of one kind. So the text goes to a file that is named after tool and arguments.
        """
        asked = json.dumps([use.tool, use.arguments], sort_keys=True, default=dict)
        name = f"{use.tool}-{hashlib.sha256(asked.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
        folder = self.world.control / "tools"
        folder.mkdir(exist_ok=True)
        fresh = folder / f"{name}.new"
        fresh.write_text(work + "\n", encoding="utf-8", errors="surrogateescape")
        # Another file in its place: a shell that still reads the one before goes on with that.
        return f"sh {fresh.replace(folder / name)}"
