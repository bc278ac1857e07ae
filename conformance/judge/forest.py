"""Expectations on the tree reading: its paths from roots to leaves, and the labels on its nodes.

Source: clauses RD-4, TRE-1, TRE-2, LBL-1, LBL-2.
"""

from __future__ import annotations

from collections.abc import Mapping

from forkproof.adapters.model.markers import Markers
from forkproof.adapters.readings import TreeNode, TreeRead
from forkproof.conformance.judge.finding import Case, Finding, Rule, bad, ok
from forkproof.conformance.judge.records import named
from forkproof.conformance.judge.tree import answered
from forkproof.conformance.readings import names_in

__all__ = ["RULES"]


def paths(case: Case) -> Finding:
    """Every path from a root to a leaf, in any order of the paths. Nodes without items are a harness's own."""
    read = _tree(case)
    if isinstance(read, Finding):
        return read
    wanted = sorted(list(path) for path in case.expectation.paths or ())
    twice = len(read.nodes) - len({node.entry.id for node in read.nodes})
    if twice:
        return bad(f"{twice} nodes stand twice in the tree", wanted)
    names = {node.entry.id: _names(node, case) for node in read.nodes}
    seen = sorted(_paths(read.nodes, names))
    if seen == wanted:
        return ok({"paths": len(seen)}, wanted, seen)
    there = {name for path in seen for name in path}
    lost = sorted({name for path in wanted for name in path} - there)
    said = f"{', '.join(lost)} can't be reached from any root" if lost else "other paths lead from roots to leaves"
    return bad(said, wanted, seen)


def _paths(nodes: tuple[TreeNode, ...], names: Mapping[str, list[str]]) -> list[list[str]]:
    """The paths of items; a node that no root leads to is on none of them."""
    below: dict[str | None, list[str]] = {}
    for node in nodes:
        below.setdefault(node.under, []).append(node.entry.id)
    found: list[list[str]] = []
    inner: set[int] = set()
    # Each entry waits with the items above it and the number of the path that it would go on.
    waiting: list[tuple[str, list[str], int]] = [(root, [], -1) for root in below.get(None, [])]
    while waiting:
        id_, above, number = waiting.pop()
        path = above
        if names[id_]:
            path = [*above, *names[id_]]
            inner.add(number)
            found.append(path)
            number = len(found) - 1
        waiting.extend((child, path, number) for child in below.get(id_, []))
    return [path for number, path in enumerate(found) if number not in inner]


def labels(case: Case) -> Finding:
    """Every label that shows, by an item of the entry that bears it, each with the time at which it was set.

    All entries were there before a label that this very step sets, so its time is no earlier than theirs.
    """
    read = _tree(case)
    if isinstance(read, Finding):
        return read
    wanted = dict(case.expectation.labels or {})
    seen: dict[str, object] = {}
    wrong: list[str] = []
    newest = max((node.entry.at for node in read.nodes if node.entry.at is not None and _names(node, case)), default=0)
    for node in read.nodes:
        if node.label is None:
            continue
        held = _names(node, case)
        name = next((n for n in held if n in wanted), held[0] if held else node.entry.id)
        seen[name] = named(node.label, {}, case.part.nonce)
        if node.labelled_at is None:
            wrong.append(f"{name} does not say when its label was set")
        elif case.step.key == "label" and len(wanted) == 1 and node.labelled_at < newest:
            wrong.append(f"the label of {name} bears a time from before it was set")
    if seen != wanted:
        wrong.insert(0, f"labels show on {', '.join(map(str, seen)) or 'nothing'}")
    return bad("; ".join(wrong), wanted, seen) if wrong else ok({"nodes": len(read.nodes)}, wanted, seen)


def _tree(case: Case) -> TreeRead | Finding:
    return answered(case.step.readings.read.get("tree"), TreeRead)


def _names(node: TreeNode, case: Case) -> list[str]:
    return names_in(node.entry.message, Markers(case.part.nonce))


RULES: Mapping[str, Rule] = {
    "paths": paths,
    "labels": labels,
}
