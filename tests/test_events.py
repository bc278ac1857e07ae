"""Events and their lines: what a record of a run may hold, and that nothing of it is lost on the way."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forkproof.reports.events import AdapterStamp, Checked, Event, Note, Observed, RunEnded, TraceError
from forkproof.reports.lines import MalformedEvent, decode, encode, run_schema, stable
from forkproof.reports.redaction import Redactor
from tests import sample_runs as sample

SNAPSHOT = Path(__file__).parent / "snapshots" / "run.schema.json"
EVERY_RUN = [sample.green(), sample.red(), sample.crashed(), sample.baselined()]
EVERY_EVENT = [event for run in EVERY_RUN for event in run]

texts = st.text(st.characters())  # with lone surrogates: bytes of files that are no UTF-8
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
payloads = st.dictionaries(texts, json_values, max_size=3)


@pytest.mark.parametrize("event", EVERY_EVENT, ids=lambda e: e.event)
def test_lines_read_back_as_they_were_written(event: Event) -> None:
    """Every kind of event is one line of ASCII and is itself again when read."""
    line = encode(event)
    assert line.isascii()
    assert "\n" not in line
    assert decode(json.loads(line)) == event


@settings(deadline=None)
@given(files=st.dictionaries(texts, st.dictionaries(texts, texts, max_size=2), max_size=2), payload=payloads)
def test_any_payload_survives(files: dict[str, dict[str, str]], payload: dict[str, Any]) -> None:
    """Whatever JSON a harness makes us see, undecodable file contents too, is the same after writing and reading."""
    event = Observed(trace="cut/x", files=files, steps=[payload], volatile=payload)
    assert decode(json.loads(encode(event))) == event


@settings(deadline=None)
@given(payload=payloads)
def test_order_of_keys_changes_nothing(payload: dict[str, Any]) -> None:
    """Two runs that see the same write the same bytes, in whatever order their mappings were filled."""
    turned = dict(reversed(payload.items()))
    assert encode(Observed(trace="cut/x", controls=payload)) == encode(Observed(trace="cut/x", controls=turned))


def test_declared_lists_are_sorted() -> None:
    """Capabilities come from sets, whose order varies from run to run."""
    stamp = AdapterStamp(route="r", wire="w", capabilities=["fork.head", "cancel"], unobservable=["b", "a"])
    assert stamp.capabilities == ["cancel", "fork.head"]
    assert stamp.unobservable == ["a", "b"]


def test_stable_leaves_out_what_varies() -> None:
    """Only `volatile` differs between two runs with one seed, and `stable` is the rest."""
    one, other = sample.started(started="now", python="3.11.7"), sample.started(started="later")
    assert encode(one) != encode(other)
    assert stable(one) == stable(other)
    assert "volatile" not in stable(one)
    assert stable(one)["seed"] == 7


def test_events_are_frozen() -> None:
    """A consumer can't change what the next one gets."""
    with pytest.raises(FrozenInstanceError):
        Note(text="x").text = "y"  # type: ignore[misc]  # that is the point


@pytest.mark.parametrize(
    ("value", "told"),
    [({1: "a"}.keys(), "dict_keys"), (float("nan"), "float"), ({"a", "b"}, "set"), (object(), "object")],
)
def test_payload_that_is_no_json_is_refused(value: object, told: str) -> None:
    """A payload that can't be read back is our own fault; the message names the event's kind and member."""
    with pytest.raises(MalformedEvent, match=f"(?i)`seen` of this 'check' event is no JSON.*{told}"):
        encode(replace(sample.prompt_failure(), seen={"prompt": value}))


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"event": "check", "id": 3, "trace": "t"}, r"check\.id: .*check\.clause: .*check\.verdict"),
        ({"event": "chekc"}, "'chekc'"),
        ({"trace": "cut/x"}, "event"),
        ([], "the line"),
        ({"event": "note", "text": "x", "colour": "red"}, r"note\.colour"),
        ({"event": "end", "counts": {}, "exit": "ok"}, r"end\.exit"),
    ],
)
def test_wrong_members_are_named(data: object, told: str) -> None:
    """Every wrong member of a line is named by its place."""
    with pytest.raises(MalformedEvent, match=told):
        decode(data)


