"""The exchange with the model: what reaches us, what we answer, and how a tool call looks to us and to a harness.

Source: design section 4. The suite plays the model, so these are its words, not a provider's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from forkproof.adapters.prompt import Prompt

__all__ = [
    "Drop",
    "Kind",
    "Model",
    "ModelReply",
    "ModelRequest",
    "NativeCall",
    "Say",
    "Stall",
    "Think",
    "ToolUse",
]

Kind: TypeAlias = Literal["turn", "summary", "side"]


@dataclass(frozen=True, slots=True)
class ToolUse:
    """An abstract tool call of a trace, marked for this run.

    `id` is the call id on the wire. `tool` is write, edit, read, run, wait or count; `arguments` are the trace's own.
    `start` and `end` are the two markers that the tool's output must carry: `end` only when the work is done.
    """

    id: str
    name: str
    tool: str
    arguments: Any
    start: str
    end: str


@dataclass(frozen=True, slots=True)
class Say:
    """Text of the model, marker included."""

    text: str


@dataclass(frozen=True, slots=True)
class Think:
    """Thinking of the model, marker included, with its opaque form: a signature, or what is encrypted.

    `encrypted` thinking may come back without its text, `signed` thinking only whole; both only byte for byte.
    """

    name: str
    text: str
    opaque: str = ""
    form: Literal["plain", "signed", "encrypted"] = "plain"


@dataclass(frozen=True, slots=True)
class Drop:
    """The connection breaks at this place."""


@dataclass(frozen=True, slots=True)
class Stall:
    """Hold the stream open at this place until the suite releases it."""

    name: str


@dataclass(frozen=True, slots=True)
class ModelReply:
    """One answer of the model: texts and calls in order, or a failure with an HTTP status and a message.

    `stored` is the id under which the provider keeps the conversation up to this answer, empty if it does not. `code`
    is the provider's own name for a failure, where it has one that clients act on.
    """

    parts: tuple[Say | Think | ToolUse | Stall | Drop, ...] = ()
    status: int = 200
    message: str = ""
    stored: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request that reached us: the prompt, and the raw body (decoded JSON) and path for the wire log."""

    prompt: Prompt
    path: str = ""
    raw: Any = None


class Model(Protocol):
    """The scripted model, played by the suite."""

    async def respond(self, request: ModelRequest) -> ModelReply:
        """Answer one request; never raises for bad input, it answers with a status."""
        ...

    async def released(self, stall: str) -> None:
        """Return when the named stall may go on."""
        ...


@dataclass(frozen=True, slots=True)
class NativeCall:
    """A tool call in the harness's own terms; `freeform` tools take text in place of a JSON object."""

    name: str
    arguments: Mapping[str, Any] | str
    freeform: bool = False
