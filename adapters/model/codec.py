"""What the model server asks of a wire format, and the formats that we speak.

A codec decodes a request into the canonical prompt and encodes a scripted reply (design section 4). It keeps no state:
ids, time and the harness's tool names come in with the `Rendering`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from forkproof.adapters.prompt import Prompt
from forkproof.adapters.protocol import Drop, ModelReply, NativeCall, Stall, ToolUse

__all__ = ["Codec", "Frame", "Ids", "MalformedRequestError", "Rendering", "codecs"]

Frame: TypeAlias = bytes | Stall | Drop
"""What a stream is made of: bytes to send, a place where it is held, or one where the connection breaks."""


class MalformedRequestError(ValueError):
    """A request that the provider would refuse too; the message names the place in the body, `status` is HTTP's."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class Ids:
    """Ids for responses, messages and items, e.g. `resp_7f3a000001`: a nonce and a count, nothing random.

    One object serves a whole run: harnesses use the model's ids as keys of their own (Goose's message ids).
    """

    def __init__(self, nonce: str) -> None:
        self._nonce = nonce
        self._count = itertools.count(1)

    def __call__(self, prefix: str) -> str:
        """A new id of this kind."""
        return f"{prefix}_{self._nonce}{next(self._count):06}"


@dataclass(frozen=True, slots=True)
class Rendering:
    """What turns a reply into one answer on the wire.

    `native` gives the harness's own call for an abstract tool, `ids` a fresh id for a prefix, `created` is in whole
    seconds since the epoch, `model` the name that the request asked for. `usage` says whether a stream whose format
    leaves the choice to the client ends with token counts.
    """

    native: Callable[[ToolUse], NativeCall]
    ids: Callable[[str], str]
    created: int
    model: str
    usage: bool = False


class Codec(Protocol):
    """One wire format."""

    name: str
    """How an adapter names it in `Description.wire`."""

    path: str
    """Where requests are posted, below the endpoint's URL."""

    def decode(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> Prompt:
        """The canonical prompt of a request. Header names are in lower case. Raises `MalformedRequestError`."""
        ...

    def encode_prompt(self, prompt: Prompt) -> dict[str, Any]:
        """What a harness would send for this prompt; `decode` gives the prompt back in the format's normal form."""
        ...

    def stream(self, reply: ModelReply, rendering: Rendering) -> Iterator[Frame]:
        """A successful reply as server-sent events; some come before any stall: the client sees the answer begin."""
        ...

    def whole(self, reply: ModelReply, rendering: Rendering) -> dict[str, Any]:
        """A successful reply as the one JSON body that a client gets who did not ask for a stream."""
        ...

    def failure(self, status: int, message: str, code: str = "") -> dict[str, Any]:
        """The provider's error body for an HTTP status; `code` is its own name for what went wrong, if it has one."""
        ...


def codecs() -> dict[str, Codec]:
    """Every codec by its name. A new wire format is one module and one line here."""
    from forkproof.adapters.model.chat import ChatCodec
    from forkproof.adapters.model.messages import MessagesCodec
    from forkproof.adapters.model.responses import ResponsesCodec

    known: tuple[Codec, ...] = (ResponsesCodec(), ChatCodec(), MessagesCodec())
    return {codec.name: codec for codec in known}
