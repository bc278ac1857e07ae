"""Models for tests of the reference: they answer by what the prompt holds, and keep all that was sent."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from forkproof.reference.model import Call, Failure, Reply
from forkproof.reference.prompt import Prompt, Text, ToolCall, ToolResult

__all__ = ["Script", "call", "items", "say"]

Answers = Sequence[Reply | Failure]


def say(text: str) -> Reply:
    """An answer of words alone."""
    return Reply((Text(text),))


def call(name: str, tool: str, arguments: Any) -> Call:
    """A call whose id on the wire and markers come from its name."""
    return Call(f"id-{name}", name, tool, arguments, f"[x.{name}.start]", f"[x.{name}.end]")


class Script:
    """Answers each turn, known by its user message, with its own answers one after the other.

    A turn that is not scripted is answered with `ok`. `hold` names user messages whose requests hang until cancelled.
    """

    def __init__(self, answers: Mapping[str, Answers] | None = None, hold: frozenset[str] = frozenset()) -> None:
        self.answers = dict(answers or {})
        self.hold = hold
        self.asked = asyncio.Event()
        self.prompts: list[Prompt] = []

    async def __call__(self, prompt: Prompt) -> Reply | Failure:
        """Answer one prompt."""
        self.prompts.append(prompt)
        user, behind = _newest_user(prompt)
        if user in self.hold:
            self.asked.set()
            await asyncio.Event().wait()
        if prompt.settings.get("purpose") == "summary":
            return say("the summary")
        answers = self.answers.get(user, [say("ok")])
        return answers[behind]


def _newest_user(prompt: Prompt) -> tuple[str, int]:
    """The newest user message, and how many answers stand behind it."""
    behind = 0
    for message in reversed(prompt.messages):
        if message.role == "user" and isinstance(message.parts[0], Text):
            return message.parts[0].content, behind
        behind += message.role == "assistant"
    return "", behind


def items(prompt: Prompt) -> list[str]:
    """The prompt in one short line a part, without the system message; results by their call and how they ended."""
    lines = []
    for message in prompt.messages[1:]:
        for part in message.parts:
            match part:
                case Text(content):
                    lines.append(content)
                case ToolCall(id_):
                    lines.append(f"call {id_}")
                case ToolResult(id_, response):
                    status = "done" if ".end]" in response else "failed" if ".failed]" in response else "unknown"
                    lines.append(f"{status} {id_}")
                case _:
                    raise TypeError(part)
    return lines
