"""The suite's model in the reference's terms."""

from __future__ import annotations

from collections.abc import Callable

from forkproof.adapters.prompt import Prompt, Text
from forkproof.adapters.protocol import Model, ModelRequest, NativeCall, Say, Stall, ToolUse
from forkproof.reference.model import Call, Failure, Reply

__all__ = ["ModelSeam"]

_OK = 200


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
        parts: list[Text | Call] = []
        for part in answer.parts:
            match part:
                case Say(text):
                    parts.append(Text(text))
                case ToolUse():
                    native = self._native_call(part)
                    parts.append(Call(part.id, part.name, native.name, native.arguments, part.start, part.end))
                case Stall(name):
                    await self._model.released(name)
        return Reply(tuple(parts))
