"""The trace language, version 1, as typed data. Source: design section 3.

A trace is a story in steps; each step may carry expectations, and each expectation is keyed by the clause that it
proves. These types are the language's only definition: the JSON Schema, the loader's errors and the linter's names come
from them. The parts live in modules of their own, `base`, `items`, `tools`, `expect`, `steps`; this one joins them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints

from forkproof.conformance.trace.base import CapabilityName, Many, Name, RelativePath, TraceModel, UnknownName
from forkproof.conformance.trace.expect import Expectation
from forkproof.conformance.trace.items import ItemPattern
from forkproof.conformance.trace.steps import (
    AwaitStep,
    CancelStep,
    CheckStep,
    CompactStep,
    ForkStep,
    ReleaseStep,
    Step,
    TurnStep,
)
from forkproof.conformance.trace.steps_input import QueueStep, SteerStep
from forkproof.conformance.trace.tools import (
    CallStep,
    FailStep,
    ModelStep,
    Replacement,
    SayStep,
    TogetherStep,
    ToolArguments,
)

__all__ = [
    "VERSION", "AwaitStep", "CallStep", "CancelStep", "CheckStep", "CompactStep", "Expectation", "FailStep", "ForkStep",
    "ImportedTurn", "ItemPattern", "ModelStep", "QueueStep", "ReleaseStep",
    "Replacement", "SayStep", "SteerStep", "Step", "TogetherStep",
    "ToolArguments", "Trace", "TurnStep", "UnknownName",
]  # fmt: skip

VERSION = 1
"""The version of the trace language that these types describe."""


def _version(value: Any) -> Any:
    if type(value) is not int or value != VERSION:
        msg = f"this forkproof reads version {VERSION} of the trace language, not {value!r}"
        raise ValueError(msg)
    return value


class ImportedTurn(TraceModel):
    """A finished turn with a chosen time, in whole seconds since the epoch."""

    turn: Name
    at: Annotated[int, Field(ge=0)]
    user: Annotated[str, StringConstraints(min_length=1)]
    say: str


class Trace(TraceModel):
    """One scenario.

    `needs` are the capabilities without which it does not apply; `from` names the reports that it comes from. `import`
    is a history that `main` starts with; a harness that can't import plays it live, as fast as it can.
    """

    trace: Annotated[Literal[1], BeforeValidator(_version)]
    title: Annotated[str, StringConstraints(min_length=1, max_length=160, pattern=r"^[^\r\n]*$")]
    from_: Many[str] = Field((), alias="from")
    needs: Many[CapabilityName] = ()
    files: dict[RelativePath, str] = Field(default={})
    import_: Many[ImportedTurn] = Field((), alias="import")
    steps: Annotated[Many[Step], Field(min_length=1)]
