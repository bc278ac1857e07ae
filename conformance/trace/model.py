"""The trace language, version 1, as typed data. Source: design section 3.

A trace is a story in steps; each step may carry expectations, and each expectation is keyed by the clause that it
proves. These types are the language's only definition: the JSON Schema, the loader's errors and the linter's names come
from them. The parts live in modules of their own, `base`, `items`, `tools`, `expect`, `steps`; this one joins them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints

from forkproof.conformance.trace.base import (
    CapabilityName,
    Many,
    Name,
    Reference,
    RelativePath,
    TraceModel,
    UnknownName,
)
from forkproof.conformance.trace.expect import Expectation
from forkproof.conformance.trace.items import ItemPattern
from forkproof.conformance.trace.settings import HookDefinition, Settings
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
from forkproof.conformance.trace.steps_authority import ApproveStep, DenyStep, SetStep
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
    "VERSION", "ApproveStep", "AwaitStep", "CallStep", "CancelStep", "CheckStep", "CompactStep", "DenyStep",
    "Expectation", "FailStep", "ForkStep",
    "ImportedTurn", "ItemPattern", "ModelStep", "QueueStep", "ReleaseStep",
    "Replacement", "SayStep", "SetStep", "SteerStep", "Step", "TogetherStep",
    "ToolArguments", "Trace", "TurnStep", "UnknownName",
]  # fmt: skip

VERSION = 1
"""The version of the trace language that these types describe."""


def _version(value: Any) -> Any:
    if type(value) is not int or value != VERSION:
        msg = f"this forkproof reads version {VERSION} of the trace language, not {value!r}"
        raise ValueError(msg)
    return value


_TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?(Z|[+-][0-9]{2}:[0-9]{2})$"


class ImportedTurn(TraceModel):
    """A finished turn with a chosen time, in whole seconds since the epoch or as text, and perhaps a chosen id.

    Turns stand in the order in which they are stored. `behind` is the turn that this one goes on from, by default the
    one before it; `{unknown: NAME}` breaks the chain. The session stands at the last one that none goes on from.
    """

    turn: Name
    at: Annotated[int, Field(ge=0)] | Annotated[str, StringConstraints(pattern=_TIME)]
    id: Annotated[str, StringConstraints(pattern=r"^[!-~]{1,60}$")] = ""
    user: Annotated[str, StringConstraints(min_length=1)]
    say: str
    behind: Reference | None = None


class Trace(TraceModel):
    """One scenario.

    `needs` are the capabilities without which it does not apply; `from` names the reports that it comes from. `import`
    is a history that `main` starts with; a harness that can't import plays it live, as fast as it can. `settings` are
    those that `main` is opened with, `hooks` those that the person has installed.
    """

    trace: Annotated[Literal[1], BeforeValidator(_version)]
    title: Annotated[str, StringConstraints(min_length=1, max_length=160, pattern=r"^[^\r\n]*$")]
    from_: Many[str] = Field((), alias="from")
    needs: Many[CapabilityName] = ()
    files: dict[RelativePath, str] = Field(default={})
    settings: Settings | None = None
    hooks: Many[HookDefinition] = ()
    import_: Many[ImportedTurn] = Field((), alias="import")
    steps: Annotated[Many[Step], Field(min_length=1)]
