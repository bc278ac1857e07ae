"""What the reference did, written in the language's own words: for traces whose expectations are still to be filled in.

An author writes `RECORD` in place of a value, e.g. `- CUT-1: {prompt: RECORD}`; the trace is played on the reference
and each placeholder becomes what was seen. It is for review: that the reference does it makes it a proposal, the
clause decides whether it is right. Source: design section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from forkproof.adapters.model.items import Item
from forkproof.conformance.judge.records import named, names_of
from forkproof.conformance.observation import Observation, StepSeen
from forkproof.conformance.trace.place import Path

__all__ = ["PLACEHOLDER", "RECORDERS", "Blank", "blanks", "filled", "without_blanks"]

PLACEHOLDER = "RECORD"
"""What stands for a value that is to be recorded."""


@dataclass(frozen=True, slots=True)
class Blank:
    """One placeholder: its path in the document, its step and the kind of expectation that it is for."""

    path: Path
    step: int
    kind: str


def blanks(data: Any) -> Iterator[Blank]:
    """Every placeholder of a trace's document."""
    for index, step in enumerate(data.get("steps") or () if isinstance(data, Mapping) else ()):
        for number, entry in enumerate(step.get("expect") or () if isinstance(step, Mapping) else ()):
            for clause, wanted in entry.items() if isinstance(entry, Mapping) else ():
                for kind, value in wanted.items() if isinstance(wanted, Mapping) else ():
                    if value == PLACEHOLDER:
                        yield Blank(("steps", index, "expect", number, clause, kind), index, kind)


def without_blanks(data: Any) -> Any:
    """The document with its blank expectations left out, so that it can be loaded and played."""
    if not isinstance(data, Mapping):
        return data
    return {**data, "steps": [_playable(step) for step in data.get("steps") or ()]}


def _playable(step: Any) -> Any:
    if not isinstance(step, Mapping) or "expect" not in step:
        return step
    kept = [entry for entry in step["expect"] if PLACEHOLDER not in str(entry)]
    rest = {key: value for key, value in step.items() if key != "expect"}
    if kept:
        return {**rest, "expect": kept}
    # A check looks at something by nature; that it caused no request is true of every check, and is not kept.
    return {**rest, "expect": [{"OPS-2": {"requests": 0}}]} if "check" in step else rest


def filled(text: str, values: Mapping[tuple[int, int], Any]) -> str:
    """The text with the placeholder at each place (line and column from 1) replaced by its value, in flow style."""
    lines = text.splitlines(keepends=True)
    for (line, column), value in sorted(values.items(), reverse=True):
        row = lines[line - 1]
        before, after = row[: column - 1], row[column - 1 :]
        lines[line - 1] = before + _flow(value) + after.removeprefix(PLACEHOLDER)
    return "".join(lines)


def _flow(value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, width=10_000, allow_unicode=True, sort_keys=False)
    return text.strip().removesuffix("\n...").strip()


# --- what was seen, kind by kind -----------------------------------------------------------------------------------


def _prompt(seen: Observation, step: StepSeen) -> Any:
    return _items(seen, step, 0)


def _last_prompt(seen: Observation, step: StepSeen) -> Any:
    return _items(seen, step, -1)


def _items(seen: Observation, step: StepSeen, which: int) -> Any:
    requests = seen.main.requests_of(step.name)
    return [_item(i) for i in requests[which].items] if requests else []


def _item(item: Item) -> Any:
    return {item.name: item.status} if item.status else item.name


def _result(seen: Observation, step: StepSeen) -> Any:
    requests = seen.main.requests_of(step.name)
    results = [i for i in requests[0].items if i.name.endswith(".result")] if requests else []
    return {i.name.removesuffix(".result"): i.status for i in results}


def _record(seen: Observation, step: StepSeen) -> Any:
    record = seen.main.records.get(step.session)
    names = names_of(seen.main)
    found = {} if record is None else {name: getattr(record, name) for name in ("source", "cut", "workspace")}
    return {name: named(f.value, names, seen.main.nonce) for name, f in found.items() if f.origin == "reported"}


def _editor(seen: Observation, step: StepSeen) -> Any:
    record = seen.main.records.get(step.session)
    return None if record is None else named(record.editor.value, names_of(seen.main), seen.main.nonce)


def _requests(seen: Observation, step: StepSeen) -> Any:
    return sum(r.step == step.index for r in seen.main.requests)


RECORDERS: Mapping[str, Callable[[Observation, StepSeen], Any]] = {
    "prompt": _prompt,
    "last_prompt": _last_prompt,
    "prompt_has": _prompt,
    "result": _result,
    "files": lambda _, step: dict(step.files or {}),
    "runs": lambda _, step: dict(step.runs),
    "stop": lambda _, step: step.stop,
    "refused": lambda _, step: step.reason if step.outcome == "refused" else None,
    "record": _record,
    "editor": _editor,
    "requests": _requests,
}
"""The kinds of expectation that can be recorded."""
