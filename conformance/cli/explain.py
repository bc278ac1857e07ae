"""`forkproof explain`: what a clause, a check, a code or a word of the language means, and where it comes from."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import click

from forkproof.conformance.cli.wording import fail

if TYPE_CHECKING:
    from forkproof.conformance.contract import Clause
    from forkproof.conformance.trace.checks import Check
    from forkproof.conformance.trace.load import LoadedTrace

__all__ = ["explain"]

_WIDTH = 100

_EXAMPLES = """\b
Examples:
  forkproof explain CUT-1                                what a clause asks, and which traces prove it
  forkproof explain cut/edit-then-fork-shared::CUT-1     what one check looks at
  forkproof explain FPL034                               a code of the linter
  forkproof explain not-installed                        an error of a harness
  forkproof explain busy_source                          a policy; capabilities and areas too
"""


@click.command(epilog=_EXAMPLES)
@click.argument("word", metavar="CLAUSE|CHECK|CODE|WORD")
def explain(word: str) -> None:
    """Explain a clause, a check, a trace, a lint or error code, an area, a capability, a policy or a mutant."""
    for source in (_clause, _area, _lint_code, _error_code, _capability, _policy, _check, _trace, _mutant):
        told = source(word)
        if told is not None:
            click.echo(told)
            return
    fail(f"nothing is known of {word!r}{_hint(word)}")


# --- the contract -----------------------------------------------------------------------------------------------------


def _clause(word: str) -> str | None:
    from forkproof.conformance.cli.catalogue import cited, loaded_traces
    from forkproof.conformance.contract import load_contract

    clause = load_contract().clauses.get(word.upper())
    if clause is None:
        return None
    checks = cited(loaded_traces()).get(clause.id, [])
    proved = [f"  {check.id}" for check in checks] or ["  none yet"]
    return "\n".join([*_told(clause), "", "Proved by:", *proved])


def _told(clause: Clause) -> list[str]:
    sources = ", ".join(clause.sources) or "our own"
    return [
        f"{clause.id}  {clause.level}, {clause.profile}  ({clause.area_title})",
        "",
        *_wrapped(clause.text),
        "",
        *_wrapped(f"Sources: {sources}"),
    ]


def _area(word: str) -> str | None:
    from forkproof.conformance.contract import load_contract

    contract = load_contract()
    title = contract.areas.get(word.upper())
    if title is None:
        return None
    clauses = [c for c in contract.clauses.values() if c.area == word.upper()]
    return "\n".join([title, "", *(f"  {c.id:8} {c.level:6} {c.text}" for c in clauses)])


# --- traces and checks ------------------------------------------------------------------------------------------------


def _check(word: str) -> str | None:
    if "::" not in word:
        return None
    from forkproof.conformance.contract import load_contract
    from forkproof.conformance.invariants import INVARIANTS, InvariantCheck, all_checks

    loaded = _shipped(word.partition("::")[0])
    check = loaded and next((c for c in all_checks(loaded) if c.id == word), None)
    if not loaded or not check:
        return None
    clause = load_contract().clauses[check.clause]
    head = [check.id, "", *_wrapped(loaded.trace.title), f"{check.file}:{check.line}", "", *_told(clause)]
    if isinstance(check, InvariantCheck):
        asked = f"An invariant, judged on every request of the trace, whatever it expects: {INVARIANTS[check.clause]}."
        return "\n".join([*head, "", *_wrapped(asked)])
    return "\n".join([*head, "", "The step:", "", *_step_lines(loaded, check)])


def _step_lines(loaded: LoadedTrace, check: Check) -> list[str]:
    """The step's own lines of the file."""
    lines = loaded.path.read_text(encoding="utf-8-sig").splitlines()
    begin = loaded.positions.at(("steps", check.step)).line
    following = loaded.positions.at(("steps",)).parts.get(check.step + 1)
    end = following.line - 1 if following else len(lines)
    return lines[begin - 1 : end]