@pytest.mark.parametrize("event", EVERY_EVENT, ids=lambda e: e.event)
def test_written_lines_satisfy_the_schema(event: Event) -> None:
    """What we write is what `forkproof schema run` promises to other readers."""
    jsonschema.Draft202012Validator(run_schema()).validate(json.loads(encode(event)))


@pytest.mark.parametrize("member", ["event", "id", "verdict", "volatile"])
def test_schema_misses_what_is_missing(member: str) -> None:
    """The schema refuses a check without one of its members."""
    data = json.loads(encode(sample.prompt_failure()))
    del data[member]
    assert not jsonschema.Draft202012Validator(run_schema()).is_valid(data)


def test_schema_snapshot() -> None:
    """The schema of a line changes only on purpose: then raise SCHEMA_VERSION and renew the snapshot."""
    jsonschema.Draft202012Validator.check_schema(run_schema())
    assert run_schema() == json.loads(SNAPSHOT.read_text())


def test_events_cost_no_start_up() -> None:
    """Events, log and console are imported without pydantic and rich: a command that prints a version must not pay."""
    modules = "forkproof.reports.events, forkproof.reports.runlog, forkproof.reports.console"
    code = f"import sys, {modules}; print(sorted(m for m in ('pydantic', 'rich', 'deepdiff') if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_redaction_reaches_every_string() -> None:
    """Home paths and keys are replaced in values, keys, nested lists and stamped members alike."""
    redactor = Redactor.of(homes=["/home/ada/"], keys=["sk-123"])
    event = Observed(
        trace="cut/x",
        error=TraceError(code="start-failed", cause="/home/ada/bin/codex: no"),
        files={"main": {"/home/ada/notes": "key sk-123, again sk-123"}},
        steps=[{"detail": ["in /home/ada."]}],
    )
    line = encode(event, redactor)
    assert "ada" not in line
    assert "sk-123" not in line
    assert '"cause":"$HOME/bin/codex: no"' in line
    assert '"$HOME/notes":"key $KEY, again $KEY"' in line
    assert '"in $HOME."' in line


def test_redaction_keeps_other_paths() -> None:
    """A path that only begins like the home directory is someone else's name and stays readable."""
    redactor = Redactor.of(homes=["/home/ada"])
    assert redactor.text("/home/adam /home/ada2 /srv/home/ada/x") == "/home/adam /home/ada2 /srv$HOME/x"
    assert Redactor.of(homes=["/root"]).text("<root>/root</root>") == "<root>$HOME</root>"


def test_longer_literal_wins() -> None:
    """A directory below the home gets its own name, whatever the order in which they were given."""
    redactor = Redactor(paths={"/h": "$HOME", "/h/trial": "$TRIAL"})
    assert redactor.text("/h/trial/x /h/y") == "$TRIAL/x $HOME/y"


def test_literals_that_say_nothing_are_left_out() -> None:
    """A home directory of `/` (containers) and an empty key must not eat the text."""
    assert Redactor.of(homes=["/", ""], keys=[""]).text("/a b/c") == "/a b/c"


@settings(deadline=None)
@given(key=st.text(st.characters(exclude_characters="*"), min_size=1), before=st.text(), after=st.text())
def test_no_key_stays(key: str, before: str, after: str) -> None:
    """A secret is gone wherever it stood, also one that looks like a pattern or a path, or holds quotes."""
    shown = Redactor({key: "*"}).data([before + key + after, {key: 1}])
    assert key == "/" or key not in shown[0]
    assert key == "/" or shown[1] == {"*": 1}


def test_counts_are_by_verdict() -> None:
    """The footer's counts and the checks of a run agree in the sample, so that readers may rely on it."""
    for run in EVERY_RUN:
        end = run[-1]
        assert isinstance(end, RunEnded)
        assert sum(end.counts.values()) == sum(isinstance(e, Checked) for e in run)
