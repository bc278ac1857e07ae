"""From pydantic's errors to problems: at the place in the file, in the words of the trace language."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from forkproof.conformance.trace.base import ITEM_PATTERN, TraceModel, UnknownName
from forkproof.conformance.trace.document import Document
from forkproof.conformance.trace.expect import Expectation
from forkproof.conformance.trace.model import ImportedTurn, Trace
from forkproof.conformance.trace.place import Path, Place
from forkproof.conformance.trace.problem import Problem
from forkproof.conformance.trace.steps import (
    STEP_KEYS,
    AwaitStep,
    CancelStep,
    CheckStep,
    CompactStep,
    ForkStep,
    ReleaseStep,
    TurnStep,
)
from forkproof.conformance.trace.steps_authority import ApproveStep, DenyStep, SetStep
from forkproof.conformance.trace.steps_input import QueueStep, SteerStep
from forkproof.conformance.trace.steps_side import DelegateStep, DueStep, FoldStep, RestoreStep, UserEditsStep
from forkproof.conformance.trace.steps_tree import BranchStep, CloneStep, EditContextStep, LabelStep, RewindStep
from forkproof.conformance.trace.stream import DropStep, StallStep, ThinkStep
from forkproof.conformance.trace.tools import MODEL_STEP_KEYS, CallStep, FailStep, Replacement, SayStep, TogetherStep
from forkproof.conformance.vocabulary import PLANNED

__all__ = ["problems_of"]

_TAGGED: Mapping[str, type[TraceModel]] = {
    "<turn>": TurnStep,
    "<await>": AwaitStep,
    "<fork>": ForkStep,
    "<cancel>": CancelStep,
    "<compact>": CompactStep,
    "<release>": ReleaseStep,
    "<check>": CheckStep,
    "<steer>": SteerStep,
    "<queue>": QueueStep,
    "<delegate>": DelegateStep,
    "<fold>": FoldStep,
    "<user_edits>": UserEditsStep,
    "<restore>": RestoreStep,
    "<due>": DueStep,
    "<set>": SetStep,
    "<approve>": ApproveStep,
    "<deny>": DenyStep,
    "<branch>": BranchStep,
    "<rewind>": RewindStep,
    "<clone>": CloneStep,
    "<label>": LabelStep,
    "<edit_context>": EditContextStep,
    "<say>": SayStep,
    "<call>": CallStep,
    "<together>": TogetherStep,
    "<fail>": FailStep,
    "<think>": ThinkStep,
    "<stall>": StallStep,
    "<drop>": DropStep,
    "<unknown>": UnknownName,
}
_FORMS = {
    "^[a-z][a-z0-9-]*$": "a name: lower-case letters, digits and hyphens, a letter first",
    ITEM_PATTERN: "an item, e.g. plan.user or edit.result",
    "^[A-Z]+-[0-9]+$": "a clause id, e.g. CUT-1",
    r"^[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*)*$": "a capability, e.g. fork.before",
    r"^[a-z][a-z0-9-]*\.(started|asked)$": "CALL.started or CALL.asked, e.g. `job.started`",
    r"^[^\r\n]*$": "one line",
}
_KINDS = {dict: "a mapping", list: "a list", str: "a text", bool: "a boolean", int: "a number", float: "a number"}


def problems_of(error: ValidationError, document: Document, file: str) -> list[Problem]:
    """Every error of a validation as a problem, without those that only follow from another.

    A missing key stands at the part that lacks it. Errors in values that the document already complained of are left
    out.
    """
    found: list[Problem] = []
    details = [(_path(e["loc"], document.place), e) for e in error.errors(include_url=False)]
    for path, detail in details:
        if _said_before(path, document.spoiled) or _only_follows(path, detail, details):
            continue
        place = _place(path, detail, document.place)
        code, message = _say(path, detail)
        found.append(Problem(file, place.line, place.column, code, message))
    return found


# --- where -----------------------------------------------------------------------------------------------------------


def _path(location: Iterable[str | int], place: Place) -> Path:
    """The path of a location in the file. Tags and names of validators in it are no part of the file, and are dropped.

    Of what does not exist in the file only the last step is kept: a missing key.
    """
    steps: list[str | int] = []
    last: str | int | None = None
    for step in location:
        last = None
        if step in place.parts:
            steps.append(step)
            place = place.parts[step]
        elif step not in _TAGGED and not _inner(step):
            last = step
    return tuple(steps) if last is None else (*steps, last)


def _inner(step: str | int) -> bool:
    return isinstance(step, str) and (step.startswith(("<", "[", "function-")) or step in ("constrained-str", "str"))


def _place(path: Path, detail: Any, top: Place) -> Place:
    """The key's place where the key is what is wrong, else the value's."""
    wrong_key = detail["type"] == "extra_forbidden" or detail["loc"][-1:] == ("[key]",)
    return top.key(path) if wrong_key and path else top.at(path)


def _said_before(path: Path, spoiled: frozenset[Path]) -> bool:
    return any(path[: len(s)] == s for s in spoiled)


def _only_follows(path: Path, detail: Any, details: list[tuple[Path, Any]]) -> bool:
    """Whether a list is called too short only because an entry of it was refused."""
    if detail["type"] != "too_short":
        return False
    return any(len(other) > len(path) and other[: len(path)] == path for other, _ in details)


# --- what ------------------------------------------------------------------------------------------------------------


def _say(path: Path, detail: Any) -> tuple[str, str]:
    """The code and the words for one error."""
    name = f"`{path[-1]}`" if path and isinstance(path[-1], str) else "this"
    kind, given = detail["type"], detail["input"]
    if kind in _EXPECTED:
        quote = "; quote it" if kind == "string_type" and isinstance(given, int | float) else ""
        return "FPL010", f"{name} is {_kind(given)}, not {_EXPECTED[kind]}{quote}"
    if kind in _WORDS:
        return _CODES.get(kind, "FPL010"), _WORDS[kind](name, given, detail)
    message: str = detail["msg"]
    return "FPL010", f"{name}: {message[:1].lower()}{message[1:]}"


_CODES = {"missing": "FPL012", "extra_forbidden": "FPL011"}
_EXPECTED = {
    "string_type": "a text",
    "int_type": "a whole number",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "mapping_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}
_WORDS: Mapping[str, Callable[[str, Any, Any], str]] = {
    "missing": lambda name, _, __: f"{name} is missing",
    "extra_forbidden": lambda _, __, e: _unknown_key(str(e["loc"][-1]), e["loc"]),
    "step": lambda _, given, e: _unknown_step(given, STEP_KEYS, e["msg"]),
    "model_step": lambda _, given, e: _unknown_step(given, MODEL_STEP_KEYS, e["msg"]),
    "string_pattern_mismatch": lambda _, given, e: f"{given!r} is not {_form(e['ctx']['pattern'])}",
    "literal_error": lambda name, given, e: _literal(name, given, e["ctx"]["expected"]),
    "value_error": lambda _, __, e: str(e["ctx"]["error"]),
    "too_short": lambda name, _, e: f"{name} needs at least {_entries(e['ctx']['min_length'])}",
    "too_long": lambda name, _, e: f"{name} takes at most {_entries(e['ctx']['max_length'])}",
    "string_too_short": lambda name, _, __: f"{name} is an empty text",
    "string_too_long": lambda name, given, e: (
        f"{name} has {len(given)} characters, at most {e['ctx']['max_length']} are allowed"
    ),
}


def _form(pattern: str) -> str:
    return _FORMS.get(pattern, f"of the form {pattern}")


def _unknown_key(key: str, location: tuple[str | int, ...]) -> str:
    if key in PLANNED:
        return f"`{key}` is not in version 1 of the trace language"
    message = f"unknown key `{key}`"
    known = _keys(_model_at(location[:-1]))
    close = get_close_matches(key, known, n=1)
    if close:
        return f"{message}; did you mean `{close[0]}`?"
    if re.search(r"[^a-z_]", key):
        return f"{message}; if it is part of a text, the text must be quoted, or stand in block style"
    return f"{message}; known here are {', '.join(known)}" if known else message


def _model_at(location: tuple[str | int, ...]) -> type[TraceModel] | None:
    """The part of the language that a location lies in."""
    names = [step for step in location if isinstance(step, str)]
    if not names:
        return Trace
    last = names[-1]
    if "expect" in names and last not in _TAGGED:
        return Expectation
    by_key: Mapping[str, type[TraceModel]] = {"import": ImportedTurn, "model": SayStep, "together": CallStep}
    return _TAGGED.get(last) or by_key.get(last) or (Replacement if "edit" in names else None)


def _keys(model: type[TraceModel] | None) -> list[str]:
    return [info.alias or name for name, info in model.model_fields.items()] if model else []


def _unknown_step(given: Any, known: tuple[str, ...], message: str) -> str:
    if not isinstance(given, Mapping):
        return f"{message}; this is {_kind(given)}"
    planned = next((key for key in given if key in PLANNED), None)
    if planned:
        return f"`{planned}` is not in version 1 of the trace language; {message}"
    close = next(((k, c[0]) for k in given if (c := get_close_matches(k, known, n=1))), None)
    if close:
        return f"{message}; did you mean `{close[1]}` for `{close[0]}`?"
    return f"{message}; this one has {', '.join(given) or 'no key'}"


def _literal(name: str, given: Any, expected: str) -> str:
    choices = expected.replace("'", "").replace("True", "true").replace("False", "false")
    message = f"{name} is {_shown(given)}, not {choices}"
    if isinstance(given, str) and given.lower() in ("true", "yes", "on") and "true" in choices:
        message += " (written just so)"
    return message


def _kind(given: Any) -> str:
    known = next((words for kind, words in _KINDS.items() if isinstance(given, kind)), "nothing")
    return f"{known} ({_shown(given)})" if isinstance(given, str | int | float) else known


def _shown(given: Any) -> str:
    if isinstance(given, bool):
        return str(given).lower()
    text = str(given) if isinstance(given, int | float) else repr(given)
    return text if len(text) <= 40 else text[:37] + "..."  # noqa: PLR2004  # a message is one line


def _entries(count: int) -> str:
    return f"{count} {'entry' if count == 1 else 'entries'}"
