"""Codex's requests for approval, answered by the suite's person. Source: clauses AUT-1 to AUT-5, OPS-6."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from forkproof.adapters.codex.answers import at, text
from forkproof.adapters.jsonrpc import METHOD_NOT_FOUND, RpcError
from forkproof.adapters.protocol import Decision, Person, Question

__all__ = ["REQUESTS", "answer"]

# Each request with the word for yes of its own time; the last two are those of older clients.
REQUESTS: Final[Mapping[str, str]] = {
    "item/commandExecution/requestApproval": "accept",
    "item/fileChange/requestApproval": "accept",
    "execCommandApproval": "approved",
    "applyPatchApproval": "approved",
}

_WORDS: Final[Mapping[Decision, str]] = {
    "allow_once": "accept",
    # Codex does not list this one among the decisions that it offers for a command, and takes it (docs/codex.md).
    "allow_for_session": "acceptForSession",
    "reject": "decline",
}

_WITHDRAWN: Final = {"decision": "cancel"}


async def answer(
    method: str, params: Any, person: Person | None, end_of_turn: asyncio.Future[Any] | None
) -> Mapping[str, Any]:
    """What to answer a request with. Raises `RpcError` for a request that is none for approval.

    Without a person the answer is yes. A question is withdrawn when its turn ends before the person has answered.
    """
    if method not in REQUESTS:
        raise RpcError(METHOD_NOT_FOUND, f"forkproof does not answer {method}")
    if person is None or end_of_turn is None or not method.startswith("item/"):
        return {"decision": REQUESTS[method]}
    asked = asyncio.ensure_future(person.permit(Question(text(params, "threadId"), text(params, "itemId"))))
    try:
        await asyncio.wait({asked, end_of_turn}, return_when=asyncio.FIRST_COMPLETED)
        return {"decision": _word(asked.result(), params)} if asked.done() else _WITHDRAWN
    finally:
        asked.cancel()


def _word(decision: Decision, params: Any) -> Any:
    if decision != "allow_always":
        return _WORDS[decision]
    rule = at(params, "proposedExecpolicyAmendment")
    return {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": rule}} if rule else "acceptForSession"
