"""Mutants in which what was left or rewound comes back: in forks, clones and settings. CUT-6, OPS-3, NAV-10, SET-7."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from forkproof.reference.cut import Place, Point, cut
from forkproof.reference.entries import Entry, SettingsChanged, newest_change
from forkproof.reference.fork import ForkRequest
from forkproof.reference.harness import Harness
from forkproof.reference.inherit import Value
from forkproof.reference.mutants.mutant import Mutant
from forkproof.reference.mutants.surgery import rebuilt
from forkproof.reference.project import full_path
from forkproof.reference.reading import listing
from forkproof.reference.record import Record
from forkproof.reference.refusal import Refusal
from forkproof.reference.rules import Rules
from forkproof.reference.session import Header

__all__ = ["MUTANTS"]


# --- what is copied ------------------------------------------------------------------------------------------------


def _mixed_in_by_time(leaf: Entry | None, point: Point, turns: Mapping[str, Entry]) -> Place | Refusal:
    found = cut(leaf, point, turns)
    if isinstance(found, Refusal) or leaf is None:
        return found
    path = full_path(found.leaf)
    own = {entry.stamp.session for entry in path}
    until = path[-1].stamp.at if path else 0
    left = [e for e in turns.values() if e not in path and e.stamp.session in own and e.stamp.at < until]
    return found._replace(leaf=rebuilt(sorted([*path, *left], key=lambda e: e.stamp.at))) if left else found


class _ClonesTheNewest(Harness):
    async def clone(self, id_: str, request: ForkRequest) -> Record | Refusal:
        session = self.session(id_)
        if session is None or not session.written:
            return await super().clone(id_, request)
        stood, session.leaf = session.leaf, session.written[-1]
        record = await super().clone(id_, request)
        session.leaf = stood
        return record


class _ClonesEverything(Harness):
    async def clone(self, id_: str, request: ForkRequest) -> Record | Refusal:
        session = self.session(id_)
        if session is None:
            return await super().clone(id_, request)
        stood, session.leaf = session.leaf, rebuilt(listing(session))
        record = await super().clone(id_, request)
        session.leaf = stood
        return record


# --- settings of what was left -------------------------------------------------------------------------------------


def _remembered(*names: str) -> Callable[[Rules], Rules]:
    """These settings stay as they were changed last, on whatever branch; each harness has a memory of its own."""

    def change(rules: Rules) -> Rules:
        newest: dict[str, SettingsChanged] = {}
        seen: set[str] = set()

        def rule(header: Header, leaf: Entry | None) -> dict[str, Value]:
            changed = newest_change(leaf)
            if changed is not None and changed.id not in seen and isinstance(changed.body, SettingsChanged):
                seen.add(changed.id)
                newest[header.id] = changed.body
            stale = newest[header.id].settings if header.id in newest else {}
            return {**rules.in_force(header, leaf), **{name: stale[name] for name in names if name in stale}}

        return replace(rules, in_force=rule)

    return change


MUTANTS: Final = (
    Mutant(
        "effort-of-the-branch-left",
        "NAV-10",
        "settings-stale",
        "After going back the model is asked with the effort and the tools of the branch that was left.",
        rules=_remembered("effort", "tools"),
    ),
    Mutant(
        "routed-by-rewound-turns",
        "SET-7",
        "abandoned-branch-leak",
        "A model that was chosen in turns that were rewound goes on answering.",
        rules=_remembered("model"),
    ),
    Mutant(
        "fork-mixes-in-what-was-left",
        "CUT-6",
        "abandoned-branch-leak",
        "A fork brings the messages of rewound and abandoned turns back, mixed in by their time.",
        rules=lambda rules: replace(rules, cut=_mixed_in_by_time),
    ),
    Mutant(
        "clone-takes-the-newest-entry",
        "OPS-3",
        "wrong-leaf",
        "A clone ends at the newest entry of the session, not where the session stands.",
        harness=_ClonesTheNewest,
    ),
    Mutant(
        "clone-takes-every-branch",
        "OPS-3",
        "abandoned-branch-leak",
        "A clone holds the entries of every branch, in the order in which they were written.",
        harness=_ClonesEverything,
    ),
)
