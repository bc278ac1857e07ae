"""A side: one of the two references, driven through the same plain operations, answering in the same plain data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from forkproof.reference.prompt import Message, Prompt, Text, ToolCall, ToolResult
from tests.deep.same import Id
from tests.deep.script import Script, is_a_persons

__all__ = ["Ask", "Pending", "Plain", "Side", "cut_of", "lines", "refused", "shown"]

Plain: TypeAlias = Any
"""Mappings, lists, texts, numbers and `Id`s."""

Pending: TypeAlias = Callable[[], Plain]
"""What came of something that may take time; None until it is over."""


@dataclass(frozen=True)
class Ask:
    """A fork that is asked for; `turn` is the id of a turn, or of the entry of a cut at one."""

    kind: Literal["before", "after", "at", "head"]
    turn: str
    directory: str
    isolated: bool
    overrides: Mapping[str, str]


class Side(Protocol):
    """Everything that a program can do. Sessions and turns are named by this side's own ids."""

    script: Script

    def create(self, directory: str, files: Mapping[str, str]) -> None:
        """Make a directory."""
        ...

    def open(self, directory: str, settings: Mapping[str, str]) -> Plain:
        """Open a session."""
        ...

    def import_history(self, directory: str, past: Sequence[tuple[int, str, str]]) -> Plain:
        """Import turns: time, message, answer."""
        ...

    def prompt(self, session: str, text: str) -> Pending:
        """Begin a turn."""
        ...

    def compact(self, session: str) -> Pending:
        """Begin a compaction."""
        ...

    def fork(self, session: str, ask: Ask) -> Pending:
        """Begin a fork."""
        ...

    def steer(self, session: str, text: str) -> Plain:
        """Speak into the turn that runs."""
        ...

    def queue(self, session: str, text: str) -> Pending:
        """Say something that waits for its turn."""
        ...

    def branch(self, session: str, entry: str, *, summary: bool) -> Pending:
        """Go on from an earlier entry."""
        ...

    def rewind(self, session: str, turn: str) -> Plain:
        """Go back to before a turn."""
        ...

    def reword(self, session: str, kind: str, entry: str, text: str) -> Plain:
        """Name an entry, or give the model other words for it."""
        ...

    def reading(self, session: str, since: str | None) -> Plain:
        """What a reader sees: the listing, the tree, the history."""
        ...

    def restart(self, *, kill: bool) -> Pending:
        """End the process, in order or by a kill, and start another one."""
        ...

    def resume(self, session: str) -> Plain:
        """Open a stored session."""
        ...

    def delete(self, session: str) -> Plain:
        """Delete a session."""
        ...

    def delete_turns(self, session: str, turns: Sequence[str]) -> Plain:
        """Take turns out of a session."""
        ...

    def configure(self, session: str, settings: Mapping[str, str]) -> Plain:
        """Change settings."""
        ...

    def cancel(self, session: str) -> Pending:
        """Interrupt what is under way."""
        ...

    def release(self, command: str) -> None:
        """Let a waiting command end."""
        ...

    def person_writes(self, directory: str, path: str, text: str) -> bool:
        """Change a file from outside; False where it can't be, since a folder is in the way, say."""
        ...

    def settle(self) -> None:
        """Go on as far as possible."""
        ...

    def state(self) -> Plain:
        """Everything that can be seen from outside."""
        ...

    def wording(self, text: str) -> Plain:
        """What one of the harness's own texts in a user message means."""
        ...

    def close(self) -> None:
        """The end."""
        ...


def cut_of(cut: Mapping[str, str | bool]) -> Plain:
    """A cut as a record states it."""
    kinds = {"at": "entry"}
    return {kind: name if name is True else Id(kinds.get(kind, "turn"), str(name)) for kind, name in cut.items()}


def refused(reason: str) -> Plain:
    """A refusal; its message is the harness's own wording."""
    return {"refused": reason}


def shown(side: Side, prompt: Prompt) -> Plain:
    """A prompt as plain data, one line a part; what the harness itself says is told by its meaning."""
    return {
        "session": Id("session", prompt.session or ""),
        "model": prompt.model,
        "settings": dict(prompt.settings),
        "tools": sorted(prompt.tools),
        "lines": lines(side, prompt.messages),
    }


def lines(side: Side, messages: Iterable[Message]) -> list[Plain]:
    """Messages as plain data, one line a part."""
    told: list[Plain] = []
    tools: dict[str, str] = {}
    for message in messages:
        for part in message.parts:
            match message.role, part:
                case "system", Text(text):
                    told.append(["system", text.rpartition(" ")[2]])
                case "user", Text(text) if not is_a_persons(text):
                    told.append(side.wording(text))
                case role, Text(text):
                    told.append([role, text])
                case role, ToolCall(id_, name, arguments):
                    tools[id_] = name
                    told.append([role, "call", id_, name, arguments])
                case role, ToolResult(id_, response):
                    told.append([role, "result", id_, *_outcome(response, tools.get(id_, ""))])
                case role, other:
                    told.append([role, repr(other)])
    return told


def _outcome(response: str, tool: str) -> tuple[str, str]:
    """Whether the call is done, failed or unfinished, and which call it was; with its output where a tool reports."""
    start, _, rest = response.partition("\n")
    if response.endswith(".failed]"):
        return "failed", start
    if is_a_persons(response):
        return "edited", response
    if not response.endswith(".end]"):
        return "unfinished", ""
    output = rest.rpartition("\n")[0] if tool in ("read", "run", "count") else ""
    return "done", f"{start} {output}"
