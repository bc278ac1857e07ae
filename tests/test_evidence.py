"""Evidence: what is judged is what is recorded, it comes back whole, and nothing in it varies from run to run."""

from __future__ import annotations

import asyncio
import copy
import json
import re
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from forkproof.adapters.errors import HarnessDied
from forkproof.adapters.inprocess import create
from forkproof.adapters.mutated import mutated
from forkproof.adapters.prompt import Message, Text
from forkproof.adapters.protocol import Adapter, Deadlines
from forkproof.conformance.contract import load_contract
from forkproof.conformance.evidence import evidence_of
from forkproof.conformance.evidence_aliases import Aliases
from forkproof.conformance.evidence_code import Coders, Tables
from forkproof.conformance.evidence_record import MalformedEvidence, read_evidence, write_evidence
from forkproof.conformance.invariants import Judged, all_checks
from forkproof.conformance.judge import judge
from forkproof.conformance.observation import Observation, PartSeen
from forkproof.conformance.trace.load import LoadedTrace, discover, load
from forkproof.conformance.trial import observe
from forkproof.conformance.verdict import CheckResult
from forkproof.reference.mutants import every

MUTANTS = 40
TRACES_A_MUTANT = 2
NATURAL = re.compile(r"\b(?:session|turn|entry|compaction)-\d+\b")


@pytest.fixture(scope="module")
def plans() -> list[tuple[LoadedTrace, tuple[Judged, ...]]]:
    return [(loaded, all_checks(loaded)) for loaded in map(load, discover())]


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


def seen(runner: asyncio.Runner, adapter: Adapter, loaded: LoadedTrace, wait: float = 30.0) -> Observation:
    return runner.run(observe(adapter, loaded.trace, loaded.slug, 5, Deadlines(wait, wait)))


def recorded(evidence: Observation) -> Observation:
    """The evidence through a line of JSON and back."""
    return read_evidence(json.loads(json.dumps(write_evidence(evidence), sort_keys=True)), evidence.slug,
                         evidence.description)  # fmt: skip


def same(one: Observation, other: Observation) -> bool:
    """Equal in all that is judged; two errors are the same if they say the same."""
    errors = [(str(o.error), type(o.error)) for o in (one, other)]
    return errors[0] == errors[1] and replace(one, error=None) == replace(other, error=None)


def told(result: CheckResult, aliases: Aliases) -> tuple[object, ...]:
    """A result as it reads when each id of the harness is told by its stable name."""
    whole = json.dumps([result.seen, result.expected, result.witness], sort_keys=True)
    for id_, name in sorted(aliases.table.items(), key=lambda pair: -len(pair[0])):
        whole = re.sub(rf"(?<![\w:-]){re.escape(id_)}(?![\w-])", name, whole)
    return result.id, result.verdict, result.step, whole


def check_one(observation: Observation, loaded: LoadedTrace, checks: tuple[Judged, ...]) -> tuple[CheckResult, ...]:
    """Evidence and record come to the very results of the observation; the results."""
    contract, evidence = load_contract(), evidence_of(observation)
    back = recorded(evidence)
    assert same(back, evidence)
    results = judge(loaded.trace, checks, evidence, contract)
    assert judge(loaded.trace, checks, back, contract) == results
    aliases = Aliases(observation)
    raw = judge(loaded.trace, checks, observation, contract)
    assert [told(r, aliases) for r in raw] == [told(r, aliases) for r in results]
    ids = NATURAL.search(json.dumps([[r.seen, r.witness] for r in raw]))
    assert ids or [r.fingerprint for r in raw] == [r.fingerprint for r in results]
    return results


def test_every_trace_on_the_reference_is_judged_by_its_record_alone(
    plans: list[tuple[LoadedTrace, tuple[Judged, ...]]], runner: asyncio.Runner
) -> None:
    """What comes back from the record is the evidence, and its results are those of the observation, whole."""
    verdicts = {
        r.verdict for loaded, checks in plans for r in check_one(seen(runner, create(), loaded), loaded, checks)
    }
    assert verdicts == {"PASS", "NOT_APPLICABLE"}


