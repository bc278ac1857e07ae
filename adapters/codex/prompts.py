"""The model's side of Codex: which native tool an abstract call becomes, and which requests are compactions."""

from __future__ import annotations

from forkproof.adapters.prompt import Prompt, Text
from forkproof.adapters.protocol import Kind, NativeCall

__all__ = ["YIELD_MS", "classify", "shell_call"]

YIELD_MS = 30_000
"""How long `exec_command` may block its turn, in milliseconds: the most that Codex grants, whatever is asked for.

A command that still runs then gets "Process running with session ID ..." as its result and the model is asked again.
"""

# The opening of the built-in compaction prompt, the last user message of a request that offers no tools.
_COMPACTION = "You are performing a CONTEXT CHECKPOINT COMPACTION."


def shell_call(command: str) -> NativeCall:
    """The call that runs one shell command and waits for its end."""
    return NativeCall("exec_command", {"cmd": command, "yield_time_ms": YIELD_MS})


def classify(prompt: Prompt) -> Kind | None:
    """`summary` for a request of Codex's compaction; None for every other: nothing in a prompt tells those apart."""
    last = prompt.messages[-1] if prompt.messages else None
    if last is None or last.role != "user" or prompt.tools:
        return None
    opens = any(isinstance(part, Text) and part.content.startswith(_COMPACTION) for part in last.parts)
    return "summary" if opens else None
