"""The trace language's types, and the JSON Schema that is generated from them."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from forkproof.conformance.trace import model as language
from forkproof.conformance.trace.document import parse
from forkproof.conformance.trace.load import discover, shipped_root
from forkproof.conformance.trace.model import Expectation, ForkStep, ItemPattern, Trace, TurnStep, UnknownName
from forkproof.conformance.trace.schema import SCHEMA_ID, trace_schema

GOLDEN = Path(__file__).parent / "golden" / "trace.schema.json"

WHOLE: dict[str, Any] = {
    "trace": 1,
    "title": "Everything that version 1 can say, in one trace",
    "from": ["seed 000", "codex-9042"],
    "needs": ["fork.before", "tool.write"],
    "files": {"a.txt": "x"},
    "import": [{"turn": "old", "at": 10, "user": "Hello.", "say": "Hi."}],
    "steps": [
        {
            "turn": "one",
            "user": "Go.",
            "model": [
                {"say": "I will."},
                {"call": "w", "write": {"b.txt": "y"}},
                {"together": [{"call": "r", "read": "a.txt"}, {"call": "c", "count": "clicks"}]},
                {"call": "e", "edit": {"a.txt": {"old": "x", "new": "z"}}},
                {"call": "s", "run": "echo done"},
                {"fail": 500},
                {"call": "job", "wait": "release"},
                {"say": "Done."},
            ],
            "until": "job.started",
        },
        {"release": "job"},
        {
            "await": "one",
            "expect": [{"TOOL-1": {"stop": "end_turn", "last_prompt": ["old.user", {"r.result": "done"}]}}],
        },
        {"compact": "squeeze", "model": [{"say": "Short."}], "unless": {"busy_source": ["wait", "refuse"]}},
        {
            "fork": "alt",
            "before": "one",
            "workspace": "isolated",
            "expect": [{"REC-1": {"record": {"source": "main"}}}],
        },
        {"fork": "gone", "in": {"unknown": "ghost"}, "head": True, "expect": [{"ATO-2": {"refused": True}}]},
        {
            "turn": "two",
            "in": "alt",
            "user": "Go.",
            "model": [{"call": "w2", "wait": "forever"}],
            "until": "w2.started",
        },
        {"cancel": "alt"},
        {
            "check": "alt",
            "expect": [
                {"ENV-1": {"files": {}, "runs": {"clicks": 1}}},
                {"ISO-1": {"when": {"busy_source": "wait"}, "same_next_prompt_without": ["alt", "two"]}},
            ],
        },
    ],
}


def read(data: Any) -> Trace:
    """As the loader does it: by the language's names alone."""
    return Trace.model_validate(data, by_alias=True, by_name=False)


def accepted(data: Any) -> bool:
    try:
        read(data)
    except ValidationError:
        return False
    return True


def test_offers_every_name_that_it_promises() -> None:
    """The parts live in several modules, and all of them can be had from `model`."""
    assert [name for name in language.__all__ if not hasattr(language, name)] == []


def test_reads_every_construct() -> None:
    """One trace with all of the language: lists become tuples, `in` and `import` their Python names."""
    trace = read(WHOLE)
    assert [type(step).__name__ for step in trace.steps] == [
        "TurnStep", "ReleaseStep", "AwaitStep", "CompactStep", "ForkStep", "ForkStep", "TurnStep", "CancelStep",
        "CheckStep",
    ]  # fmt: skip
    assert isinstance(trace.steps[0], TurnStep)
    assert [call.tool for call in trace.steps[0].model if isinstance(call, language.CallStep)] == [
        "write", "edit", "run", "wait",
    ]  # fmt: skip
    assert isinstance(trace.steps[4], ForkStep)
    assert trace.steps[4].in_ == "main"
    assert isinstance(trace.steps[5], ForkStep)
    assert trace.steps[5].in_ == UnknownName(unknown="ghost")
    assert trace.import_[0].turn == "old"


def test_policies_are_tuples() -> None:
    """One choice or several: in memory a policy always has a tuple of choices."""
    trace = read(WHOLE)
    assert trace.steps[3].unless == {"busy_source": ("wait", "refuse")}
    assert next(iter(trace.steps[8].expect[1].values())).when == {"busy_source": ("wait",)}


def test_is_frozen() -> None:
    """Nobody changes a trace while it is played."""
    trace = read(WHOLE)
    with pytest.raises(ValidationError, match="frozen"):
        trace.title = "Another"  # type: ignore[misc]  # that it can't be set is the point


