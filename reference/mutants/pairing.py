"""Mutants that break the pairing of calls and results, or hide how turns ended. Clauses TOOL-1 to TOOL-6."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Final, TypeAlias

from forkproof.reference.cut import Point
from forkproof.reference.entries import Answered, Entry, Stop, ToolEnded, TurnEnded
from forkproof.reference.fork import ForkRequest
from forkproof.reference.harness import Harness
from forkproof.reference.model import Call
from forkproof.reference.mutants.mutant import Mutant
from forkproof.reference.mutants.surgery import turns_ended
from forkproof.reference.project import full_path
from forkproof.reference.prompt import Message, ToolCall, ToolResult
from forkproof.reference.record import Record
from forkproof.reference.refusal import Refusal
from forkproof.reference.repair import pair
from forkproof.reference.rules import Rules
from forkproof.reference.tools import Outcome, printed, use
from forkproof.reference.wording import marker

__all__ = ["MUTANTS"]

Messages: TypeAlias = Iterable[Message]


def _then(change: Callable[[list[Message]], Messages]) -> Callable[[Rules], Rules]:
    """Change the paired messages."""
    return lambda rules: replace(rules, pair=lambda entries: list(change(pair(entries))))


def _first(change: Callable[[list[Entry]], Iterable[Entry]]) -> Callable[[Rules], Rules]:
    """Change the entries before they are paired."""
    return lambda rules: replace(rules, pair=lambda entries: pair(change(list(entries))))


def _unpaired(entries: Iterable[Entry]) -> list[Message]:
    return [entry.message for entry in entries if entry.message is not None]


def _without_old_results(messages: list[Message]) -> Messages:
    last = max((index for index, m in enumerate(messages) if m.role == "user"), default=0)
    return [m for index, m in enumerate(messages) if m.role != "tool" or index > last]


def _without_old_calls(messages: list[Message]) -> Iterator[Message]:
    last = max((index for index, m in enumerate(messages) if m.role == "user"), default=0)
    for index, message in enumerate(messages):
        parts = message.parts if index > last else tuple(p for p in message.parts if not isinstance(p, ToolCall))
        if parts:
            yield replace(message, parts=parts)


def _results_twice(messages: list[Message]) -> Iterator[Message]:
    last = max((index for index, m in enumerate(messages) if m.role == "user"), default=0)
    for index, message in enumerate(messages):
        yield message
        if message.role == "tool" and index < last:
            yield message


def _only_first_of_group(messages: list[Message]) -> Iterator[Message]:
    """Of results that follow each other, the first."""
    before = None
    last = max((index for index, m in enumerate(messages) if m.role == "user"), default=0)
    for index, message in enumerate(messages):
        if not (message.role == "tool" and before == "tool" and index < last):
            yield message
        before = message.role


def _failed_reads_done(messages: list[Message]) -> Iterator[Message]:
    for message in messages:
        yield replace(
            message, parts=tuple(_done(part) if isinstance(part, ToolResult) else part for part in message.parts)
        )


def _done(result: ToolResult) -> ToolResult:
    return ToolResult(result.id, result.response.replace(".failed]", ".end]"))


def _last_of_id(entries: list[Entry]) -> list[Entry]:
    """Every call gets the newest result of its id, in whatever turn that was."""
    newest = {entry.body.call: entry.body for entry in entries if isinstance(entry.body, ToolEnded)}
    messages = {entry.body.call: entry.message for entry in entries if isinstance(entry.body, ToolEnded)}
    return [
        replace(entry, body=newest[entry.body.call], message=messages[entry.body.call])
        if isinstance(entry.body, ToolEnded)
        else entry
        for entry in entries
    ]


def _without_interrupted_ends(entries: list[Entry]) -> list[Entry]:
    """Of interrupted turns neither the calls that did not end nor any word about it."""
    ended = {entry.body.call for entry in entries if isinstance(entry.body, ToolEnded)}
    interrupted = turns_ended(entries, "cancelled", "forked")
    return [
        entry
        for entry in entries
        if entry.turn not in interrupted
        or not (
            isinstance(entry.body, TurnEnded)
            or (isinstance(entry.body, Answered) and not ended >= set(entry.body.calls))
        )
    ]


def _without_interrupted_turns(entries: list[Entry]) -> list[Entry]:
    interrupted = turns_ended(entries, "cancelled", "forked")
    return [entry for entry in entries if entry.turn not in interrupted]


def _all_interrupted(entries: list[Entry]) -> list[Entry]:
    said: Stop = "cancelled"
    return [replace(e, message=marker(said)) if isinstance(e.body, TurnEnded) else e for e in entries]


class _RunsAgain(Harness):
    """A fork runs the calls of its prefix again, to bring the child up to date."""

    async def fork(self, id_: str, point: Point, request: ForkRequest) -> Record | Refusal:
        record = await super().fork(id_, point, request)
        child = None if isinstance(record, Refusal) else self.session(record.session)
        for entry in full_path(child.leaf) if child is not None else ():
            for part in entry.body.parts if isinstance(entry.body, Answered) else ():
                if isinstance(part, ToolCall) and part.name == "count":
                    await use(
                        Call(part.id, part.id, part.name, part.arguments, "", ""), self.machine, request.directory
                    )
        return record


MUTANTS: Final = (
    Mutant(
        "unfinished-call-alone",
        "TOOL-1",
        "orphan-call",
        "A call that never ended stays in the prompt without a result.",
        rules=lambda rules: replace(rules, pair=_unpaired),
    ),
    Mutant(
        "past-calls-without-results",
        "TOOL-1",
        "orphan-call",
        "Calls of past turns are sent without their results.",
        rules=_then(_without_old_results),
    ),
    Mutant(
        "past-results-without-calls",
        "TOOL-1",
        "orphan-result",
        "Results of past turns are sent without their calls.",
        rules=_then(_without_old_calls),
    ),
    Mutant(
        "past-results-twice",
        "TOOL-1",
        "orphan-result",
        "Results of past turns are sent twice.",
        rules=_then(_results_twice),
    ),
    Mutant(
        "one-result-for-a-group",
        "TOOL-1",
        "orphan-call",
        "Of calls made together only the first keeps its result in later turns.",
        rules=_then(_only_first_of_group),
    ),
    Mutant(
        "unfinished-reads-done",
        "TOOL-2",
        "interrupted-as-complete",
        "A call that was interrupted is recorded as if it had ended well.",
        rules=lambda rules: replace(rules, interrupted=lambda call: printed(call, Outcome(done=True, output=""))),
    ),
    Mutant(
        "failed-reads-done",
        "TOOL-2",
        "interrupted-as-complete",
        "A call that failed is shown to the model as done.",
        rules=_then(_failed_reads_done),
    ),
    Mutant(
        "interruption-forgotten",
        "TOOL-3",
        "interrupted-as-complete",
        "Of an interrupted turn the calls that did not end are left out, and no word tells of it.",
        rules=_first(_without_interrupted_ends),
    ),
    Mutant(
        "interrupted-turn-left-out",
        "SNAP-2",
        "mixed-snapshot",
        "A turn that was interrupted is left out whole, though it was shown.",
        rules=_first(_without_interrupted_turns),
    ),
    Mutant(
        "every-turn-marked-interrupted",
        "TOOL-4",
        "interrupted-as-complete",
        "Turns that ended by themselves are marked as interrupted.",
        rules=_first(_all_interrupted),
    ),
    Mutant(
        "results-by-id-alone",
        "TOOL-5",
        "dup-ids",
        "A call id that is used again in a later turn takes the later result in both.",
        rules=_first(_last_of_id),
    ),
    Mutant(
        "fork-runs-tools-again",
        "TOOL-6",
        "runtime-ownership",
        "A fork runs the commands of its prefix once more.",
        harness=_RunsAgain,
    ),
)
