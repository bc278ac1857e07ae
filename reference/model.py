"""The model's seam: what the reference asks of whoever plays the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from forkproof.reference.prompt import Prompt, Reasoning, Text

__all__ = ["Call", "Failure", "Model", "Reply"]


@dataclass(frozen=True, slots=True)
class Call:
    """The model calls a tool.

    `id` stands on the wire, `name` names the call to the outside (a waiting command is released by it). `tool` and
    `arguments` are those of `tools`; `start` and `end` are printed before and after the tool's own output.
    """

    id: str
    name: str
    tool: str
    arguments: Mapping[str, Any] | str
    start: str
    end: str


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the model, in order. `stored` is the id of what the provider kept, if it was asked to."""

    parts: tuple[Text | Reasoning | Call, ...] = ()
    stored: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """The model could not be reached or refused: the turn fails. `status` is an HTTP status."""

    status: int
    message: str


class Model(Protocol):
    """Whoever plays the model. A summary is asked for with the setting `purpose: summary`."""

    async def __call__(self, prompt: Prompt) -> Reply | Failure:
        """Answer one prompt; may be cancelled while it does."""
        ...
