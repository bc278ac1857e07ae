"""Faults of the first reference that random programs must find: one rule changed, or one method of the harness."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from forkproof.reference import project, repair
from forkproof.reference.compact import Plan, plan
from forkproof.reference.cut import Place, boundary, cut
from forkproof.reference.entries import Answered, Checkpoint, Entry, ToolEnded, TurnEnded, UserSaid
from forkproof.reference.fork import fork
from forkproof.reference.harness import Harness
from forkproof.reference.inherit import Setting, inherit
from forkproof.reference.navigate import Selected
from forkproof.reference.permissions import need
from forkproof.reference.reading import behind
from forkproof.reference.refusal import Refusal
from forkproof.reference.rules import RULES, Rules
from forkproof.reference.wording import UNKNOWN_RESULT

__all__ = ["FAULTS", "QUICK", "Fault"]

Fault = tuple[Rules, type[Harness]]


def _places(rule: Callable[..., Any], change: Callable[[Place], Place]) -> Callable[..., Any]:
    """A rule that finds a place, and then another one."""

    def changed(*given: Any) -> Place | Refusal:
        found: Place | Refusal = rule(*given)
        return found if isinstance(found, Refusal) else change(found)

    return changed


def _with_the_message(leaf: Entry | None, point: Any, turns: Mapping[str, Entry]) -> Place | Refusal:
    found = cut(leaf, point, turns)
    if point.kind != "before" or isinstance(found, Refusal):
        return found
    return found._replace(leaf=turns[point.turn])


def _without_the_end(place: Place) -> Place:
    """Of a cut after a turn, the end of the turn and its last word are left out."""
    leaf = place.leaf
    if "after" in place.applied and leaf is not None and leaf.parent is not None:
        return place._replace(leaf=leaf.parent.parent)
    return place


def _anywhere(leaf: Entry | None, point: Any, turns: Mapping[str, Entry]) -> Place | Refusal:
    """A cut before a turn of any session."""
    if point.kind == "before" and point.turn in turns:
        first = turns[point.turn]
        text = first.body.text if isinstance(first.body, UserSaid) else ""
        return Place(first.parent, {"before": point.turn}, text)
    return cut(leaf, point, turns)


def _running_too(leaf: Entry | None, point: Any, turns: Mapping[str, Entry]) -> Place | Refusal:
    """A cut after a turn that still runs is taken where it is."""
    if point.kind == "after" and leaf is not None and leaf.turn == point.turn:
        return Place(leaf, {"after": point.turn})
    return cut(leaf, point, turns)


def _newest_summary_forgotten(leaf: Entry | None) -> list[Entry]:
    return [entry for entry in project.full_path(leaf) if not isinstance(entry.body, Checkpoint)]


def _tail_forgotten(leaf: Entry | None) -> list[Entry]:
    shown = project.active(leaf)
    if not shown or not isinstance(shown[0].body, Checkpoint):
        return shown
    return [shown[0], *(entry for entry in shown[1:] if entry.depth > shown[0].depth)]


def _older_summaries_too(leaf: Entry | None) -> list[Entry]:
    shown = project.active(leaf)
    older = [e for e in project.full_path(leaf) if isinstance(e.body, Checkpoint) and e not in shown]
    return [*older, *shown]


def _kept_one_more(active: Any, retained: int) -> Plan | None:
    return plan(active, retained + 1)


def _results_forgotten(entries: Any) -> Any:
    return [message for message in repair.pair(entries) if message.role != "tool"]


def _only_known_results(entries: Any) -> Any:
    """Calls that never ended are not answered."""
    return [
        m for m in repair.pair(entries) if m.role != "tool" or getattr(m.parts[0], "response", "") != UNKNOWN_RESULT
    ]


def _paired_by_id(entries: Any) -> Any:
    """A result goes to the first call of its id, in whatever turn."""
    entries = list(entries)
    first: dict[str, Entry] = {}
    for entry in entries:
        if isinstance(entry.body, ToolEnded):
            first.setdefault(entry.body.call, entry)
    return repair.pair([first[e.body.call] if isinstance(e.body, ToolEnded) else e for e in entries])


def _as_they_ended(entries: Any) -> Any:
    """Results stand in the order in which the calls ended."""
    return [entry.message for entry in entries if entry.message is not None]


def _unmarked(entries: Any) -> Any:
    return repair.pair([e for e in entries if not isinstance(e.body, TurnEnded)])


def _failures_forgotten(entries: Any) -> Any:
    """A turn that failed is not sent."""
    entries = list(entries)
    failed = {e.turn for e in entries if isinstance(e.body, TurnEnded) and e.body.stop == "failed"}
    return repair.pair([e for e in entries if e.turn not in failed or isinstance(e.body, Answered | ToolEnded)])


def _source_wins(source: Any, overrides: Any, *given: Any) -> dict[str, Setting]:
    return {**inherit(source, overrides, *given), **{name: Setting(value, "cut") for name, value in source.items()}}


def _defaults_for_all(source: Any, overrides: Any, *given: Any) -> dict[str, Setting]:
    del source, given
    return inherit({}, overrides)


def _named_as_default(source: Any, overrides: Any, *given: Any) -> dict[str, Setting]:
    return {
        name: setting._replace(origin="default") if setting.origin == "cut" else setting
        for name, setting in inherit(source, overrides, *given).items()
    }


def _revision_of_the_child(*given: Any) -> Any:
    child = fork(*given)
    leaf = child.session.leaf
    return child._replace(record=child.record._replace(revision="empty" if leaf is None else leaf.id))


def _no_lineage_for_an_empty_prefix(*given: Any) -> Any:
    child = fork(*given)
    if child.session.leaf is None:
        child.session.header = child.session.header._replace(lineage=None)
    return child


def _root_as_source(id_: str, source: Any, *given: Any) -> Any:
    child = fork(id_, source, *given)
    lineage = source.header.lineage
    return child if lineage is None else child._replace(record=child.record._replace(source=lineage.source))


def _checkpoint_of_the_source(id_: str, source: Any, *given: Any) -> Any:
    child = fork(id_, source, *given)
    newest = [e.id for e in project.full_path(source.leaf) if isinstance(e.body, Checkpoint)][-1:]
    return child._replace(record=child.record._replace(checkpoint=newest[0] if newest else "none"))


def _behind_the_message(entry: Entry) -> Selected:
    return Selected(entry, entry.body.text if isinstance(entry.body, UserSaid) else "")


def _everything_left(old: Entry | None, new: Entry | None) -> list[Entry]:
    del new
    return project.full_path(old)


def _edits_forgotten(context: Any, leaf: Entry | None) -> Any:
    del leaf
    return context


def _no_label_carried(labels: Any, leaf: Entry | None) -> list[Any]:
    del labels, leaf
    return []


def _from_the_cursor_on(entries: Any, cursor: str) -> Any:
    found = behind(entries, cursor)
    return found if isinstance(found, Refusal) else [entry for entry in entries if entry in found or entry.id == cursor]


def _only_the_path(session: Any) -> list[Entry]:
    return project.full_path(session.leaf)


def _as_it_began(header: Any, leaf: Entry | None) -> Any:
    del leaf
    return header.settings


def _never_asks(mode: str, tool: str) -> Any:
    found = need(mode, tool)
    return "run" if found == "ask" else found


class _SharesSnapshots(Harness):
    """An isolated workspace gets the source's directory under its own name: later changes of one show in the other."""

    def _workspace_for(self, source: Any, request: Any) -> Any:
        made = super()._workspace_for(source, request)
        if made == "isolated":
            self.machine._workspaces[request.directory] = self.machine.workspace(source.header.directory)
        return made


