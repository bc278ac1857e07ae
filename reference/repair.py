"""Pairing: in every prompt each call has exactly one result and each result a call.

Source: clauses TOOL-1, TOOL-2, TOOL-5; seed 000, "history normalization".

A call's result stands behind the answer that made it and before whatever comes next, so a call id that is used again in
a later turn pairs by position.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from forkproof.reference.entries import Answered, Entry, ToolEnded
from forkproof.reference.prompt import Message
from forkproof.reference.wording import UNKNOWN_RESULT, message_of_result

__all__ = ["pair"]


def pair(entries: Iterable[Entry]) -> list[Message]:
    """The messages of these entries in order, paired.

    Results stand in the order of their calls, whichever ended first. A call without a result gets one that says that
    its outcome is unknown; a result without a call, and a second one for the same call, are left out. This loop runs
    over every entry of a context for every request, so its usual way, results in order, is kept short.
    """
    paired: list[Message] = []
    add = paired.append
    due: tuple[str, ...] = ()
    early: list[tuple[str, Message]] = []
    for entry in entries:
        body = entry.body
        message = entry.message
        if type(body) is ToolEnded:
            if due and message is not None:
                if body.call == due[0] and not early:
                    add(message)
                    due = due[1:]
                else:
                    early.append((body.call, message))
            continue
        if due:
            paired.extend(_in_call_order(due, early))
            due, early = (), []
        if type(body) is Answered:
            due = body.calls
        if message is not None:
            add(message)
    paired.extend(_in_call_order(due, early))
    return paired


def _in_call_order(due: Sequence[str], early: Sequence[tuple[str, Message]]) -> Iterable[Message]:
    """One result for each call that is still due, from those that came before their turn."""
    left = list(early)
    for call in due:
        found = next((index for index, (id_, _) in enumerate(left) if id_ == call), None)
        yield left.pop(found)[1] if found is not None else message_of_result(call, UNKNOWN_RESULT)