def _trace(word: str) -> str | None:
    from forkproof.conformance.invariants import all_checks

    loaded = _shipped(word)
    if loaded is None:
        return None
    trace = loaded.trace
    facts = [f"From: {', '.join(trace.from_) or 'our own'}", f"Needs: {', '.join(trace.needs) or 'nothing'}"]
    checks = [f"  {check.id}" for check in all_checks(loaded)]
    return "\n".join([loaded.slug, "", *_wrapped(trace.title), str(loaded.path), "", *facts, "", "Checks:", *checks])


def _shipped(slug: str) -> LoadedTrace | None:
    from forkproof.conformance.cli.catalogue import loaded_traces

    return next((loaded for loaded in loaded_traces() if loaded.slug == slug), None)


# --- codes and words --------------------------------------------------------------------------------------------------


def _lint_code(word: str) -> str | None:
    from forkproof.conformance.trace.codes import RULES

    rule = RULES.get(word.upper())
    return "\n".join([f"{rule.code}  {rule.title}", "", *_wrapped(rule.advice)]) if rule else None


def _error_code(word: str) -> str | None:
    from forkproof.adapters.errors import codes
    from forkproof.reports.runlog import RunLogError, UnreadableRun, UnwritableRun

    records: dict[str, type[RunLogError]] = {error.code: error for error in (UnreadableRun, UnwritableRun)}
    if word in records:
        return "\n".join([f"{word}  the record of a run", "", *_wrapped(_meaning(records[word]))])
    known = codes()
    error = known.get(word)
    if error is None:
        return None
    return "\n".join([f"{word}  verdict {error.verdict}", "", *_wrapped(_meaning(error))])


def _meaning(error: type[Exception]) -> str:
    return " ".join((error.__doc__ or "").split())


def _capability(word: str) -> str | None:
    from forkproof.conformance.vocabulary import CAPABILITIES

    meaning = CAPABILITIES.get(word)
    return meaning and f"{word}  capability: {meaning}"


def _policy(word: str) -> str | None:
    from forkproof.conformance.vocabulary import POLICIES

    choices = POLICIES.get(word)
    if choices is None:
        return None
    return "\n".join([f"{word}  policy, one of:", "", *(f"  {c:16} {m}" for c, m in choices.items())])


def _mutant(word: str) -> str | None:
    from forkproof.reference.mutants import named
    from forkproof.reference.mutants.kinds import KINDS

    mutant = named(word)
    if mutant is None:
        return None
    reports = f"{mutant.kind}: {', '.join(KINDS[mutant.kind])}" if mutant.kind else "no public report shows it"
    head = f"{mutant.name}  mutant of the reference, breaks {mutant.clause}"
    return "\n".join([head, "", *_wrapped(mutant.summary), "", *_wrapped(f"Kind: {reports}")])


def _hint(word: str) -> str:
    """Among everything that can be explained, what was probably meant."""
    from forkproof.adapters.errors import codes
    from forkproof.conformance.cli.catalogue import loaded_traces
    from forkproof.conformance.contract import load_contract
    from forkproof.conformance.invariants import all_checks
    from forkproof.conformance.trace.codes import RULES
    from forkproof.conformance.trace.suggestion import did_you_mean, nearest
    from forkproof.conformance.vocabulary import CAPABILITIES, POLICIES
    from forkproof.reference.mutants import every

    traces = loaded_traces()
    slug = nearest(word.partition("::")[0], [trace.slug for trace in traces])
    checks = [check.id for trace in traces if trace.slug == slug for check in all_checks(trace)]
    contract = load_contract()
    mutants = [mutant.name for mutant in every()]
    words: Iterable[Mapping[str, object] | list[str]] = (
        contract.clauses, RULES, codes(), CAPABILITIES, POLICIES, [t.slug for t in traces], checks, mutants,
    )  # fmt: skip
    spelled: tuple[Callable[[str], str], ...] = (str, str.upper)
    near = [found for known in words for spell in spelled if (found := nearest(spell(word), list(known)))]
    return did_you_mean(word, near) or did_you_mean(word.upper(), near)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH)