def test_failing_verdicts_come_back_too(
    plans: list[tuple[LoadedTrace, tuple[Judged, ...]]], runner: asyncio.Runner
) -> None:
    """The same on mutants, each with traces that ask for the clause that it breaks."""
    mutants = every()
    failing = 0
    for mutant in mutants[:: max(1, len(mutants) // MUTANTS)]:
        asking = [(loaded, c) for loaded, c in plans if any(each.clause == mutant.clause for each in c)]
        results: list[CheckResult] = []
        for loaded, checks in asking[:TRACES_A_MUTANT]:
            results += check_one(seen(runner, mutated(mutant), loaded, wait=2.0), loaded, checks)
        failing += any(r.verdict in {"FAIL", "WARN"} for r in results)
    assert failing >= MUTANTS // 2


def test_ids_of_another_run_leave_no_mark(
    plans: list[tuple[LoadedTrace, tuple[Judged, ...]]], runner: asyncio.Runner
) -> None:
    """A harness that gives other ids, all of them new in each run, leaves the same record byte for byte."""
    played = 0
    for loaded, _ in plans[::5]:
        observation = seen(runner, create(), loaded)
        one, other = (write_evidence(evidence_of(renamed(observation))) for _ in range(2))
        assert json.dumps(one) == json.dumps(other)
        played += bool(observation.main.sessions) and renamed(observation).main.sessions != observation.main.sessions
    assert played > len(plans) // 10


def renamed(observation: Observation) -> Observation:
    """The observation as a harness with random ids would have given it."""
    names: dict[str, str] = {}
    coder, tables = Coders({}).of(PartSeen), Tables()
    assert coder.encode is not None

    def part(seen: PartSeen) -> PartSeen:
        text = json.dumps(coder.encode(seen, tables)) if coder.encode else ""
        text = NATURAL.sub(lambda found: names.setdefault(found.group(), str(uuid.uuid4())), text)
        decoded: PartSeen = coder.decode(json.loads(text), tables, "part")
        return decoded

    controls = {without: part(each) for without, each in observation.controls.items()}
    return replace(observation, main=part(observation.main), controls=controls)


def test_private_texts_times_and_strange_ids_are_told_by_stable_names(runner: asyncio.Runner) -> None:
    """The trial's directory, times and ids that stand nowhere else become names; what is equal stays equal."""
    loaded = load(discover(["cut/edit-then-fork-shared"])[0])
    one, other = (said(seen(runner, create(), loaded), str(uuid.uuid4()), f"/tmp/{n}") for n in ("aa", "bb"))  # noqa: S108
    assert write_evidence(evidence_of(one)) == write_evidence(evidence_of(other))
    text = json.dumps(write_evidence(evidence_of(one)))
    assert "It is $TIME in $TRIAL/work, run id:" in text


def said(observation: Observation, run: str, root: str) -> Observation:
    """The observation with a text of the harness's own in each prompt."""
    note = Message("user", (Text(f"It is {time.strftime('%Y-%m-%d %H:%M:%S')} in {root}/work, run {run}"),))
    requests = tuple(
        replace(r, prompt=replace(r.prompt, messages=(note, *r.prompt.messages))) for r in observation.main.requests
    )
    return replace(observation, main=replace(observation.main, requests=requests), private={root: "$TRIAL"})


@pytest.mark.parametrize("word", ["word", "w\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}rd"])
@pytest.mark.parametrize("told", ["The turn was aborted.", "THE TURN WAS ABORTED."])
def test_a_long_text_is_kept_where_a_rule_may_look(runner: asyncio.Runner, told: str, word: str) -> None:
    """Of a system prompt the beginning stays, and what speaks of interruptions, of roles, and of directories.

    In whatever letters, and whatever stands before: a letter whose small one is longer moves nothing.
    """
    loaded = load(discover(["cut/edit-then-fork-shared"])[0])
    observation = seen(runner, create(), loaded)
    place = observation.main.directories["main"]
    many = f"{word} " * 300
    long = f"You help. {many * 30} {told} {many} You work in {place}. {many}"
    requests = tuple(
        replace(r, prompt=replace(r.prompt, messages=(Message("system", (Text(long),)), *r.prompt.messages)))
        for r in observation.main.requests
    )
    evidence = evidence_of(replace(observation, main=replace(observation.main, requests=requests)))
    kept = evidence.main.requests[0].prompt.messages[0].parts[0]
    assert isinstance(kept, Text)
    assert kept.content.startswith("You help.")
    assert told in kept.content
    assert f"You work in {place}." in kept.content
    assert len(kept.content) < 1500


def test_an_error_comes_back(runner: asyncio.Runner) -> None:
    """A trace that broke off keeps the error's class, cause and hint."""
    loaded = load(discover(["cut/edit-then-fork-shared"])[0])
    evidence = evidence_of(replace(seen(runner, create(), loaded), error=HarnessDied("it died", "look"), error_step=2))
    back = recorded(evidence)
    assert isinstance(back.error, HarnessDied)
    assert (back.error.cause, back.error.hint, back.error_step) == ("it died", "look", 2)


# --- damage ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole(runner: asyncio.Runner) -> Observation:
    return evidence_of(seen(runner, create(), load(discover(["cut/edit-then-fork-shared"])[0])))


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (["version"], 99, "version 99, this forkproof reads 1"),
        (["tables"], [], "tables: expected lists by name"),
        (["tables", "messages"], [], "messages has no row"),
        (["main", "steps", 0, "outcome"], "perhaps", "main.steps[0].outcome: expected one of done, refused"),
        (["main", "steps", 0, "index"], "0", "main.steps[0].index: expected a number, found '0'"),
        (["main", "nonce"], None, "main.nonce: expected a text, found None"),
        (["main", "sessions"], {"main": "x"}, "main.sessions: expected a list"),
        (["main", "sessions", 0], ["main"], "main.sessions[0]: expected a list of 2"),
        (["main", "secret"], 1, "a PartSeen has no member 'secret'"),
        (["main", "requests", 0, "prompt", "messages", 0], -1, "messages has no row -1"),
        (["main", "requests", 0, "prompt", "messages", 0], True, "expected a row of messages"),
        (["tables", "messages", 0, "parts", 0, "is"], "Sound", "expected one of Text, Reasoning"),
        (["controls"], 7, "controls[0]: expected the steps left out, and a part"),
        (["error"], ["no-such-code", "", ""], "error: expected the code"),
        (["error_step"], 1.5, "error_step: expected a number"),
    ],
)
def test_damaged_evidence_is_refused_with_its_place(
    whole: Observation, path: list[Any], value: object, told: str
) -> None:
    """Whatever was changed by hand is told by its place, and nothing of it is judged."""
    data: Any = copy.deepcopy(write_evidence(whole))
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(MalformedEvidence, match=re.escape(told)):
        read_evidence(data, whole.slug, whole.description)


@pytest.mark.parametrize("member", ["version", "tables", "main", "controls", "error", "error_step"])
def test_missing_members_are_told(whole: Observation, member: str) -> None:
    """Evidence without one of its members is none."""
    data = write_evidence(whole)
    del data[member]
    with pytest.raises(MalformedEvidence):
        read_evidence(data, whole.slug, whole.description)


def test_a_required_member_of_a_part_is_told(whole: Observation) -> None:
    """The place names what is missing."""
    data: Any = copy.deepcopy(write_evidence(whole))
    del data["main"]["steps"][1]["key"]
    with pytest.raises(MalformedEvidence, match=r"main\.steps\[1\]: key is missing"):
        read_evidence(data, whole.slug, whole.description)
