"""Mutants that lose settings over a fork, a restart or a way back in the tree. Clauses SET, REC-7, NAV-10."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from forkproof.reference.entries import Entry, SettingsChanged, newest_change
from forkproof.reference.inherit import DEFAULTS, Setting, Value, inherit
from forkproof.reference.mutants.inheritance import Values, inheriting, reset
from forkproof.reference.mutants.mutant import Mutant
from forkproof.reference.restore import Stored, restore
from forkproof.reference.rules import Rules
from forkproof.reference.session import Header
from forkproof.reference.settings import in_force, offered
from forkproof.reference.store import Row
from forkproof.reference.tools import TOOLS

__all__ = ["MUTANTS"]


def _in_force(rule: Callable[[Header, Entry | None], Mapping[str, Value]]) -> Callable[[Rules], Rules]:
    return lambda rules: replace(rules, in_force=rule)


def _latest_as_cut(source: Values, overrides: Values, latest: Values, *_rest: object) -> dict[str, Setting]:
    """What the source has now, said to be of the cut."""
    del source
    return inherit(latest, overrides)


def _overrides_dropped(source: Values, overrides: Values, *rest: object) -> dict[str, Setting]:
    found: dict[str, Setting] = inherit(source, {}, *rest)  # type: ignore[arg-type]  # passed through
    return found | {name: found[name] for name in overrides if name in found}


def _origins_dropped(source: Values, overrides: Values, *rest: object) -> dict[str, Setting]:
    found: dict[str, Setting] = inherit(source, overrides, *rest)  # type: ignore[arg-type]  # passed through
    return {name: Setting(setting.value, "default") for name, setting in found.items()}


def _effort_unstated(source: Values, overrides: Values, *rest: object) -> dict[str, Setting]:
    found: dict[str, Setting] = inherit(source, overrides, *rest)  # type: ignore[arg-type]  # passed through
    return {name: setting for name, setting in found.items() if name != "effort"}


def _override_until_told(header: Header, leaf: Entry | None) -> Mapping[str, Value]:
    """What was given with a fork is stated and then not used."""
    values = in_force(header, leaf)
    if header.begun is not None and header.begun.given:
        return {**values, **in_force(header.begun.source, header.begun.leaf)}
    return values


def _from_events_only(header: Header, leaf: Entry | None) -> Mapping[str, Value]:
    """Settings are rebuilt from what was written on the path, so those of the session's creation are gone."""
    if leaf is None or newest_change(leaf) is not None or header.lineage is None:
        values = in_force(header, leaf)
        return values if header.lineage is None and leaf is not None else {**values, **DEFAULTS}
    return in_force(header, leaf)


def _offers_all(settings: Values) -> tuple[str, ...]:
    del settings
    return TOOLS


def _runs_nothing_chosen(settings: Values) -> tuple[str, ...]:
    """The first of the tools that were chosen is shown and can't be run."""
    return offered(settings)[1:] if "tools" in settings else offered(settings)


def _never_taken_back(*names: str) -> Callable[[Header, Entry | None], Mapping[str, Value]]:
    """What a session chose last stays in force, also where the session was moved to before that."""
    newest: dict[str, dict[str, Value]] = {}

    def rule(header: Header, leaf: Entry | None) -> Mapping[str, Value]:
        values, change = in_force(header, leaf), newest_change(leaf)
        if change is not None and isinstance(change.body, SettingsChanged) and change.body.session == header.id:
            newest[header.id] = {name: values[name] for name in names if name in values}
        return {**values, **newest.get(header.id, {})}

    return rule


def _given_lost(rows: Sequence[Row]) -> Stored:
    """A restart forgets what was given with a fork, and takes the source's settings."""
    stored = restore(rows)
    for session in stored.sessions.values():
        header = session.header
        if header.begun is not None:
            session.header = header._replace(settings=in_force(header.begun.source, header.begun.leaf))
    return stored


MUTANTS: Final = (
    Mutant(
        "model-reset",
        "SET-1",
        "settings-lost",
        "A fork runs the default model and effort, whatever its source was switched to.",
        rules=inheriting(reset("model", "effort")),
    ),
    Mutant(
        "tools-reset",
        "SET-1",
        "settings-lost",
        "A fork has every tool again, also those that its source was not given.",
        rules=inheriting(reset("tools")),
    ),
    Mutant(
        "latest-settings-as-cut",
        "SET-8",
        "settings-stale",
        "A fork has its source's newest settings, and says that they are those of the cut.",
        rules=inheriting(_latest_as_cut),
    ),
    Mutant(
        "override-dropped",
        "SET-2",
        "settings-lost",
        "What was given with a fork is forgotten, the source's settings are used.",
        rules=inheriting(_overrides_dropped),
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
        rules=inheriting(_origins_dropped),
    ),
    Mutant(
        "effort-not-stated",
        "REC-7",
        "settings-lost",
        "The reasoning level is missing in the record of a fork.",
        rules=inheriting(_effort_unstated),
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
        "mode-not-taken-back",
        "SET-7",
        "abandoned-branch-leak",
        "A permission mode that was rewound with its turn is still in force.",
        rules=lambda rules: replace(rules, in_force=_never_taken_back("permissions")),
    ),
    Mutant(
        "model-not-taken-back",
        "NAV-10",
        "abandoned-branch-leak",
        "Going back in the tree keeps the newest model and effort.",
        rules=lambda rules: replace(rules, in_force=_never_taken_back("model", "effort")),
    ),
    Mutant(
        "override-lost-in-a-restart",
        "SET-2",
        "settings-lost",
        "After a restart a fork has its source's settings in place of those given with it.",
        rules=lambda rules: replace(rules, restore=_given_lost),
    ),
)
