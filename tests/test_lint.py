"""The linter: each code on a bad trace of its own with the exact words, silence on the good ones.

Every file in tests/bad ends with what the linter must say of it, `#= LINE:COLUMN: CODE message` a line.
"""

from __future__ import annotations

import random
import re
import textwrap
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forkproof.conformance.contract import load_contract
from forkproof.conformance.trace.codes import RULES
from forkproof.conformance.trace.lint import lint, lint_files_at
from forkproof.conformance.trace.lint_files import why_not
from forkproof.conformance.trace.load import LoadedTrace, TraceError, discover, load_bytes, shipped_root
from forkproof.conformance.trace.steps import STEP_KEYS
from forkproof.conformance.trace.tools import TOOLS
from forkproof.conformance.vocabulary import POLICIES

BAD = Path(__file__).parent / "bad"
DOCUMENTED = Path(__file__).parents[1] / "docs" / "trace-language.md"


def bad_files() -> list[Path]:
    return sorted(BAD.iterdir())


def wanted(path: Path) -> list[str]:
    """What the file itself says that the linter must say; $STEPS, $POLICIES and $TOOLS stand for all that there are."""
    said = path.read_text(encoding="utf-8")
    for word, names in (("$STEPS", STEP_KEYS), ("$POLICIES", POLICIES)):
        said = said.replace(word, ", ".join(names))
    said = said.replace("$TOOLS", f"{', '.join(TOOLS[:-1])} or {TOOLS[-1]}")
    return re.findall(r"^#= (.*)$", said, re.MULTILINE)


@cache
def found() -> dict[str, list[str]]:
    """What the linter says of each bad file, all of them looked at together."""
    said: dict[str, list[str]] = {}
    for problem in lint_files_at(bad_files(), BAD):
        line = f"{problem.line}:{problem.column}: {problem.code} {problem.message.replace(f'{BAD}/', '')}"
        said.setdefault(problem.file, []).append(line)
    return said


def codes(text: str) -> list[str]:
    return [p.code for p in lint(load_bytes(textwrap.dedent(text).encode(), slug="t"))]


@pytest.mark.parametrize("path", bad_files(), ids=lambda p: p.name)
def test_says_just_this_of_a_bad_trace(path: Path) -> None:
    """Place, code and words are those that the file asks for, and there is nothing else.

    Of YAML's own errors (FPL002) place and code are compared: their words are the YAML library's.
    """
    said = found().get(str(path), [])
    assert _without_yaml_words(said) == _without_yaml_words(wanted(path))


def _without_yaml_words(lines: list[str]) -> list[str]:
    return [line.partition("FPL002")[0] + "FPL002" if " FPL002 " in line else line for line in lines]


def test_every_code_has_a_bad_trace() -> None:
    """No code without an example, none in an example that the table does not have.

    FPL045 needs mutants to be played; `test_unfailable` has its example.
    """
    shown = {line.split()[1] for path in bad_files() for line in wanted(path)}
    assert shown == set(RULES) - {"FPL045"}


def test_the_shipped_traces_are_clean() -> None:
    """What forkproof plays is well made by its own rules."""
    assert [str(problem) for problem in lint_files_at(discover())] == []


def test_the_documentation_lists_the_codes() -> None:
    """docs/trace-language.md has the table that the code has, word for word."""
    rows = [line for line in DOCUMENTED.read_text(encoding="utf-8").splitlines() if line.startswith("| FPL")]
    assert rows == [f"| {rule.code} | {rule.title} | {rule.advice} |" for rule in RULES.values()]


def test_the_documentation_shows_a_good_trace() -> None:
    """The example that newcomers copy loads and lints clean."""
    first = re.search(r"\n\n((?:    .*\n)+)", DOCUMENTED.read_text(encoding="utf-8"))
    assert first is not None
    assert codes(first[1]) == []


# --- rules that need more than one example ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "ok"),
    [
        ("a.txt", True),
        ("src/a b/ü.txt", True),
        (".hidden", True),
        ("a..b", True),
        ("...", True),
        ("/a", False),
        ("a/../b", False),
        ("..", False),
        (".", False),
        ("./a", False),
        ("a/", False),
        ("a//b", False),
        ("a\\b", False),
        ("a\nb", False),
        ("-f", False),
        ("~/a", False),
    ],
)
def test_knows_which_paths_stay_inside(path: str, ok: bool) -> None:
    """A path is relative, has plain parts, and means the same to every shell."""
    assert (why_not(path) is None) == ok


FORK = """
    trace: 1
    title: A fork of a busy source
    needs: [fork.head, tool.wait]
    steps:
      - turn: slow
        user: Wait.
        model: [{{call: job, wait: release}}, {{say: Done.}}]
        until: job.started
      - fork: alt
        head: true
        expect:
          - SNAP-4: {{when: {{busy_source: {first}}}, requests: 0}}
          - SNAP-4: {{when: {{busy_source: {second}}}, requests: 0}}
        {unless}
      - release: job
      - await: slow
"""


