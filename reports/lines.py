"""Events as lines of run.jsonl: writing, reading, and the JSON Schema of a line.

pydantic, which reads and describes the events, is imported when it is first needed: writing a run does not need it.
"""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from forkproof.reports.events import SCHEMA_VERSION, Event, JsonObject
from forkproof.reports.redaction import Redactor

__all__ = ["MalformedEvent", "as_json", "decode", "encode", "run_schema", "stable"]


class MalformedEvent(ValueError):
    """A line that is no event, or an event that is no JSON. The message says which member is wrong, and how."""


def as_json(event: Event) -> JsonObject:
    """The event as JSON data, members in declared order; payloads are shared, not copied."""
    return {each.name: _plain(getattr(event, each.name)) for each in fields(event)}


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    return value


def encode(event: Event, redactor: Redactor | None = None) -> str:
    """The event as one line of ASCII JSON, without its newline: members in declared order, keys below them sorted.

    Raises `MalformedEvent` if a payload holds anything that is no JSON (a set, NaN, an object).
    """
    members = []
    for name, value in as_json(event).items():
        try:
            text = _written(value)
            if redactor and not redactor.silent_on(text):
                text = _written(redactor.data(value))
        except (TypeError, ValueError) as error:
            message = f"`{name}` of this {event.event!r} event is no JSON: {error}"
            raise MalformedEvent(message) from error
        members.append(f'"{name}":{text}')
    return "{" + ",".join(members) + "}"


def _written(value: Any) -> str:
    return json.dumps(value, sort_keys=True, allow_nan=False, separators=(",", ":"))


def decode(data: object) -> Event:
    """The event that this JSON value stands for. Raises `MalformedEvent`, with every wrong member named."""
    from pydantic import ValidationError

    try:
        event: Event = _parser().validate_python(data)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        wrong = "; ".join(f"{_place(e['loc'])}: {e['msg']}" for e in found)
        raise MalformedEvent(wrong) from error
    return event


def _place(loc: tuple[int | str, ...]) -> str:
    return ".".join(map(str, loc)) or "the line"


@cache
def _parser() -> Any:
    from typing import Annotated

    from pydantic import Field, TypeAdapter

    return TypeAdapter(Annotated[Event, Field(discriminator="event")])


def run_schema() -> JsonObject:
    """JSON Schema (draft 2020-12) of one line of run.jsonl, as `forkproof schema run` prints it."""
    from pydantic.json_schema import GenerateJsonSchema

    class Untitled(GenerateJsonSchema):
        def field_title_should_be_set(self, schema: Any) -> bool:
            return False

    body: JsonObject = _parser().json_schema(mode="serialization", schema_generator=Untitled)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"One line of forkproof's run.jsonl, version {SCHEMA_VERSION}",
        **body,
    }


def stable(event: Event) -> JsonObject:
    """The event as JSON data without its `volatile` member: what two runs with one seed have in common."""
    data: JsonObject = json.loads(encode(event))
    del data["volatile"]
    return data
