"""Mutants whose approvals and permission modes leak, are lost, or belong to another. Clauses AUT-1 to AUT-5, OPS-6."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from forkproof.reference.approvals import Decision, Given, Question, answered
from forkproof.reference.cut import Point
from forkproof.reference.entries import Answered
from forkproof.reference.fork import ForkRequest
from forkproof.reference.harness import Harness
from forkproof.reference.inherit import DEFAULTS
from forkproof.reference.mutants.inheritance import Values, inheriting, reset
from forkproof.reference.mutants.mutant import Mutant
from forkproof.reference.permissions import Need, need
from forkproof.reference.record import Record
from forkproof.reference.refusal import Refusal
from forkproof.reference.restore import Stored, restore
from forkproof.reference.session import Header
from forkproof.reference.store import Row

__all__ = ["MUTANTS"]


def _session_ignored(given: Sequence[Given], session: str, tool: str) -> Decision | None:
    """An approval for one session is one for all."""
    del session
    found = (each.decision for each in given if each.tool == tool)
    return next((d for d in found if d in ("allow_for_session", "allow_always")), None)


def _approvals_remembered(given: Sequence[Given], session: str, tool: str) -> Decision | None:
    """A yes to one call answers all like it, in whatever session and however late it was given."""
    yes = next((each.decision for each in given if each.tool == tool and each.decision != "reject"), None)
    return answered(given, session, tool) or yes


def _refusals_remembered(given: Sequence[Given], session: str, tool: str) -> Decision | None:
    """A no to one call answers all like it."""
    no = next((each.decision for each in given if each.tool == tool and each.decision == "reject"), None)
    return answered(given, session, tool) or no


class _CarriesSilently(Harness):
    """Approvals hold for a fork too, and its record lists none."""

    async def fork(self, id_: str, point: Point, request: ForkRequest) -> Record | Refusal:
        record = await super().fork(id_, point, request)
        if isinstance(record, Record):
            approvals = self._runtime.approvals
            approvals.carry(id_, record.session, approvals.grants(id_))
        return record


class _CancelsTheSource(Harness):
    """A fork interrupts the turn of its source, and withdraws the question that is open there."""

    async def fork(self, id_: str, point: Point, request: ForkRequest) -> Record | Refusal:
        record = await super().fork(id_, point, request)
        await self.cancel(id_)
        return record


class _CancelsTheLine(Harness):
    """Interrupting a fork interrupts what it was forked from, too."""

    async def cancel(self, id_: str) -> bool:
        session = self.session(id_)
        if session is not None and session.header.lineage is not None:
            await super().cancel(session.header.lineage.source)
        return await super().cancel(id_)


def _asks_for_the_source(header: Header) -> str:
    return header.lineage.source if header.lineage is not None else header.id


def _in_mode(strict: str, loose: str) -> Callable[..., Need]:
    """One mode is enforced as another."""

    def rule(mode: str, tool: str) -> Need:
        return need(loose if mode == strict else mode, tool)

    return rule


def _any_mode(settings: Values) -> str:
    """Whatever mode is asked for is taken."""
    del settings
    return ""


def _mode_lost(rows: Sequence[Row]) -> Stored:
    """A restart gives every session the mode of new ones."""
    stored = restore(rows)
    for session in stored.sessions.values():
        mode = {"permissions": DEFAULTS["permissions"]}
        session.header = session.header._replace(settings={**session.header.settings, **mode})
    return stored


class _AsksForTheFork(Harness):
    """A fork inherits the question that is open in its source, and asks it for itself."""

    async def fork(self, id_: str, point: Point, request: ForkRequest) -> Record | Refusal:
        source = self.session(id_)
        body = source.leaf.body if source is not None and source.leaf is not None else None
        record = await super().fork(id_, point, request)
        if isinstance(record, Record) and isinstance(body, Answered):
            for call in body.calls:
                question = asyncio.ensure_future(self._runtime.approvals.person(Question(record.session, call, "")))
                with suppress(asyncio.CancelledError, TimeoutError):
                    async with asyncio.timeout(0):
                        await question
        return record


MUTANTS: Final = (
    Mutant(
        "approval-carried-silently",
        "AUT-1",
        "approvals-leaked",
        "An approval for the source's session allows the same command in a fork, and the record does not say so.",
        harness=_CarriesSilently,
    ),
    Mutant(
        "session-approval-for-all",
        "AUT-1",
        "approvals-leaked",
        "An approval for one session is stored for all of them.",
        rules=lambda rules: replace(rules, answered=_session_ignored),
    ),
    Mutant(
        "approval-reused",
        "AUT-5",
        "stale-resume",
        "A yes that was given once, wherever and however late, answers the same question in a fork.",
        rules=lambda rules: replace(rules, answered=_approvals_remembered),
    ),
    Mutant(
        "refusal-reused",
        "AUT-5",
        "stale-resume",
        "A no that was given after the cut answers the same question in a fork.",
        rules=lambda rules: replace(rules, answered=_refusals_remembered),
    ),
    Mutant(
        "mode-reset-to-auto",
        "AUT-2",
        "approvals-leaked",
        "A fork has the mode of new sessions, which is looser than its source's.",
        rules=inheriting(reset("permissions")),
    ),
    Mutant(
        "read-only-is-not-enforced",
        "AUT-3",
        "settings-lost",
        "A session whose mode is read-only runs everything.",
        rules=lambda rules: replace(rules, need=_in_mode("read-only", "auto")),
    ),
    Mutant(
        "auto-still-asks",
        "AUT-3",
        "settings-lost",
        "A session whose record says that everything runs still asks before a command.",
        rules=lambda rules: replace(rules, need=_in_mode("auto", "ask")),
    ),
    Mutant(
        "unknown-mode-taken",
        "AUT-3",
        "settings-stale",
        "A fork with a mode that can't be enforced is made.",
        rules=lambda rules: replace(rules, unsettable=_any_mode),
    ),
    Mutant(
        "fork-withdraws-the-question",
        "AUT-4",
        "approvals-leaked",
        "A fork closes the question that is open in its source.",
        harness=_CancelsTheSource,
    ),
    Mutant(
        "cancel-reaches-the-source",
        "OPS-6",
        "runtime-ownership",
        "Whoever interrupts a fork interrupts the turn that runs in its source, too.",
        harness=_CancelsTheLine,
    ),
    Mutant(
        "question-in-the-name-of-the-source",
        "OPS-6",
        "runtime-ownership",
        "A question that a fork's tool raises is asked in the name of its source.",
        rules=lambda rules: replace(rules, bound_to=_asks_for_the_source),
    ),
    Mutant(
        "mode-lost-in-a-restart",
        "AUT-2",
        "settings-lost",
        "After a restart every session has the permission mode of new ones.",
        rules=lambda rules: replace(rules, restore=_mode_lost),
    ),
    Mutant(
        "question-inherited",
        "AUT-4",
        "approvals-leaked",
        "A fork of a session with an open question asks that question again for itself.",
        harness=_AsksForTheFork,
    ),
)
