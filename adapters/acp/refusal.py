"""From an agent's error answer to what the suite makes of it: a refusal with a reason, or no such ability."""

from __future__ import annotations

import re

from forkproof.adapters.acp.recipe import Recipe
from forkproof.adapters.jsonrpc import METHOD_NOT_FOUND, RpcError
from forkproof.adapters.protocol import Refused, Unsupported

__all__ = ["refusal", "words"]

RESOURCE_NOT_FOUND = -32002
"""ACP's own code; the resource of the requests that we send is always a session."""


def refusal(error: RpcError, method: str, recipe: Recipe) -> Refused | Unsupported:
    """What an error answer to this method says.

    The reason comes from ACP's codes and from the recipe's own expressions, never from a guess at the words; where
    neither tells it, it is `other`, with the words.
    """
    if error.code == METHOD_NOT_FOUND:
        return Unsupported(f"the agent has no {method}")
    said = words(error)
    for reason, pattern in recipe.refusals.items():
        if re.search(pattern, said):
            return Refused(reason, said)
    return Refused("unknown-session" if error.code == RESOURCE_NOT_FOUND else "other", said)


def words(error: RpcError) -> str:
    """The agent's words, with the details that many put into `data`."""
    data = "" if error.data is None else f": {error.data}"
    return f"{error.message}{data} ({error.code})"
