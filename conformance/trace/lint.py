"""The linter: is a trace well made? Everything that can be said without playing it. Source: design section 3."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from forkproof.conformance.contract import Contract, load_contract
from forkproof.conformance.trace import (
    lint_authority,
    lint_checks,
    lint_durable,
    lint_files,
    lint_names,
    lint_needs,
    lint_provider,
    lint_story,
    lint_tree,
)
from forkproof.conformance.trace.fault import Fault, StepCheck, Story
from forkproof.conformance.trace.load import LoadedTrace, load, slug_of
from forkproof.conformance.trace.model import Trace
from forkproof.conformance.trace.names import names_of
from forkproof.conformance.trace.place import Place
from forkproof.conformance.trace.problem import Problem, TraceError

__all__ = ["lint", "lint_files_at"]

_Rule: TypeAlias = Callable[[Story], Iterator[Fault]]

_RULES: tuple[_Rule, ...] = (
    lint_names.clauses,
    lint_names.sources,
    lint_names.duplicates,
    lint_names.step_names,
    lint_names.shared_ids,
    lint_names.expected_names,
    lint_tree.tree_steps,
    lint_tree.tree_items,
    lint_provider.provider_names,
    lint_needs.capabilities,
    lint_needs.policies,
    lint_needs.choices,
    lint_checks.checks_something,
    lint_checks.fitting,
    lint_checks.record_fields,
    lint_checks.vacuous,
    lint_checks.contradictions,
    lint_files.paths,
    lint_files.commands,
    lint_authority.answers,
    lint_authority.hooks,
    lint_authority.recorded_settings,
    lint_authority.vacuous_questions,
    lint_story.flow,
    lint_story.endings,
    lint_story.absent_sessions,
    lint_durable.stored,
    lint_durable.restarted,
)
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]*(/[a-z0-9][a-z0-9-]*)*")


def lint(loaded: LoadedTrace, contract: Contract | None = None) -> list[Problem]:
    """Every problem of one trace, in the order of its file. Without a contract, the shipped one."""
    story = _story(loaded.trace, contract or load_contract())
    faults = (fault for rule in _RULES for fault in rule(story))
    found = {_problem(fault, loaded.positions, str(loaded.path)) for fault in faults}
    return sorted(found)


def lint_files_at(paths: Iterable[Path], root: Path | None = None) -> list[Problem]:
    """Every problem of these files, file by file, those that can't be loaded among them; slugs are compared too."""
    problems: list[Problem] = []
    slugs: dict[str, Path] = {}
    for path in paths:
        slug = slug_of(path, root)
        if not _SLUG.fullmatch(slug):
            message = f"{slug!r} can't begin a check's id: lower-case letters, digits and hyphens, folders by `/`"
            problems.append(Problem(str(path), 1, 1, "FPL070", message))
        elif slug in slugs:
            problems.append(Problem(str(path), 1, 1, "FPL071", f"{slugs[slug]} has the slug `{slug}` already"))
        slugs.setdefault(slug, path)
        try:
            problems += lint(load(path, root))
        except TraceError as error:
            problems += error.problems
    return problems


def _story(trace: Trace, contract: Contract) -> Story:
    checks = tuple(
        StepCheck(index, step, clause, expectation, ("steps", index, "expect", number, clause))
        for index, step in enumerate(trace.steps)
        for number, entry in enumerate(step.expect)
        for clause, expectation in entry.items()
    )
    return Story(trace, names_of(trace), contract, checks)


def _problem(fault: Fault, top: Place, file: str) -> Problem:
    place = top.key(fault.path) if fault.key else top.at(fault.path)
    return Problem(file, place.line, place.column, fault.code, fault.message)
