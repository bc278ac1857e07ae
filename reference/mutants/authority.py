"""Mutants that lose settings, approvals or hooks over a fork, or let them leak. Clauses SET, AUT, OPS-4, OPS-6."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from forkproof.reference import starts
from forkproof.reference.approvals import Decision, Given, answered
from forkproof.reference.cut import Point
from forkproof.reference.entries import Entry, SettingsChanged, newest_change
from forkproof.reference.fork import ForkRequest
from forkproof.reference.harness import Harness
from forkproof.reference.hooks import Started
from forkproof.reference.inherit import DEFAULTS, Setting, Value, inherit
from forkproof.reference.mutants.mutant import Mutant
from forkproof.reference.permissions import Need, need
from forkproof.reference.record import Record
from forkproof.reference.refusal import Refusal
from forkproof.reference.rules import Rules
from forkproof.reference.session import Header
from forkproof.reference.settings import in_force, offered
from forkproof.reference.tools import TOOLS

__all__ = ["MUTANTS"]

_Values = Mapping[str, Value]
_Inherit = Callable[..., dict[str, Setting]]


def _inheriting(rule: _Inherit) -> Callable[[Rules], Rules]:
    return lambda rules: replace(rules, inherit=rule)


def _in_force(rule: Callable[[Header, Entry | None], dict[str, Value]]) -> Callable[[Rules], Rules]:
    return lambda rules: replace(rules, in_force=rule)


# --- settings ------------------------------------------------------------------------------------------------------


def _reset(*names: str) -> _Inherit:
    """The child gets the defaults for these settings, and nothing where there is none."""

    def rule(source: _Values, overrides: _Values, *rest: object) -> dict[str, Setting]:
        found: dict[str, Setting] = inherit(source, overrides, *rest)  # type: ignore[arg-type]  # passed through
        for name in names:
            if name in found and name not in overrides:
                del found[name]
                if name in DEFAULTS:
                    found[name] = Setting(DEFAULTS[name], "default")
        return found

    return rule


def _latest_as_cut(source: _Values, overrides: _Values, latest: _Values, *_rest: object) -> dict[str, Setting]:
    """What the source has now, said to be of the cut."""
    del source
    return inherit(latest, overrides)


def _overrides_dropped(source: _Values, overrides: _Values, *rest: object) -> dict[str, Setting]:
    found: dict[str, Setting] = inherit(source, {}, *rest)  # type: ignore[arg-type]  # passed through
    return found | {name: found[name] for name in overrides if name in found}


def _origins_dropped(source: _Values, overrides: _Values, *rest: object) -> dict[str, Setting]:
    found: dict[str, Setting] = inherit(source, overrides, *rest)  # type: ignore[arg-type]  # passed through
    return {name: Setting(setting.value, "default") for name, setting in found.items()}


def _effort_unstated(source: _Values, overrides: _Values, *rest: object) -> dict[str, Setting]:
    found: dict[str, Setting] = inherit(source, overrides, *rest)  # type: ignore[arg-type]  # passed through
    return {name: setting for name, setting in found.items() if name != "effort"}


def _override_until_told(header: Header, leaf: Entry | None) -> dict[str, Value]:
    """What was given with a fork is stated and then not used."""
    values = in_force(header, leaf)
    if header.begun is not None and header.begun.given:
        return {**values, **in_force(header.begun.source, header.begun.leaf)}
    return values


def _from_events_only(header: Header, leaf: Entry | None) -> dict[str, Value]:
    """Settings are rebuilt from what was written on the path, so those of the session's creation are gone."""
    if leaf is None or newest_change(leaf) is not None or header.lineage is None:
        values = in_force(header, leaf)
        return values if header.lineage is None and leaf is not None else {**values, **DEFAULTS}
    return in_force(header, leaf)


def _first_change_only(header: Header, leaf: Entry | None) -> dict[str, Value]:
    """A second change of a session's settings is stored and not put into force."""
    values = dict(header.settings)
    entry, oldest = newest_change(leaf), None
    while entry is not None:
        oldest, entry = entry, entry.change
    if oldest is not None and isinstance(oldest.body, SettingsChanged):
        values.update(oldest.body.settings)
    return values


def _offers_all(settings: _Values) -> tuple[str, ...]:
    del settings
    return TOOLS