@pytest.mark.parametrize(
    ("first", "second", "unless", "said"),
    [
        ("refuse", "[wait, last-committed, interrupt]", "", []),
        ("refuse", "[wait, last-committed]", "", ["FPL034"]),
        ("refuse", "[wait, last-committed]", "unless: {busy_source: interrupt}", []),
        ("refuse", "[wait, last-committed, interrupt]", "unless: {busy_source: refuse}", ["FPL041"]),
    ],
)
def test_every_choice_of_a_policy_is_spoken_of(first: str, second: str, unless: str, said: list[str]) -> None:
    """By one expectation or another, or by leaving the step out; and no expectation for a case that is left out."""
    assert codes(FORK.format(first=first, second=second, unless=unless)) == said


TURN = """
    trace: 1
    title: What a turn's requests can hold
    needs: [tool.run, tool.together, tool.read]
    files: {a.txt: x}
    steps:
      - turn: a
        user: Go.
        model:
          - {say: First.}
          - {call: one, run: pwd}
          - together: [{call: two, read: a.txt}, {call: three, run: ls}]
          - {say: Last.}
        expect:
          - CUT-1: {%s}
"""


@pytest.mark.parametrize(
    ("expectation", "said"),
    [
        ("prompt: [a.user]", []),
        ("prompt: [a.user, a.say]", ["FPL042"]),
        ("prompt_lacks: [one.call]", ["FPL041"]),
        ("last_prompt: [a.user, a.say, one.call, one.result, two.call, three.call, two.result, three.result]", []),
        ("last_prompt: [a.user, a.say.2]", ["FPL042"]),
        ("result: {two: done}", ["FPL042"]),
        ("prompt: [a.user.2]", ["FPL021"]),
        ("prompt: [a.say.3]", ["FPL021"]),
    ],
)
def test_knows_what_a_request_can_hold(expectation: str, said: list[str]) -> None:
    """The first request holds the user's words, the last one all but the last answer."""
    assert codes(TURN % expectation) == said


def test_a_session_needs_its_whole_line() -> None:
    """A control run without a fork has none of the sessions that descend from it."""
    trace = """
        trace: 1
        title: A fork of a fork
        needs: [fork.head]
        steps:
          - {fork: first, head: true}
          - {fork: second, in: first, head: true}
          - check: second
            expect:
              - ISO-1: {same_next_prompt_without: [first]}
    """
    assert codes(trace) == ["FPL042"]


def test_a_turn_may_end_in_two_ways() -> None:
    """A step that is left out under a policy may or may not have ended the turn: what comes after it is no fault."""
    trace = """
        trace: 1
        title: A turn that is cancelled, or let go, as the policy has it
        needs: [cancel, tool.wait]
        steps:
          - turn: slow
            user: Wait.
            model: [{{call: job, wait: release}}, {{say: Done.}}]
            until: job.started
          - cancel: main
            {first}
          - release: job
            {second}
          - await: slow
            {second}
            expect:
              - TOOL-1: {{stop: end_turn}}
    """
    cancelled, awaited = "unless: {busy_source: wait}", "unless: {busy_source: [refuse, last-committed, interrupt]}"
    assert codes(trace.format(first=cancelled, second=awaited)) == []
    assert codes(trace.format(first="", second=awaited)) == ["FPL061", "FPL061"]


def test_import_need_not_be_declared() -> None:
    """A history can be played live, so `import` is asked for only where a trace can't do without."""
    trace = """
        trace: 1
        title: An imported history
        needs: [{needs}]
        import:
          - {{turn: one, at: 1, user: Hello., say: Hi.}}
        steps:
          - turn: two
            user: Go on.
            model: [{{say: Going.}}]
            expect:
              - CUT-4: {{prompt: [one.user, one.say, two.user]}}
    """
    assert codes(trace.format(needs="")) == []
    assert codes(trace.format(needs="import")) == []


def test_takes_another_contract() -> None:
    """Clauses are looked up in the contract that is given, so a later revision can be linted against."""
    loaded = load_bytes(next(iter(discover())).read_bytes(), slug="t")
    smaller = type(load_contract())(2, {}, {}, "")
    assert {p.code for p in lint(loaded, smaller)} == {"FPL020"}


@cache
def sources() -> tuple[str, ...]:
    return tuple(path.read_text(encoding="utf-8") for path in discover([shipped_root()]))


@given(st.integers(0, 2**32))
def test_a_loadable_trace_never_breaks_the_linter(seed: int) -> None:
    """Words of a good trace exchanged for others of it: where it still loads, problems lie inside the file."""
    chance = random.Random(seed)  # noqa: S311  # a test's own dice
    text = chance.choice(sources())
    words = sorted(set(re.findall(r"[a-z][a-z.-]+", text)))
    for _ in range(chance.randrange(1, 4)):
        old, new = chance.choice(words), chance.choice(words)
        text = re.sub(rf"\b{re.escape(old)}\b", new, text, count=chance.randrange(3))
    loaded: LoadedTrace | None = None
    try:
        loaded = load_bytes(text.encode(), slug="t")
    except TraceError:
        return
    lines = text.count("\n") + 1
    assert all(1 <= p.line <= lines and p.code in RULES and str(p).isprintable() for p in lint(loaded))