class _StopsTheSource(Harness):
    """A fork interrupts its source."""

    async def fork(self, id_: str, *given: Any) -> Any:
        await self.cancel(id_)
        return await super().fork(id_, *given)


class _MovesTheSource(Harness):
    """A fork takes its source to the place of the cut."""

    def _make_child(self, source: Any, place: Place, *given: Any) -> Any:
        made = super()._make_child(source, place, *given)
        source.leaf = place.leaf
        return made


def _rules(**changed: Any) -> Fault:
    return replace(RULES, **changed), Harness


FAULTS: Final[Mapping[str, Fault]] = {
    "a cut before a message keeps the message": _rules(cut=_with_the_message),
    "a cut after a turn loses its last word": _rules(cut=_places(cut, _without_the_end)),
    "a cut may name a turn of another session": _rules(cut=_anywhere),
    "a cut after a running turn is taken": _rules(cut=_running_too),
    "a cut between calls and results is taken as it is": _rules(pair_safe=lambda place, _leaf, _choice: place),
    "the text that was left out is not given back": _rules(cut=_places(cut, lambda place: place._replace(editor=""))),
    "a busy source's fork says that it took the head": _rules(
        boundary=_places(boundary, lambda place: place._replace(applied={"head": True}))
    ),
    "an interrupted turn is not marked in the child": _rules(
        boundary=_places(boundary, lambda place: place._replace(open_turn=""))
    ),
    "a compaction has no effect": _rules(active=_newest_summary_forgotten),
    "a compaction keeps no turn word for word": _rules(active=_tail_forgotten),
    "every older summary is sent again": _rules(active=_older_summaries_too),
    "a compaction covers one turn less": _rules(plan=_kept_one_more),
    "no result is sent": _rules(pair=_results_forgotten),
    "a call that never ended has no result": _rules(pair=_only_known_results),
    "a call id that is used again gets the old result": _rules(pair=_paired_by_id),
    "results stand in the order in which they came": _rules(pair=_as_they_ended),
    "no turn is marked as interrupted": _rules(pair=_unmarked),
    "a failed turn leaves the history": _rules(pair=_failures_forgotten),
    "a setting given with the fork loses": _rules(inherit=_source_wins),
    "a child has the defaults": _rules(inherit=_defaults_for_all),
    "a setting's origin is wrong": _rules(inherit=_named_as_default),
    "the record names the child's revision": _rules(fork=_revision_of_the_child),
    "an empty prefix has no lineage": _rules(fork=_no_lineage_for_an_empty_prefix),
    "a fork of a fork names the first source": _rules(fork=_root_as_source),
    "the record names the source's checkpoint": _rules(fork=_checkpoint_of_the_source),
    "a message that was selected is not sent again but gone on from": _rules(select=_behind_the_message),
    "a summary covers more than the branch that was left": _rules(left_behind=_everything_left),
    "an edit of the context has no effect": _rules(shown=_edits_forgotten),
    "a fork loses its labels": _rules(carried=_no_label_carried),
    "a listing since an entry holds that entry": _rules(behind=_from_the_cursor_on),
    "branches that were left are not listed": _rules(listing=_only_the_path),
    "a change of settings has no effect": _rules(in_force=_as_it_began),
    "nobody is asked": _rules(need=_never_asks),
    "a snapshot is shared": (RULES, _SharesSnapshots),
    "a fork stops its source": (RULES, _StopsTheSource),
    "a fork moves its source": (RULES, _MovesTheSource),
}
"""What is wrong -> the rules and the harness that do it."""

QUICK: Final = (
    "a cut after a turn loses its last word",
    "no turn is marked as interrupted",
    "a failed turn leaves the history",
    "no result is sent",
    "results stand in the order in which they came",
    "a setting given with the fork loses",
    "a child has the defaults",
    "a setting's origin is wrong",
    "the record names the child's revision",
    "an empty prefix has no lineage",
    "a fork stops its source",
    "a fork moves its source",
    "branches that were left are not listed",
    "a change of settings has no effect",
)
"""Those that a few programs find, which CI looks for; `tox -e deep` looks for all of them."""
