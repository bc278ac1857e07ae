"""The JSON Schema of the open protocol, and the messages that are really sent."""

from __future__ import annotations

import dataclasses
import json
import typing
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from forkproof.adapters.protocol import Answer, Operation
from forkproof.adapters.stdio.decode import WireError, decode
from forkproof.adapters.stdio.methods import METHODS, OPERATIONS
from forkproof.adapters.stdio.schema import SCHEMA_ID, adapter_schema
from forkproof.adapters.stdio.wire import KINDS, encode, members
from forkproof.conformance.contract import load_contract
from forkproof.conformance.trace.load import discover, load
from tests.stdio.both_ways import Kept, playing, served

GOLDEN = Path(__file__).parents[1] / "golden" / "adapter.schema.json"
ENOUGH = 5
"""Messages of one method and direction that are looked at: to validate one takes far longer than to send it."""
SPREAD = (
    "sub/research-and-report", "aut/approval-not-inherited", "set/start-context-once", "ops/hook-cancels-the-fork",
    "nav/leave-with-a-summary", "lbl/label-shows-and-clears", "rd/orphans-are-roots", "ato/crash-before-the-commit",
    "cmp/compacted-twice", "prv/signed-thinking-in-a-fork", "fld/two-scopes", "env/restore-names-its-gaps",
    "tool/cancelled-call-then-fork", "que/steered-message-stays-with-its-turn", "iso/deleting-the-source",
    "env/attachment-in-the-prefix", "sta/todo-goes-two-ways", "cut/unknown-turn", "sta/wake-up-fires-once",
)  # fmt: skip


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    return Draft202012Validator(adapter_schema())


def test_the_schema_is_the_reviewed_one() -> None:
    """A change of the protocol shows in review: `forkproof schema adapter > tests/golden/adapter.schema.json`."""
    schema = adapter_schema()
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == SCHEMA_ID
    assert schema == json.loads(GOLDEN.read_text(encoding="utf-8"))


def test_every_operation_and_answer_of_the_seam_has_its_place() -> None:
    """What the seam gains the protocol gains: no operation is unsupported for want of a method."""
    assert set(typing.get_args(Operation)) == set(OPERATIONS)
    results = {method.result for method in METHODS.values() if method.operation}
    assert set(typing.get_args(Answer)) <= results | set(KINDS)


def test_every_message_that_is_really_sent_is_valid(
    validator: Draft202012Validator, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Traces of every kind, played over the protocol with the log on: both directions."""
    log = tmp_path / "wire.jsonl"
    monkeypatch.setenv("FORKPROOF_WIRE_LOG", str(log))
    traces = [each for each in map(load, discover()) if each.slug in SPREAD]
    assert len(traces) == len(SPREAD)
    with playing(load_contract(), Kept(served(tmp_path))) as engine:
        for loaded in traces:
            engine.play(loaded)
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    sides = {"out": "suite to adapter", "in": "adapter to suite"}
    by_side = {
        side: Draft202012Validator({**validator.schema, "anyOf": [{"$ref": f"#/$defs/{name.replace(' ', '%20')}"}]})
        for side, name in sides.items()
    }
    asked: dict[tuple[str, Any], str] = {}
    looked_at: Counter[tuple[str, str]] = Counter()
    for line in lines:
        message, direction = line["message"], line["direction"]
        if "method" in message:
            method = message["method"]
            asked[direction, message.get("id")] = method
        else:
            method = asked["in" if direction == "out" else "out", message["id"]]
        looked_at[direction, method] += 1
        if looked_at[direction, method] > ENOUGH:
            continue
        assert by_side[direction].is_valid(message), message
        if "result" in message:
            _valid(validator, f"{method} result", message["result"])
    methods = {method for method in asked.values() if not method.startswith("$")}
    assert len(methods) >= 30, sorted(set(METHODS) - methods)


def _valid(validator: Draft202012Validator, name: str, value: Any) -> None:
    ref = "#/$defs/" + name.replace("/", "~1").replace(" ", "%20")
    only = Draft202012Validator({**validator.schema, "anyOf": [{"$ref": ref}]})
    assert only.is_valid(value), (name, value)


@pytest.mark.parametrize("method", METHODS)
def test_a_made_up_message_of_each_kind_comes_back_as_it_was(method: str, validator: Draft202012Validator) -> None:
    """Encoded and decoded it is equal, with all members and with none but those that are required; and it is valid."""
    for kind, part in ((METHODS[method].params, "params"), (METHODS[method].result, "result")):
        for full in (True, False):
            made = _made(kind, full=full)
            data = json.loads(json.dumps(encode(made)))
            assert decode(kind, data) == made
            _valid(validator, f"{method} {part}", data)
            if data:
                with pytest.raises(WireError, match="no such member"):
                    decode(kind, {**data, "nonsense": 1})


def _made(kind: Any, *, full: bool) -> Any:
    """A message of this type: its first choice everywhere."""
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        wanted = [m for m in members(kind) if full or m.required]
        return kind(**{m.name: _made(m.type, full=full) for m in wanted})
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return {"a": [1, "x", None]}
    if origin is typing.Literal:
        return inside[-1]
    if origin is tuple:
        return (_made(inside[0], full=full),)
    if origin is frozenset:
        return frozenset({"x"})
    if inside and len(inside) == 2 and not _union(kind):
        return {"key": _made(inside[1], full=full)}
    if _union(kind):
        return _made(inside[0] if full else inside[-1], full=full)
    return {str: "text \udc80 ü", int: 7, float: 1.5, bool: True, type(None): None}[kind]


def _union(kind: Any) -> bool:
    from forkproof.adapters.stdio.decode import is_union

    return is_union(kind)