def _runs_nothing_chosen(settings: _Values) -> tuple[str, ...]:
    """The first of the tools that were chosen is shown and can't be run."""
    return offered(settings)[1:] if "tools" in settings else offered(settings)


# --- approvals -----------------------------------------------------------------------------------------------------


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


def _any_mode(settings: _Values) -> str:
    """Whatever mode is asked for is taken."""
    del settings
    return ""


# --- hooks ---------------------------------------------------------------------------------------------------------


def _told_the_source(header: Header) -> Started:
    told = starts.told(header)
    return Started(told.source or told.session, told.cause, told.source)


def _told_nothing_of_the_fork(header: Header) -> Started:
    return Started(header.id, "new")


MUTANTS: Final = (
    Mutant(
        "model-reset",
        "SET-1",
        "settings-lost",
        "A fork runs the default model and effort, whatever its source was switched to.",
        rules=_inheriting(_reset("model", "effort")),
    ),
    Mutant(
        "tools-reset",
        "SET-1",
        "settings-lost",
        "A fork has every tool again, also those that its source was not given.",
        rules=_inheriting(_reset("tools")),
    ),
    Mutant(
        "latest-settings-as-cut",
        "SET-8",
        "settings-stale",
        "A fork has its source's newest settings, and says that they are those of the cut.",
        rules=_inheriting(_latest_as_cut),
    ),
    Mutant(
        "override-dropped",
        "SET-2",
        "settings-lost",
        "What was given with a fork is forgotten, the source's settings are used.",
        rules=_inheriting(_overrides_dropped),
    ),
    Mutant(
        "override-stated-not-used",
        "SET-2",
        "settings-stale",
        "The record states what was given with the fork, the child's requests use what the source had.",
        rules=_in_force(_override_until_told),
    ),
    Mutant(
        "origins-lost",
        "REC-7",
        "settings-lost",
        "The record says of every setting that it is a default.",
        rules=_inheriting(_origins_dropped),
    ),
    Mutant(
        "effort-not-stated",
        "REC-7",
        "settings-lost",
        "The reasoning level is missing in the record of a fork.",
        rules=_inheriting(_effort_unstated),
    ),
    Mutant(
        "creation-settings-lost",
        "SET-6",
        "state-restore",
        "A fork's settings are rebuilt from written events, without what the session was made with.",
        rules=_in_force(_from_events_only),
    ),
    Mutant(
        "offers-every-tool",
        "SET-3",
        None,
        "The model is shown every tool, also those that the session does not run.",
        rules=lambda rules: replace(rules, offered=_offers_all),
    ),
    Mutant(
        "runs-unoffered-tools",
        "SET-3",
        None,
        "A tool runs that the model was not shown.",
        rules=lambda rules: replace(rules, runnable=_offers_all),
    ),
    Mutant(
        "offers-what-does-not-run",
        "SET-3",
        None,
        "One of the tools that the model is shown can't be run.",
        rules=lambda rules: replace(rules, runnable=_runs_nothing_chosen),
    ),
    Mutant(
        "start-context-stacked",
        "SET-4",
        "hooks",
        "What a start hook says to a fork is put on top of what it said to the source.",
        rules=lambda rules: replace(rules, start_context=lambda inherited, own: (*inherited, *own)),
    ),
    Mutant(
        "start-context-dropped",
        "SET-4",
        "hooks",
        "A start hook of a fork runs, and what it says is lost.",
        rules=lambda rules: replace(rules, start_context=lambda inherited, own: () if inherited else own),
    ),
    Mutant(
        "hook-told-the-source",
        "OPS-6",
        "hooks",
        "The start hook of a fork is told its source's id in place of its own.",
        rules=lambda rules: replace(rules, start_told=_told_the_source),
    ),
    Mutant(
        "hook-not-told-of-the-fork",
        "SET-5",
        "hooks",
        "The start hook of a fork is told neither its source nor that it is a fork.",
        rules=lambda rules: replace(rules, start_told=_told_nothing_of_the_fork),
    ),
    Mutant(
        "hook-can-not-cancel",
        "OPS-4",
        None,
        "A fork that a hook cancels is made all the same.",
        rules=lambda rules: replace(rules, cancelled=lambda _reason: None),
    ),
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
        rules=_inheriting(_reset("permissions")),
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
)
