"""What the model server answers, and where: every path with and without `/v1`, because base URLs come in both kinds.

OpenAI's clients put `/chat/completions`, `/responses` and `/models` behind a base URL that ends in `/v1`; Anthropic's
own put `/v1/messages` behind one that does not, others `/messages` behind one that does. A harness that is given the
other kind of base URL is not at fault.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from forkproof.adapters.model.codec import Codec

__all__ = ["Route", "routes"]

PREFIX = "/v1"


@dataclass(frozen=True, slots=True)
class Route:
    """What one path is for: the model's answers, a count of tokens, new conversations, or the list of models."""

    kind: Literal["answer", "count", "conversation", "models"]
    method: Literal["GET", "POST"]
    codec: Codec | None = None


def routes(codecs: Iterable[Codec]) -> Mapping[str, Route]:
    """Every path that is served."""
    known = {"/v1/models": Route("models", "GET"), "/v1/conversations": Route("conversation", "POST")}
    for codec in codecs:
        known[codec.path] = Route("answer", "POST", codec)
        if codec.name == "messages":
            known[f"{codec.path}/count_tokens"] = Route("count", "POST", codec)
    return {place: route for path, route in known.items() for place in (path, path.removeprefix(PREFIX))}
