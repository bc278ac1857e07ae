"""The suite's model in the reference's terms."""

from __future__ import annotations

from collections.abc import Callable

from forkproof.adapters.prompt import Prompt, Reasoning, Text
from forkproof.adapters.protocol import Drop, Model, ModelRequest, NativeCall, Say, Stall, Think, ToolUse
from forkproof.reference.model import Call, Failure, Reply

__all__ = ["ModelSeam"]

_OK = 200
_BROKEN = 502


class ModelSeam:
    """Implements the reference's `Model`."""

    def __init__(self, model: Model, native_call: Callable[[ToolUse], NativeCall]) -> None:
        self._model = model
        self._native_call = native_call

    async def __call__(self, prompt: Prompt) -> Reply | Failure:
        """Ask the suite's model."""
        answer = await self._model.respond(ModelRequest(prompt))
        if answer.status != _OK:
            return Failure(answer.status, answer.message)
        parts: list[Text | Reasoning | Call] = []
        for part in answer.parts:
            match part:
                case Say(text):
                    parts.append(Text(text))
                case ToolUse():
                    native = self._native_call(part)
                    parts.append(Call(part.id, part.name, native.name, native.arguments, part.start, part.end))
                case Think():
                    parts.append(Reasoning(part.text, part.opaque))
                case Stall(name):
                    await self._model.released(name)
                case Drop():
                    return Failure(_BROKEN, "the connection broke in the middle of the answer")
        return Reply(tuple(parts), answer.stored)
