"""What every part of a trace is made of: the frozen base model, names, paths and lists. Source: design section 3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Strict,
    StringConstraints,
    Tag,
)

__all__ = [
    "ITEM_PATTERN",
    "CapabilityName",
    "ClauseId",
    "ItemName",
    "ItemReference",
    "Many",
    "Name",
    "Policies",
    "Reference",
    "RelativePath",
    "TraceModel",
    "UnknownName",
    "kind_of",
]

T = TypeVar("T")

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]*$", max_length=40)]
ClauseId = Annotated[str, StringConstraints(pattern=r"^[A-Z]+-[0-9]+$")]
CapabilityName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*)*$")]
ITEM_PATTERN = r"^[a-z][a-z0-9-]*\.(user|say|think|attachment|call|result|summary|edit)(\.[0-9]+)?$"
ItemName = Annotated[str, StringConstraints(pattern=ITEM_PATTERN, max_length=80)]
RelativePath = Annotated[str, StringConstraints(min_length=1, max_length=200)]

Many: TypeAlias = Annotated[tuple[T, ...], Strict(False)]  # noqa: FBT003  # Strict's own spelling
"""A list in YAML, a tuple in memory."""


class TraceModel(BaseModel):
    """Every part of a trace is frozen, refuses unknown keys and never guesses types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, populate_by_name=True)


class UnknownName(TraceModel):
    """A name that stands for nothing: a session or a turn that never was (clauses CUT-5, ATO-2)."""

    unknown: Name


def _reference_kind(value: Any) -> str:
    return "<unknown>" if isinstance(value, Mapping | UnknownName) else "<name>"


Reference = Annotated[
    Annotated[Name, Tag("<name>")] | Annotated[UnknownName, Tag("<unknown>")],
    Discriminator(_reference_kind),
]
"""The name of something that was, or `{unknown: NAME}` for something that never was."""


ItemReference = Annotated[
    Annotated[ItemName, Tag("<name>")] | Annotated[UnknownName, Tag("<unknown>")],
    Discriminator(_reference_kind),
]
"""An item as a place in a history, or `{unknown: NAME}` for an entry that never was."""


def _choices(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: (v,) if isinstance(v, str) else tuple(v) if isinstance(v, list) else v for k, v in value.items()}
    return value


_Written = Annotated[dict[str, str | Annotated[list[str], Field(min_length=1)]], Field(min_length=1)]


def _some(value: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    if not value or not all(value.values()):
        msg = "name at least one policy and one choice of it"
        raise ValueError(msg)
    return value


Policies = Annotated[
    dict[str, tuple[str, ...]],
    BeforeValidator(_choices, json_schema_input_type=_Written),
    AfterValidator(_some),
]
"""Policy name -> the choices that are meant; a single choice may stand without a list."""


def kind_of(value: Any, keys: tuple[str, ...]) -> str | None:
    """The tag of a step: the first of `keys` that a mapping (or a model already built) has, in angle brackets.

    The brackets keep a tag apart from the key of the same name in the places that pydantic gives its errors.
    """
    if isinstance(value, Mapping):
        found = next((k for k in keys if k in value), None)
    else:
        found = next((k for k in keys if hasattr(value, k) or hasattr(value, k + "_")), None)
    return found and f"<{found}>"