def test_kinds_tells_what_an_expectation_expects() -> None:
    """A kind counts when it is given, also where its value is empty or zero; `when` is no kind, null is none."""
    wanted = Expectation(when={"busy_source": ("wait",)}, files={}, requests=0, prompt=())
    assert wanted.kinds() == ("prompt", "files", "requests")
    assert Expectation(files={}, stop=None).kinds() == ("files",)


@given(
    st.from_regex(r"[a-z][a-z0-9-]{0,8}", fullmatch=True),
    st.sampled_from(["user", "say", "say.2", "call", "result", "summary"]),
    st.sampled_from([None, "done", "failed", "unfinished"]),
    st.sampled_from([None, "user", "assistant", "tool", "system"]),
)
def test_item_pattern_reads_what_a_trace_writes(owner: str, part: str, status: Any, role: Any) -> None:
    """`NAME.PART`, with a role after `as`; only a result has a status, given as a mapping."""
    item = f"{owner}.{part}"
    written = f"{item} as {role}" if role else item
    value: Any = {written: status} if status else written
    data = {"prompt": [value]}
    if status and part != "result":
        with pytest.raises(ValidationError, match="only a result"):
            Expectation.model_validate(data)
    else:
        (seen,) = Expectation.model_validate(data).prompt or ()
        assert seen == ItemPattern(item, status, role)


@pytest.mark.parametrize(
    "item", ["plan", "plan.user\n", "Plan.user", "plan.user as nobody", "plan.say.x", "", 1, [], {}]
)
def test_item_pattern_refuses_other_forms(item: Any) -> None:
    """What is no item's name is never taken for one."""
    with pytest.raises(ValidationError):
        Expectation.model_validate({"prompt": [item]})


@pytest.mark.parametrize("version", [True, "1", 1.0, 2, 0])
def test_refuses_other_versions(version: Any) -> None:
    """Only the number 1 is version 1: a boolean or a text is a slip."""
    assert not accepted(WHOLE | {"trace": version})


# --- the schema -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    return Draft202012Validator(trace_schema())


def test_schema_is_a_schema() -> None:
    """It satisfies the metaschema of its draft and has a name of its own."""
    schema = trace_schema()
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == SCHEMA_ID
    assert schema["title"]


def test_schema_is_the_reviewed_one() -> None:
    """A change of the language shows in review.

    To take it over: `forkproof schema trace > tests/golden/trace.schema.json`.
    """
    assert trace_schema() == json.loads(GOLDEN.read_text(encoding="utf-8"))


def test_schema_takes_every_construct(validator: Draft202012Validator) -> None:
    """What the types read, the schema allows."""
    validator.validate(WHOLE)


@pytest.mark.parametrize("path", discover(), ids=lambda p: p.relative_to(shipped_root()).as_posix())
def test_schema_takes_the_shipped_traces(path: Path, validator: Draft202012Validator) -> None:
    """Whoever writes a trace like ours in an editor sees no false alarm."""
    validator.validate(parse(path.read_bytes(), path.name).value)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every member and entry of a document."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [p for key, member in inside for p in ((*path, key), *_places(member, (*path, key)))]


ODD: list[Any] = [True, 0, -1, "x", "X y", [], ["x"], {"x": "y"}, {"unknown": "x"}, 3.5]
COMPANY = ("x", 3.5)


def _changed(path: tuple[Any, ...]) -> Iterator[Any]:
    """The trace with one thing changed at this path: dropped, replaced, or given company."""
    for value in [_DROP, *ODD]:
        for key in (path[-1], "another"):
            data = copy.deepcopy(WHOLE)
            parent: Any = data
            for step in path[:-1]:
                parent = parent[step]
            if key == "another" and (isinstance(parent, list) or value not in COMPANY):
                continue
            if value is not _DROP:
                parent[key] = value
            elif key == path[-1]:
                del parent[key]
            yield data


_DROP = object()


@pytest.mark.parametrize("part", list(WHOLE))
def test_schema_and_types_agree(part: str, validator: Draft202012Validator) -> None:
    """Whatever single thing is changed in a trace, schema and types both take it, or both refuse it."""
    tried = [data for path in _places(WHOLE) if path[0] == part for data in _changed(path)]
    assert len(tried) > 10
    assert [data for data in tried if validator.is_valid(data) != accepted(data)] == []
