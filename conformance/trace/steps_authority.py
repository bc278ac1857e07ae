"""The steps of a person who sets a session up, or answers its questions. Source: design section 3; clauses SET, AUT."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from forkproof.conformance.trace.base import Name
from forkproof.conformance.trace.settings import Decision, Settings
from forkproof.conformance.trace.step import StepModel

__all__ = ["ApproveStep", "DenyStep", "SetStep", "decision"]


class SetStep(Settings, StepModel):
    """Change settings of this session from now on."""

    set_: Name = Field(alias="set")


class ApproveStep(StepModel):
    """Say yes to the question that is open for this call: for it alone, for its session, or for always."""

    approve: Name
    scope: Literal["once", "session", "always"] = "once"


class DenyStep(StepModel):
    """Say no to the question that is open for this call."""

    deny: Name


def decision(step: ApproveStep | DenyStep) -> Decision:
    """The answer that the step gives."""
    if isinstance(step, DenyStep):
        return "reject"
    scopes: dict[str, Decision] = {
        "once": "allow_once",
        "session": "allow_for_session",
        "always": "allow_always",
    }
    return scopes[step.scope]
