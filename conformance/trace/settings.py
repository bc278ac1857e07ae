"""Settings, hooks and answers of a person, as a trace writes them. Source: design section 3; clauses SET, AUT."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, ConfigDict, Discriminator, Field, StringConstraints, Tag, model_validator

from forkproof.conformance.trace.base import Many, Name, TraceModel, UnknownName
from forkproof.conformance.trace.tools import TOOLS

__all__ = ["SETTINGS", "Decision", "HookDefinition", "HookInput", "Mode", "Settings", "UsedSettings", "chosen"]

SETTINGS = ("model", "effort", "permissions", "tools")

Decision: TypeAlias = Literal["allow_once", "allow_for_session", "allow_always", "reject"]
"""What a person answers when they are asked whether a call may run."""

Mode: TypeAlias = Literal["read-only", "ask", "auto"]
"""Permission modes: only what reads runs; the person is asked before the rest; everything runs."""

_Text = Annotated[str, StringConstraints(min_length=1)]


def _mode_kind(value: Any) -> str:
    return "<unknown>" if isinstance(value, Mapping | UnknownName) else "<mode>"


_ModeOrUnknown = Annotated[
    Annotated[Mode, Tag("<mode>")] | Annotated[UnknownName, Tag("<unknown>")], Discriminator(_mode_kind)
]


def _known_tool(name: str) -> str:
    if name not in TOOLS:
        msg = f"no tool {name!r}; the tools are {', '.join(TOOLS)}"
        raise ValueError(msg)
    return name


_Tools = Annotated[Many[Annotated[str, AfterValidator(_known_tool)]], Field(min_length=1)]


class Settings(TraceModel):
    """Settings that somebody chose. `tools` are the abstract tools that the session has; the others it lacks."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": [name]} for name in SETTINGS]})

    model: Name | None = None
    effort: Literal["low", "medium", "high"] | None = None
    permissions: _ModeOrUnknown | None = None
    tools: _Tools | None = None

    @model_validator(mode="after")
    def _chooses_something(self) -> Settings:
        if all(getattr(self, name) is None for name in SETTINGS):
            msg = f"choose at least one setting ({', '.join(SETTINGS)})"
            raise ValueError(msg)
        return self


class UsedSettings(TraceModel):
    """Settings as the model's requests show them."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": [n]} for n in ("model", "effort", "tools")]})

    model: Name | None = None
    effort: Literal["low", "medium", "high"] | None = None
    tools: _Tools | None = None

    @model_validator(mode="after")
    def _names_something(self) -> UsedSettings:
        if self.model is None and self.effort is None and self.tools is None:
            msg = "name at least one setting that a request shows (model, effort, tools)"
            raise ValueError(msg)
        return self


class HookDefinition(TraceModel):
    """A hook that the person has installed.

    It runs at each `start` of a session, and may give the model a `context`; or `before-fork`, and may cancel the fork.
    """

    hook: Name
    at: Literal["start", "before-fork"]
    context: _Text | None = None
    cancels: Literal[True] | None = None

    @model_validator(mode="after")
    def _fits(self) -> HookDefinition:
        if self.context is not None and self.at != "start":
            msg = "only a hook at `start` gives the model a context"
            raise ValueError(msg)
        if self.cancels is not None and self.at != "before-fork":
            msg = "only a hook at `before-fork` cancels something"
            raise ValueError(msg)
        return self


class HookInput(TraceModel):
    """What a hook was told at its newest run: the session, the one that it was forked from, and the cause."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    session: Name | None = None
    source: Name | None = None
    cause: Literal["new", "fork", "resume"] | None = None


def chosen(settings: Settings | None) -> dict[str, str | tuple[str, ...]]:
    """Setting -> value, those that are chosen; an unknown mode goes by its name, which no harness knows."""
    found: dict[str, str | tuple[str, ...]] = {}
    for name in SETTINGS:
        value = getattr(settings, name, None)
        if value is not None:
            found[name] = value.unknown if isinstance(value, UnknownName) else value
    return found
